// feedctl relations mode: shows or sets whether writers of relations also write the reverse row at
// once. feedctl relations reconciler: shows or sets whether reconcilers repair what they find. All
// daemons apply a change within about a second.
#include <cstdio>

#include "backends/mysql/installation/settings.h"
#include "backends/mysql/sql/shard_connections.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"

namespace fanline::feedctl {
namespace {

// One setting: its values, and how it is read and written.
struct MirrorSetting {
  using Mode = MirrorMode;
  static constexpr const char* kHelp = "sync or async; none: show the present mode";
  static constexpr Mode kModes[] = {Mode::kSync, Mode::kAsync};
  static Mode Get(mysql::Connection& connection) { return mysql::GetMirrorMode(connection); }
  static void Set(mysql::Connection& connection, Mode mode) {
    mysql::SetMirrorMode(connection, mode);
  }
};

struct ReconcilerSetting {
  using Mode = ReconcilerMode;
  static constexpr const char* kHelp = "run, dry_run or pause; none: show the present mode";
  static constexpr Mode kModes[] = {Mode::kRun, Mode::kDryRun, Mode::kPause};
  static Mode Get(mysql::Connection& connection) { return mysql::GetReconcilerMode(connection); }
  static void Set(mysql::Connection& connection, Mode mode) {
    mysql::SetReconcilerMode(connection, mode);
  }
};

template <class Setting>
class RelationsSetting : public Command {
 public:
  RelationsSetting(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    std::vector<std::string> texts{""};
    for (const auto mode : Setting::kModes) texts.emplace_back(NameOf(mode));
    table.AddPositional("mode", &mode_, Setting::kHelp).OneOf(texts).Optional();
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    (void)ReadInstalled(settings_);
    const mysql::Config config = options::ToConfig(settings_.mysql);
    mysql::ShardConnections connections(config);
    typename Setting::Mode before{}, now{};
    Require(connections.Run(mysql::kSettingsShard,
                            [&](mysql::Connection& connection) {
                              before = now = Setting::Get(connection);
                              for (const auto mode : Setting::kModes) {
                                if (mode_ == NameOf(mode)) Setting::Set(connection, now = mode);
                              }
                            }),
            settings_);
    Report(NameOf(before), NameOf(now));
    return 0;
  }

 private:
  void Report(const std::string& before, const std::string& now) const {
    if (json_) {
      PutJson({{"mode", now}, {"before", before}});
    } else if (before == now) {
      std::printf("%s\n", now.c_str());
    } else {
      std::printf("%s, was %s\n", now.c_str(), before.c_str());
    }
  }

  std::string mode_;
};

}  // namespace

extern const Row kRelationsMode = RowOf<RelationsSetting<MirrorSetting>>(
    "relations mode", "shows or sets how reverse rows are written");
extern const Row kRelationsReconciler = RowOf<RelationsSetting<ReconcilerSetting>>(
    "relations reconciler", "shows or sets whether differing rows are repaired");

}  // namespace fanline::feedctl
