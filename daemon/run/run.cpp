#include "daemon/run/run.h"

#include <algorithm>

#include "daemon/options/options.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;

class LoopRun {
 public:
  LoopRun(const RunOptions& options, const Wakeup& wakeup, Health& health, Supervisor& supervisor,
          const Log& log, const Loop& loop)
      : options_(options),
        longest_sleep_(std::min<Duration>(options.longest_sleep, supervisor.every())),
        wakeup_(wakeup),
        health_(health),
        supervisor_(supervisor),
        log_(log),
        loop_(loop) {}

  void StepUntilStopped() {
    health_.SetReady("loop", true);
    while (!loop_.stop_requested()) {
      const Now now = Turn();
      const StepResult result = loop_.step(now);
      if (!result.did_work) Sleep(result.next_timer, now.mono + longest_sleep_);
    }
  }

  int Drain() {
    health_.SetReady("loop", false, "stopping");
    supervisor_.Stops(options_.drain_limit + kLongestLeave);
    const Time begin = loop_.clock().mono;
    const Time limit = begin + options_.drain_limit;
    log_.Info("stop requested, draining", {{"limit_ms", options_.drain_limit.count()}});
    for (;;) {
      const Now now = Turn();
      const DrainResult result = loop_.drain(now);
      if (result.done) return Drained(now.mono - begin);
      if (now.mono >= limit) return LeftBehind();
      if (!result.did_work) {
        Sleep(result.next_timer, std::min(limit, now.mono + longest_sleep_));
      }
    }
  }

 private:
  Now Turn() {
    const Now now = loop_.clock();
    health_.Beat(now.mono);
    supervisor_.Turned(now.mono);
    return now;
  }

  void Sleep(std::optional<Time> next_timer, Time at_most) const {
    const Time until = std::min(next_timer.value_or(at_most), at_most);
    wakeup_.Wait(until - loop_.clock().mono);
  }

  int Drained(Duration took) const {
    using std::chrono::milliseconds;
    log_.Info("drained", {{"took_ms", std::chrono::duration_cast<milliseconds>(took).count()}});
    return 0;
  }

  int LeftBehind() const {
    log_.Warn("drain limit passed, leaving work to be done again",
              {{"limit_ms", options_.drain_limit.count()}});
    return kExitTempFail;
  }

  const RunOptions& options_;
  const Duration longest_sleep_;
  const Wakeup& wakeup_;
  Health& health_;
  Supervisor& supervisor_;
  const Log& log_;
  const Loop& loop_;
};

}  // namespace

void AddOptions(OptionTable& table, RunOptions& options) {
  table
      .Add("drain-limit", &options.drain_limit,
           "how long a stop may wait for work in flight; leaving the consumer group takes up to 5s "
           "more; keep the sum below the supervisor's patience")
      .Range(0s, 24h);
}

int Run(const RunOptions& options, const Wakeup& wakeup, Health& health, Supervisor& supervisor,
        const Log& log, const Loop& loop) {
  LoopRun run(options, wakeup, health, supervisor, log, loop);
  run.StepUntilStopped();
  return run.Drain();
}

}  // namespace fanline::daemon
