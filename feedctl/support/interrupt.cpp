#include "feedctl/support/interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "fanline/base/mono_now.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {
namespace {

constexpr Duration kLongestNap = std::chrono::milliseconds(100);

}  // namespace

Interrupt::Interrupt() : watcher_([this] { Watch(); }) {}

Interrupt::~Interrupt() {
  over_ = true;
  wakeup_.Notify();
  watcher_.join();
}

void Interrupt::Watch() {
  while (!over_) {
    wakeup_.Wait(std::nullopt);
    const std::lock_guard lock(mutex_);
    if (over_ || !requested() || graceful_ > 0) continue;
    const char* line_end = isatty(STDERR_FILENO) ? "\n" : "";  // after a progress bar
    std::fprintf(stderr, "%sfeedctl: interrupted%s%s\n", line_end, advice_.empty() ? "" : "; ",
                 advice_.c_str());
    _exit(kExitInterrupted);
  }
}

bool Interrupt::Sleep(Duration time) const {
  const Time until = SystemNow().mono + time;
  for (Time now; !requested() && (now = SystemNow().mono) < until;) {
    std::this_thread::sleep_for(std::min(until - now, kLongestNap));
  }
  return !requested();
}

void Interrupt::Advise(std::string advice) {
  const std::lock_guard lock(mutex_);
  advice_ = std::move(advice);
}

Interrupt::Graceful::Graceful(Interrupt& interrupt) : interrupt_(interrupt) {
  const std::lock_guard lock(interrupt_.mutex_);
  ++interrupt_.graceful_;
}

// The command reports an interrupt that came meanwhile.
Interrupt::Graceful::~Graceful() {
  const std::lock_guard lock(interrupt_.mutex_);
  --interrupt_.graceful_;
}

}  // namespace fanline::feedctl
