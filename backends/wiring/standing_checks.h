// What was made sure of at the start is asked again every few seconds while the daemon runs, on a
// thread of its own: rows, partitions and topics may change under it, and it would go on with what
// it read once. A disagreement (never) ends the process as a stop does, with 78 (Process::Refuse).
// What is gone or does not answer (later) is waited for, not ready.
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
  // Waits for the question under way.
  ~StandingChecks();
  StandingChecks(const StandingChecks&) = delete;
  StandingChecks& operator=(const StandingChecks&) = delete;

  // Before Begin. `name` is the condition of readiness. `ask` may block for as long as a stop may
  // take; it is called by one thread.
  void Add(std::string name, Ask ask) { checks_.push_back({std::move(name), std::move(ask)}); }

  // Once. Asks first when `every` has passed.
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

// Says on /readyz what is waited for, and in the log every ten seconds.
void ShowWaiting(daemon::Process& process, const std::string& what, const Status& status);

}  // namespace fanline::wiring
