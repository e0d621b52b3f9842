// The one place where a program reads its clocks. Passive code is handed `Now` by the loop
// (run.h); only code with a thread of its own calls this.
#pragma once

#include "fanline/base/time.h"

namespace fanline::daemon {

// Both clocks, read one after the other. Any thread.
[[nodiscard]] Now SystemNow();

}  // namespace fanline::daemon
