// feedctl relations counters: compares a user's counters of followed users and followers with the
// live rows, and adds the difference. Safe while rows are being written: counters and rows are read
// from one snapshot, and only their difference is added.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "backends/mysql/repairs/counter_repair.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/base/mono_now.h"
#include "fanline/ports/counter_store.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"
#include "feedctl/support/json.h"
#include "feedctl/support/progress.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

struct Difference {
  UserCounter counter;
  mysql::CounterFound found;

  const char* name() const {
    return counter.counter == Counter::kFollowed ? "followed" : "followers";
  }
};

// Users looked at, and the differences found. Drift sums absolute differences.
struct Tally {
  uint64_t users = 0, differing = 0, drift = 0, repaired = 0;
  bool complete = false;
  std::vector<Difference> named;  // the first differences

  uint64_t counters() const { return users * 2; }
};

struct Shards {
  mysql::ShardConnections connections;
  const ShardMap map;

  Status On(UserId user, const std::function<void(mysql::Connection&)>& call) {
    return connections.Run(map.ShardOf(user), call);
  }
};

class RelationsCounters : public Command {
 public:
  RelationsCounters(daemon::OptionTable& table, Settings& settings) : Command(settings, table) {
    table.AddPositional("user", &given_, "whose counters; none: everybody's").Optional();
    table.Add("repair", &repair_, "repair what differs; without it nothing is changed");
    table.Add("show", &show_, "differences to name").Range(0, 100'000);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    const std::vector<UserId> users = Given();
    const mysql::Installation installation = ReadInstalled(settings_);
    Shards shards{mysql::ShardConnections(options::ToConfig(settings_.mysql),
                                          {.read_timeout = mysql::kLongestCount}),
                  installation.shard_map};

    const Interrupt::Graceful graceful(interrupt);
    const Time begin = SystemNow().mono;
    Tally tally;
    const Status status = users.empty() ? CountEverybody(shards, interrupt, tally)
                                        : CountThese(users, shards, interrupt, tally);
    tally.complete = status.done() && !interrupt.requested();
    const double seconds = std::chrono::duration<double>(SystemNow().mono - begin).count();
    if (status.done() || tally.users + tally.differing > 0) {
      json_ ? PrintJson(tally, seconds) : PrintText(tally, seconds);
    }
    Require(status, settings_);
    return tally.differing > 0 && !repair_ ? kExitFound : 0;
  }

 private:
  std::vector<UserId> Given() const {
    std::vector<UserId> users;
    for (const std::string& text : given_) users.push_back(RequireUserId("<user>", text));
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    return users;
  }

  Status CountThese(const std::vector<UserId>& users, Shards& shards, const Interrupt& interrupt,
                    Tally& tally) const {
    Progress progress(kProgress, "users", users.size());
    for (const UserId user : users) {
      if (interrupt.requested()) break;
      Status status = Count({&user, 1}, shards, interrupt, tally);
      if (!status.done()) return status;
      progress.At(tally.users);
    }
    return Status::Done();
  }

  Status CountEverybody(Shards& shards, const Interrupt& interrupt, Tally& tally) const {
    Progress progress(kProgress, "users", 0);
    Status status;
    for (Shard shard = 0; shard < shards.map.shards(); ++shard) {
      mysql::OwnersPage page{.owners = {}, .known = UserId{}};
      while (page.known && status.done() && !interrupt.requested()) {
        status = shards.connections.Run(shard, [&, after = *page.known](auto& connection) {
          page = mysql::ReadOwners(connection, shards.map, after);
        });
        if (!status.done()) break;
        mysql::ForEachChunk(page.owners, kUsersAtOnce, [&](std::span<const UserId> users) {
          if (!status.done() || interrupt.requested()) return;
          status = Count(users, shards, interrupt, tally);
          progress.At(tally.users);
        });
      }
    }
    return status;
  }

  // `users` are of one shard.
  Status Count(std::span<const UserId> users, Shards& shards, const Interrupt& interrupt,
               Tally& tally) const {
    std::vector<mysql::CountersSeen> seen;
    Status status = shards.On(users.front(), [&](mysql::Connection& connection) {
      seen = mysql::LookAt(connection, users);
    });
    for (const auto& [user, followed, followers] : seen) {
      if (repair_ && interrupt.requested()) break;
      status = Settle({user, Counter::kFollowed}, followed, shards, tally);
      if (status.done()) status = Settle({user, Counter::kFollowers}, followers, shards, tally);
      if (!status.done()) break;
      ++tally.users;
    }
    return status;
  }

  Status Settle(const UserCounter& counter, mysql::CounterFound found, Shards& shards,
                Tally& tally) const {
    if (repair_ && found.drift() != 0) {
      Status status = shards.On(counter.user, [&](mysql::Connection& connection) {
        found = mysql::RepairOne(connection, counter);
      });
      if (!status.done()) return status;
    }
    const int64_t drift = found.drift();
    if (drift == 0) return Status::Done();
    ++tally.differing;
    tally.drift += static_cast<uint64_t>(std::llabs(drift));
    if (found.repaired) ++tally.repaired;
    if (tally.named.size() < show_) tally.named.push_back({counter, found});
    return Status::Done();
  }

  void PrintText(const Tally& tally, double seconds) const {
    for (const Difference& difference : tally.named) {
      const mysql::CounterFound& found = difference.found;
      const char* what = !repair_         ? ""
                         : found.repaired ? "; repaired"
                                          : "; repaired by somebody else meanwhile";
      std::printf("user %s: %s %s %lld, rows say %lld%s\n",
                  ToString(difference.counter.user).c_str(), difference.name(),
                  repair_ ? "was" : "is", static_cast<long long>(found.counter),
                  static_cast<long long>(found.rows), what);
    }
    if (const uint64_t more = tally.differing - tally.named.size(); more > 0) {
      std::printf("and %s more\n", Grouped(more).c_str());
    }
    std::printf("%s%s of %s in %s: %s\n",
                tally.complete ? "" : "broken off: ", Counted(tally.counters(), "counter").c_str(),
                Counted(tally.users, "user").c_str(), Seconds(seconds).c_str(),
                Verdict(tally).c_str());
  }

  std::string Verdict(const Tally& tally) const {
    if (tally.differing == 0) return tally.users == 1 ? "both are right" : "all are right";
    const std::string differ = Grouped(tally.differing) + " " +
                               (repair_                ? "differed"
                                : tally.differing == 1 ? "differs"
                                                       : "differ") +
                               ", by " + Grouped(tally.drift) + " in all; ";
    return differ + (repair_ ? Grouped(tally.repaired) + " repaired"
                             : "nothing was changed, --repair mends them");
  }

  void PrintJson(const Tally& tally, double seconds) const {
    Json differences = Json::array();
    for (const Difference& one : tally.named) {
      differences.push_back({{"user", ToString(one.counter.user)},
                             {"counter", one.name()},
                             {"is", one.found.counter},
                             {"rows", one.found.rows},
                             {"repaired", one.found.repaired}});
    }
    PutJson({{"users", tally.users},
             {"counters", tally.counters()},
             {"differing", tally.differing},
             {"drift", tally.drift},
             {"repaired", tally.repaired},
             {"seconds", seconds},
             {"complete", tally.complete},
             {"differences", std::move(differences)}});
  }

  static constexpr const char* kProgress = "comparing counters";
  static constexpr size_t kUsersAtOnce = 250;

  std::vector<std::string> given_;
  bool repair_ = false;
  uint32_t show_ = 10;
};

}  // namespace

extern const Row kRelationsCounters = RowOf<RelationsCounters>(
    "relations counters", "compares counters of relations with their rows");

}  // namespace fanline::feedctl
