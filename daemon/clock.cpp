#include "daemon/clock.h"

#include "fanline/base/mono_now.h"

namespace fanline::daemon {

Now SystemNow() { return {MonoNow(), UnixNow()}; }

}  // namespace fanline::daemon
