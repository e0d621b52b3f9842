// Repeats the checks of the start every few seconds while the daemon runs, on a thread of its own.
// Rows, partitions and topics may change, and the daemon would keep using what it once read. A
// disagreement (never) ends the process like a stop, with 78 (Process::Refuse). If something is
// gone or does not answer (later), the daemon is not ready and waits. From a stop on no check
// begins: a daemon that drains while its broker is away would wait for several in a row at its end.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/run/process.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::wiring {

// Shows on /readyz what is waited for and what to do about it, and logs it every ten seconds.
inline void ShowWaiting(daemon::Process& process, const std::string& what, const Status& status) {
  const std::string advice = status.advice;
  const std::string reason = status.message + (advice.empty() ? "" : "; ") + advice;
  process.health.SetReady(what, false, reason);
  process.log.WarnEvery(what, std::chrono::seconds(10), SystemNow().mono, "waiting for a service",
                        {{"service", what}, {"reason", reason}});
}

class StandingChecks {
 public:
  using Ask = std::function<Status()>;

  StandingChecks(daemon::Process& process, Duration every) : process_(process), every_(every) {}
  // Waits for the running check.
  ~StandingChecks() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }
  StandingChecks(const StandingChecks&) = delete;
  StandingChecks& operator=(const StandingChecks&) = delete;

  // Call it before Begin. `name` is the condition of readiness. `ask` is called by one thread, and
  // may block as long as a stop may take.
  void Add(std::string name, Ask ask) { checks_.push_back({std::move(name), std::move(ask)}); }

  // Call it once. The first round begins after `every`.
  void Begin() {
    thread_ = std::thread([this] {
      while (!StoppedWithin(every_)) {
        for (const Check& check : checks_) {
          if (StoppedWithin(Duration::zero())) return;
          Judge(check);
        }
      }
    });
  }

 private:
  struct Check {
    std::string name;
    Ask ask;
  };

  void Judge(const Check& check) {
    const Status status = check.ask();
    if (status.never()) return process_.Refuse(status.message);
    if (status.later()) return ShowWaiting(process_, check.name, status);
    process_.health.SetReady(check.name, true);
  }
  [[nodiscard]] bool StoppedWithin(Duration wait) {
    std::unique_lock lock(mutex_);
    const bool ends = changed_.wait_for(lock, wait, [this] { return stop_; });
    return ends || process_.stop.requested();
  }

  daemon::Process& process_;
  const Duration every_;
  std::vector<Check> checks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace fanline::wiring
