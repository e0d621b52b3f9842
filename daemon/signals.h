// SIGTERM and SIGINT ask the loop to stop and drain.
#pragma once

#include <csignal>

#include "daemon/wakeup.h"

namespace fanline::daemon {

// While it exists, the first SIGTERM or SIGINT sets requested() and wakes the loop; the second
// ends the process at once with 128 + signal (143, 130), for an operator who will not wait for
// the drain. The handlers that were there before come back with the destructor.
// One per process (checked); construct it before the threads of the program.
class StopOnSignal {
 public:
  explicit StopOnSignal(const Wakeup& wakeup);  // `wakeup` must outlive it
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  // Any thread.
  [[nodiscard]] bool requested() const noexcept;

 private:
  struct sigaction old_term_ {};
  struct sigaction old_int_ {};
};

}  // namespace fanline::daemon
