// Waits for a piece's turn, or for Ctrl-C.
#pragma once

#include <thread>

#include "daemon/clock.h"
#include "feedctl/events/pace.h"
#include "feedctl/support/interrupt.h"

namespace fanline::feedctl {

// False: interrupted.
inline bool AwaitTurn(const Pace& pace, uint64_t n, const Interrupt& interrupt) {
  constexpr Duration kLongestNap = std::chrono::milliseconds(100);
  for (;;) {
    const Duration wait = pace.WaitBefore(n, daemon::SystemNow().mono);
    if (wait == Duration::zero()) return true;
    if (interrupt.requested()) return false;
    std::this_thread::sleep_for(std::min(wait, kLongestNap));
  }
}

}  // namespace fanline::feedctl
