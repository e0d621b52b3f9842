// feedctl relations show: all that is stored about one edge and its two users, for an operator on
// call. Reads only.
#include <algorithm>
#include <cstdio>
#include <functional>

#include "backends/mysql/edges/change_log.h"
#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/repairs/repair_log.h"
#include "daemon/observe/log.h"
#include "feedctl/commands/command.h"
#include "feedctl/relations/edge_diagnosis.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr uint32_t kMostLookedAt = 100'000;  // rows of log1, and of repair_log
constexpr uint32_t kMostRepairs = 5;
constexpr int kMostLooks = 5;  // at rows that keep changing

struct Report {
  EdgeSeen seen = {};
  Shard forward_shard = 0, reverse_shard = 0;
  std::vector<LoggedChange> waiting = {};
  Friendship friendship = {};
  std::vector<mysql::LoggedRepair> repairs = {};
};

class Reader {
 public:
  Reader(const Settings& settings, const mysql::Installation& installation)
      : settings_(settings),
        map_(installation.shard_map),
        connections_(options::ToConfig(settings.mysql)) {}

  Report Read(const EdgeKey& edge) {
    Report report{.seen = {.edge = edge}};
    report.forward_shard = map_.ShardOf(edge.src);
    report.reverse_shard = map_.ShardOf(edge.dst);
    for (int look = 0; look == 0 || (look < kMostLooks && !report.seen.settled); ++look) {
      Look(report);
    }
    On(mysql::PairShard(map_, edge.src, edge.dst), [&](mysql::Connection& connection) {
      report.friendship = mysql::ReadPairRow(connection, edge.src, edge.dst);
    });
    On(report.forward_shard, [&](mysql::Connection& connection) {
      report.repairs = mysql::LastRepairs(connection, edge, kMostLookedAt, kMostRepairs);
    });
    return report;
  }

 private:
  void On(Shard shard, const std::function<void(mysql::Connection&)>& read) {
    Require(connections_.Run(shard, read), settings_);
  }

  // Reads the rows before and after it reads the waiting changes. If the rows did not change and
  // nothing waits, every change that led to their versions is done.
  void Look(Report& report) {
    const RowsOfEdge before = Rows(report.seen.edge);
    ReadWaiting(report);
    const RowsOfEdge after = Rows(report.seen.edge);
    report.seen.forward = after.forward;
    report.seen.reverse = after.reverse;
    report.seen.settled = before.forward == after.forward && before.reverse == after.reverse;
  }

  RowsOfEdge Rows(const EdgeKey& edge) {
    const auto read = [&](UserId owner, mysql::RowsSql* sql) {
      EdgeState row;
      Require(connections_.ReadTruth(map_.ShardOf(owner),
                                     [&](mysql::Connection& connection) {
                                       row = mysql::StatesOf(connection, {edge}, sql).front();
                                     }),
              settings_);
      return row;
    };
    const EdgeState reverse = read(edge.dst, mysql::ReverseRowsSql);
    return {reverse, read(edge.src, mysql::ForwardRowsSql)};
  }

  void ReadWaiting(Report& report) {
    const EdgeKey edge = report.seen.edge;
    const EdgeKey pair{std::min(edge.src, edge.dst), std::max(edge.src, edge.dst)};
    bool all_of_edge = false, all_of_pair = false;
    const auto read = [this](Shard shard, ChangeKind kind, const EdgeKey& of, bool* all) {
      std::vector<LoggedChange> found;
      On(shard, [&](mysql::Connection& connection) {
        found = mysql::PendingChangesOf(connection, kind, of, kMostLookedAt, all);
      });
      return found;
    };
    report.waiting = read(report.forward_shard, ChangeKind::kEdge, edge, &all_of_edge);
    const auto of_pair = read(mysql::PairShard(map_, pair.src, pair.dst), ChangeKind::kFriendship,
                              pair, &all_of_pair);
    report.seen.changes_waiting = report.waiting.size();
    report.seen.friendship_waiting = !of_pair.empty();
    report.seen.all_seen = all_of_edge && all_of_pair;
    report.waiting.insert(report.waiting.end(), of_pair.begin(), of_pair.end());
  }

  const Settings& settings_;
  const ShardMap map_;
  mysql::ShardConnections connections_;
};

std::string StateText(const EdgeState& state) {
  if (state.ver == 0) return "none";
  return (state.live ? "follows since " + daemon::Rfc3339(state.pos) : std::string("ended")) +
         DeliveryText(state.delivery) + ", version " + std::to_string(state.ver);
}

std::string WaitingText(const LoggedChange& change) {
  const bool edge = change.kind == ChangeKind::kEdge;
  return std::string(edge               ? change.edge.live ? "follows" : "ended"
                     : change.edge.live ? "friends"
                                        : "friends no longer") +
         DeliveryText(change.edge.delivery) + ", version " + std::to_string(change.edge.ver) +
         ", waits in log1 since " + daemon::Rfc3339(change.written_at);
}

// "requested, asked by user 5, version 7"
std::string StateText(const Friendship& friendship) {
  if (friendship.state == FriendState::kNone) return NameOf(friendship.state);
  return std::string(NameOf(friendship.state)) + ", asked by user " +
         ToString(friendship.asked_by) + ", version " + std::to_string(friendship.ver);
}

void PrintText(const Report& report) {
  const EdgeKey& edge = report.seen.edge;
  const auto line = [](const std::string& name, const std::string& value) {
    std::printf("%s%s\n", Left(name, 16).c_str(), value.c_str());
  };
  line("edge", "user " + ToString(edge.src) + " -> user " + ToString(edge.dst));
  line("forward row",
       StateText(report.seen.forward) + " (shard " + std::to_string(report.forward_shard) + ")");
  line("reverse row",
       StateText(report.seen.reverse) + " (shard " + std::to_string(report.reverse_shard) + ")");
  if (report.waiting.empty()) line("waiting", "nothing");
  for (const LoggedChange& change : report.waiting) line("waiting", WaitingText(change));
  line("friendship", StateText(report.friendship));
  if (report.repairs.empty()) line("repairs", "none");
  for (const auto& [repair, at] : report.repairs) {
    line("repaired", daemon::Rfc3339(at) + " by " + repair.net + ", " + repair.cause + ": " +
                         repair.before + " became " + repair.after);
  }
  line(report.seen.agree() ? "agree" : "DIFFER", Diagnosis(report.seen));
}

Json ToJson(const EdgeState& state) {
  if (state.ver == 0) return {};
  return {{"version", std::to_string(state.ver)},
          {"following", state.live},
          {"since_ms", state.pos},
          {"delivery", NameOf(state.delivery)}};
}

Json ToJson(const LoggedChange& change) {
  const bool edge = change.kind == ChangeKind::kEdge;
  Json json = {{"kind", edge ? "edge" : "friendship"},
               {"version", std::to_string(change.edge.ver)},
               {edge ? "following" : "friends", change.edge.live},
               {"written_at_ms", change.written_at}};
  if (edge) json["delivery"] = NameOf(change.edge.delivery);
  return json;
}

Json ToJson(const Friendship& friendship) {
  Json json = {{"state", NameOf(friendship.state)}, {"version", std::to_string(friendship.ver)}};
  if (friendship.asked_by != UserId{}) json["asked_by"] = ToString(friendship.asked_by);
  return json;
}

Json ToJson(const mysql::LoggedRepair& logged) {
  return {{"at_ms", logged.at},           {"net", logged.repair.net},
          {"cause", logged.repair.cause}, {"before", logged.repair.before},
          {"after", logged.repair.after}, {"version", std::to_string(logged.repair.ver)}};
}

template <typename T>
Json ToJson(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(ToJson(value));
  return list;
}

void PrintJson(const Report& report) {
  PutJson({{"user", ToString(report.seen.edge.src)},
           {"other", ToString(report.seen.edge.dst)},
           {"agree", report.seen.agree()},
           {"advice", Diagnosis(report.seen)},
           {"all_waiting_seen", report.seen.all_seen},
           {"forward", ToJson(report.seen.forward)},
           {"reverse", ToJson(report.seen.reverse)},
           {"waiting", ToJson(report.waiting)},
           {"friendship", ToJson(report.friendship)},
           {"repairs", ToJson(report.repairs)}});
}

class RelationsShow : public Command {
 public:
  RelationsShow(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("user", &user_, "who follows");
    table.AddPositional("other", &other_, "whom");
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt&) override {
    const EdgeKey edge{RequireUserId("<user>", user_), RequireUserId("<other>", other_)};
    RequireUsage(edge.src == edge.dst ? "<other>: nobody follows themselves" : "");
    const mysql::Installation installation = ReadInstalled(settings_);
    const Report report = Reader(settings_, installation).Read(edge);
    json_ ? PrintJson(report) : PrintText(report);
    return report.seen.agree() ? 0 : kExitFound;
  }

 private:
  std::string user_;
  std::string other_;
};

}  // namespace

extern const Row kRelationsShow = RowOf<RelationsShow>(
    "relations show", "shows both rows of one relation and what is known about it");

}  // namespace fanline::feedctl
