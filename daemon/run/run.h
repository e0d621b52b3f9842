// The loop of every daemon: step while there is work, sleep until the next timer or wake-up, and
// after a stop request drain, but not for ever.
#pragma once

#include <functional>
#include <optional>

#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "daemon/run/supervisor.h"
#include "daemon/wakeup.h"
#include "fanline/base/mono_now.h"

namespace fanline::daemon {

class OptionTable;

struct RunOptions {
  std::chrono::milliseconds drain_limit{20'000};  // below the grace period of the supervisor
  // The loop turns at least this often, for the watchdog. Far below Health's stall limit.
  std::chrono::milliseconds longest_sleep{1000};
};

// How long a stop may take after its drain: to leave a consumer group (5 s) and release the rest.
inline constexpr Duration kLongestLeave = std::chrono::seconds(10);

// --drain-limit
void AddOptions(OptionTable& table, RunOptions& options);

struct StepResult {
  bool did_work = false;                // true: step again at once
  std::optional<Time> next_timer = {};  // none: only a wake-up brings new work
};

struct DrainResult {
  bool done = false;  // nothing is in flight any more
  bool did_work = false;
  std::optional<Time> next_timer = {};
};

// The parts of the loop. All are called on the thread of Run.
struct Loop {
  std::function<bool()> stop_requested;
  std::function<StepResult(const Now&)> step;
  // Takes no new input; finishes what is in flight. Called again until it says done.
  std::function<DrainResult(const Now&)> drain;
  std::function<Now()> clock = SystemNow;
};

// Runs until a stop was requested and drained. Returns the process's exit code: 0 drained, 75 the
// limit passed and work was left behind (it will be done again: nothing was acknowledged). Beats
// `health` at every turn; its condition "loop" holds while it steps, not while it drains.
// `supervisor` is told of every turn too, and at the stop how long it may take. An exception of
// step or drain leaves the loop (main_guard.h makes it exit code 70).
[[nodiscard]] int Run(const RunOptions& options, const Wakeup& wakeup, Health& health,
                      Supervisor& supervisor, const Log& log, const Loop& loop);

}  // namespace fanline::daemon
