#include "daemon/signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;

TEST(StopOnSignal, TurnsTheFirstSignalIntoARequestAndAWakeUp) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const Wakeup wakeup;
    const StopOnSignal stop(wakeup);
    EXPECT_FALSE(stop.requested());
    std::raise(signal);
    EXPECT_TRUE(stop.requested());
    EXPECT_TRUE(wakeup.Wait(1h));
  }
}

void RaiseTwice(int first, int second) {
  const Wakeup wakeup;
  const StopOnSignal stop(wakeup);
  std::raise(first);
  std::raise(second);
}

TEST(StopOnSignalDeathTest, TheSecondSignalEndsTheProcessAtOnce) {
  EXPECT_EXIT(RaiseTwice(SIGTERM, SIGTERM), testing::ExitedWithCode(143), "");
  EXPECT_EXIT(RaiseTwice(SIGTERM, SIGINT), testing::ExitedWithCode(130), "");
}

TEST(StopOnSignalDeathTest, GivesTheHandlersBackWhenItEnds) {
  EXPECT_EXIT(
      {
        const Wakeup wakeup;
        { const StopOnSignal stop(wakeup); }
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace fanline::daemon
