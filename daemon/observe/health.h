// Whether a daemon is ready (may be sent work) and alive (must not be restarted). A resource that
// is away makes it unready but leaves it alive: a restart would not bring the resource back. Only a
// loop that stands still makes it dead.
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

// Thread-safe.
class Health {
 public:
  explicit Health(HealthOptions options = {});

  // States one condition of readiness under a name of a small set ("redis", "mysql_0"), with the
  // reason while it does not hold. Ready = at least one condition is stated and all hold: until the
  // first statement the daemon is starting.
  void SetReady(std::string_view condition, bool ready, std::string_view reason = {});

  // The loop turned at `now`. Before the first beat the daemon is starting, and alive.
  void Beat(Time now);

  // What was stated, and whether it holds, by name.
  [[nodiscard]] std::map<std::string, bool> Conditions() const;

  struct Report {
    bool ok = false;
    std::string json;  // {"status":"ready"}, {"status":"not ready","reasons":{"redis":"..."}}
  };
  [[nodiscard]] Report Ready() const;
  // The same in words: "ready", "not ready: redis: Connection refused; mysql_0: not reachable".
  [[nodiscard]] std::string Summary() const;
  [[nodiscard]] Report Alive(Time now) const;

 private:
  const HealthOptions options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_. A condition that holds has no reason.
  std::map<std::string, std::optional<std::string>, std::less<>> conditions_;
  std::optional<Time> last_beat_;
};

}  // namespace fanline::daemon
