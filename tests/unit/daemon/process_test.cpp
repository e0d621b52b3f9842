#include "daemon/run/process.h"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

namespace fanline::daemon {
namespace {

using testing::HasSubstr;

DaemonOptions OnAnyPort() {
  return {.admin = {.listen = {"127.0.0.1", 0}},
          .run = {.longest_sleep = std::chrono::milliseconds(10)}};
}

// A part that notes how it is turned; the test stops it from a step.
struct Part {
  StepResult Step(const Now&) {
    ++steps;
    if (on_step) on_step();
    return {};
  }
  DrainResult Drain(const Now&) {
    ++drains;
    return {.done = true};
  }

  std::function<void()> on_step;
  int steps = 0, drains = 0;
};

TEST(Process, IsNotReadyUntilItRunsWhateverWasCheckedBefore) {
  Process process("test", OnAnyPort());
  EXPECT_FALSE(process.health.Ready().ok);
  process.health.SetReady("installation", true);
  EXPECT_FALSE(process.health.Ready().ok);
  EXPECT_THAT(process.health.Ready().json, HasSubstr(R"("loop":"starting")"));
  Part part;
  part.on_step = [&] {
    EXPECT_TRUE(process.health.Ready().ok);
    std::raise(SIGTERM);
  };
  EXPECT_EQ(process.Run(part), 0);
  EXPECT_FALSE(process.health.Ready().ok);
}

TEST(Process, ARefusalEndsItAsAStopDoesWithItsOwnCode) {
  Process process("test", OnAnyPort());
  Part part;
  std::thread refuses;
  part.on_step = [&] {
    if (part.steps == 500) std::raise(SIGTERM);  // nobody ended it
    if (part.steps > 1) return;
    refuses = std::thread([&] {
      process.Refuse("the rows differ");
      process.Refuse("and so do others");
    });
  };
  EXPECT_EQ(process.Run(part), kExitConfig);
  EXPECT_LT(part.steps, 500);
  EXPECT_EQ(part.drains, 1);
  refuses.join();
}

}  // namespace
}  // namespace fanline::daemon
