// Ctrl-C (and SIGTERM). A command ends at once with 130. This is safe if its work can be repeated:
// nothing needs a clean end, since sessions and tokens expire. A command that must finish something
// first holds a Graceful and polls requested(); a second Ctrl-C ends it at once.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "daemon/signals.h"
#include "daemon/wakeup.h"
#include "fanline/base/time.h"

namespace fanline::feedctl {

// One per process; before any other thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Any thread.
  bool requested() const { return stop_.requested(); }

  // Returns after `time`, or soon after a request. False: requested.
  bool Sleep(Duration time) const;

  // Advice to print after "interrupted".
  void Advise(std::string advice);

  // While it exists, an interrupt only sets requested().
  class Graceful {
   public:
    explicit Graceful(Interrupt& interrupt);
    ~Graceful();
    Graceful(const Graceful&) = delete;
    Graceful& operator=(const Graceful&) = delete;

   private:
    Interrupt& interrupt_;
  };

 private:
  void Watch();

  daemon::Wakeup wakeup_;
  daemon::StopOnSignal stop_{wakeup_};
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  int graceful_ = 0;    // under mutex_
  std::string advice_;  // under mutex_
  std::thread watcher_;
};

}  // namespace fanline::feedctl
