// Whether a daemon is ready (may be sent work) and alive (must not be restarted).
//
// Ready says what this daemon can do, not what is away: while one of several shards is away the
// daemon serves the users of the others, so it is ready and names the shard. A daemon that can
// serve nobody is not ready, but alive: a restart would not bring a store back. Only a loop that
// stands still makes it dead.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "fanline/base/time.h"

namespace fanline::daemon {

class OptionTable;

struct HealthOptions {
  // How old the loop's last beat may be. Above the longest step that is still sound.
  std::chrono::milliseconds stall_limit{30'000};
};

// --stall-limit
void AddOptions(OptionTable& table, HealthOptions& options);

// How much of a resource answers: a shard, Redis, the brokers of a topic.
enum class Reach {
  kWhole,
  kEnough,  // part of it is away, but the rest serves somebody
  kAway,    // it serves nobody
};

// Thread-safe.
class Health {
 public:
  explicit Health(HealthOptions options = {});

  // States one condition of readiness under a name from a small set ("loop", "ranges"), with the
  // reason while it does not hold. Until the first statement the daemon is starting.
  void SetReady(std::string_view condition, bool ready, std::string_view reason = {});

  // States how much of a resource answers, under a name from a small set ("redis", "mysql_0"), with
  // the reason while not all of it does. Resources of one `kind` stand in for each other.
  void SetReach(std::string_view resource, std::string_view kind, Reach reach,
                std::string_view reason = {});

  // The loop turned at `now`. Before the first beat the daemon is starting, and alive.
  void Beat(Time now);

  // The statements by name: whether the condition holds, whether the whole resource answers.
  [[nodiscard]] std::map<std::string, bool> Conditions() const;
  [[nodiscard]] std::map<std::string, bool> Resources() const;

  struct Report {
    bool ok = false;
    std::string json;
  };
  // Ready: a condition is stated, all conditions hold, and no kind of resource is away altogether.
  //   {"status":"ready"}
  //   {"status":"ready","away":{"mysql_1":"no answer"}}
  //   {"status":"not ready","reasons":{"redis":"..."}}
  // "away" is added whenever something is away that is no reason.
  [[nodiscard]] Report Ready() const;
  // The same in words: "ready; away: mysql_1: no answer", "not ready: redis: Connection refused".
  [[nodiscard]] std::string Summary() const;
  [[nodiscard]] Report Alive(Time now) const;

 private:
  struct Resource {
    std::string kind;
    Reach reach = Reach::kWhole;
    std::string reason;  // empty: whole
  };
  // By name; the values are borrowed from what mutex_ guards.
  struct Named {
    std::map<std::string_view, std::string_view> reasons;  // why it is not ready
    std::map<std::string_view, std::string_view> away;     // all else that is away
  };
  Named NameAll() const;                        // under mutex_
  bool AllAway(const std::string& kind) const;  // under mutex_

  const HealthOptions options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_. A condition that holds has no reason.
  std::map<std::string, std::optional<std::string>, std::less<>> conditions_;
  std::map<std::string, Resource, std::less<>> resources_;
  std::optional<Time> last_beat_;
};

}  // namespace fanline::daemon
