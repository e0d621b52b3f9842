// feedctl relations repairs: what was repaired of a user's relations and counters, and why. Reads
// only.
#include <algorithm>
#include <cstdio>

#include "backends/mysql/repairs/repair_log.h"
#include "backends/mysql/sql/shard_connections.h"
#include "daemon/observe/log.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr uint32_t kRowsLookedAt = 100'000;  // of repair_log, the newest of each shard

class RelationsRepairs : public Command {
 public:
  RelationsRepairs(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("user", &user_, "of whose relations and counters");
    table.Add("limit", &limit_, "repairs to show, the newest").Range(1, 10'000);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const UserId user = RequireUserId("<user>", user_);
    const mysql::Installation installation = ReadInstalled(settings_);
    mysql::ShardConnections connections(options::ToConfig(settings_.mysql));
    std::vector<mysql::LoggedRepair> repairs;  // they lie with the one who follows
    for (Shard shard = 0; shard < installation.shard_map.shards(); ++shard) {
      const auto read = [&](mysql::Connection& connection) {
        for (auto& repair : mysql::LastRepairsOf(connection, user, kRowsLookedAt, limit_)) {
          repairs.push_back(std::move(repair));
        }
      };
      Require(connections.Run(shard, read), settings_);
    }
    std::stable_sort(repairs.begin(), repairs.end(),
                     [](const auto& one, const auto& other) { return one.at > other.at; });
    if (repairs.size() > limit_) repairs.resize(limit_);
    json_ ? PrintJson(user, repairs) : PrintText(repairs);
    return 0;
  }

 private:
  static std::string WhatOf(const LogRepair& repair) {
    if (repair.edge.dst == UserId{}) return "counter of user " + ToString(repair.edge.src);
    return "user " + ToString(repair.edge.src) +
           (repair.cause == "friendship" ? " and user " : " -> user ") + ToString(repair.edge.dst);
  }

  static void PrintText(const std::vector<mysql::LoggedRepair>& repairs) {
    for (const auto& [repair, at] : repairs) {
      std::printf("%s  %s: by %s, %s: %s became %s\n", daemon::Rfc3339(at).c_str(),
                  WhatOf(repair).c_str(), repair.net.c_str(), repair.cause.c_str(),
                  repair.before.c_str(), repair.after.c_str());
    }
    if (repairs.empty()) std::printf("no repair is on record\n");
  }

  static void PrintJson(UserId user, const std::vector<mysql::LoggedRepair>& repairs) {
    Json list = Json::array();
    for (const auto& [repair, at] : repairs) {
      Json one = {{"at_ms", at},
                  {"net", repair.net},
                  {"cause", repair.cause},
                  {"user", ToString(repair.edge.src)},
                  {"before", repair.before},
                  {"after", repair.after},
                  {"version", std::to_string(repair.ver)}};
      if (repair.edge.dst != UserId{}) one["other"] = ToString(repair.edge.dst);
      list.push_back(std::move(one));
    }
    PutJson({{"user", ToString(user)}, {"repairs", std::move(list)}});
  }

  std::string user_;
  uint32_t limit_ = 20;
};

}  // namespace

extern const Row kRelationsRepairs = RowOf<RelationsRepairs>(
    "relations repairs", "shows what was repaired of one user's relations, and why");

}  // namespace fanline::feedctl
