#include "daemon/clock.h"

namespace fanline::daemon {

Now SystemNow() {
  using std::chrono::duration_cast;
  using std::chrono::time_point_cast;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {time_point_cast<Duration>(Clock::now()),
          duration_cast<std::chrono::milliseconds>(wall).count()};
}

}  // namespace fanline::daemon
