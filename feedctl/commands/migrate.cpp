// feedctl migrate: brings the tables of every shard to what these programs need, or shows what is
// missing.
#include <cstdio>

#include "backends/mysql/installation/installation.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

class Migrate : public Command {
 public:
  Migrate(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.Add("dry-run", &dry_run_, "print the SQL statements and change nothing");
    options::AddOptions(table, settings.mysql);
    options::AddMigrationTimeout(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    interrupt.Advise("run it again to finish it");
    const mysql::Config config = options::ToConfig(settings_.mysql);
    std::vector<mysql::MissingMigrations> missing;
    Require(mysql::ReadMissing(config, &missing), settings_);
    if (!dry_run_) Require(mysql::Migrate(config), settings_);
    if (json_) {
      PrintJson(missing);
    } else {
      for (Shard shard = 0; shard < missing.size(); ++shard) {
        dry_run_ ? PrintStatements(shard, missing[shard]) : PrintMade(shard, missing[shard]);
      }
    }
    return 0;
  }

 private:
  static void PrintStatements(Shard shard, const mysql::MissingMigrations& missing) {
    std::printf("-- %s: %s to make; a table that is there is left alone\n",
                ResourceOf(shard).c_str(), Counted(missing.size(), "migration").c_str());
    for (const mysql::Migration* migration : missing) {
      std::printf("-- %s\n", std::string(migration->file).c_str());
      for (const std::string& each : migration->statements) std::printf("%s;\n", each.c_str());
    }
    std::printf("-- and the procedures change_edge and follow_new_edge, where they differ\n");
  }

  static void PrintMade(Shard shard, const mysql::MissingMigrations& missing) {
    std::printf("%s: made %s", ResourceOf(shard).c_str(),
                Counted(missing.size(), "migration").c_str());
    for (const mysql::Migration* migration : missing) {
      std::printf("%s%s", migration == missing.front() ? ": " : ", ",
                  std::string(migration->file).c_str());
    }
    std::printf("\n");
  }

  void PrintJson(const std::vector<mysql::MissingMigrations>& missing) const {
    Json shards = Json::array();
    for (const auto& of_shard : missing) {
      Json files = Json::array();
      for (const mysql::Migration* migration : of_shard) files.push_back(migration->file);
      shards.push_back(std::move(files));
    }
    PutJson({{"dry_run", dry_run_}, {"shards", std::move(shards)}});
  }

  bool dry_run_ = false;
};

}  // namespace

extern const Row kMigrate =
    RowOf<Migrate>("migrate", "brings the tables of every shard to what these programs want");

}  // namespace fanline::feedctl
