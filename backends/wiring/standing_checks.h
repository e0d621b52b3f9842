// Repeats the checks of the start every few seconds while the daemon runs, on a thread of its own.
// Rows, partitions and topics may change, and the daemon would keep using what it once read. A
// disagreement (never) ends the process like a stop, with 78 (Process::Refuse). If something is
// gone or does not answer (later), the daemon is not ready and waits.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/run/process.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::wiring {

class StandingChecks {
 public:
  using Ask = std::function<Status()>;

  StandingChecks(daemon::Process& process, Duration every) : process_(process), every_(every) {}
  // Waits for the running check.
  ~StandingChecks();
  StandingChecks(const StandingChecks&) = delete;
  StandingChecks& operator=(const StandingChecks&) = delete;

  // Call it before Begin. `name` is the condition of readiness. `ask` is called by one thread, and
  // may block as long as a stop may take.
  void Add(std::string name, Ask ask) { checks_.push_back({std::move(name), std::move(ask)}); }

  // Call it once. The first round begins after `every`.
  void Begin();

 private:
  struct Check {
    std::string name;
    Ask ask;
  };

  void Run();
  void Judge(const Check& check);
  [[nodiscard]] bool StoppedWithin(Duration wait);

  daemon::Process& process_;
  const Duration every_;
  std::vector<Check> checks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

// Shows on /readyz what is waited for and what to do about it, and logs it every ten seconds.
void ShowWaiting(daemon::Process& process, const std::string& what, const Status& status);

}  // namespace fanline::wiring
