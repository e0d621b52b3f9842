#include "backends/wiring/standing_checks.h"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <latch>

namespace fanline::wiring {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

daemon::DaemonOptions OnAnyPort() {
  daemon::DaemonOptions options;
  options.admin.listen = {"127.0.0.1", 0};
  options.run.longest_sleep = std::chrono::milliseconds(10);
  return options;
}

// Does nothing until the process is told to end; a stop comes when nobody tells it.
struct Idle {
  daemon::StepResult Step(const Now&) {
    if (++steps == 500) std::raise(SIGTERM);
    return {};
  }
  daemon::DrainResult Drain(const Now&) { return {.done = true}; }

  int steps = 0;
};

class StandingChecksTest : public testing::Test {
 protected:
  daemon::Process process_{"test", OnAnyPort()};
};

TEST_F(StandingChecksTest, ADisagreementEndsTheProcess) {
  StandingChecks checks(process_, 1ms);
  checks.Add("one", [] { return Status::Done(); });
  checks.Add("other", [] { return Status::Never("the rows differ: type this"); });
  checks.Begin();
  Idle idle;
  EXPECT_EQ(process_.Run(idle), daemon::kExitConfig);
}

TEST_F(StandingChecksTest, WhatIsGoneIsWaitedFor) {
  std::latch there(1);
  std::atomic<int> asked = 0;
  StandingChecks checks(process_, 1ms);
  checks.Add("topic", [&] {
    switch (++asked) {
      case 1: {
        Status gone = Status::Later("kafka", "there is no topic");
        gone.advice = "type this";
        return gone;
      }
      case 2:
        EXPECT_THAT(process_.health.Ready().json, HasSubstr("there is no topic; type this"));
        return Status::Done();
      case 3:
        EXPECT_THAT(process_.health.Ready().json, Not(HasSubstr("topic")));
        there.count_down();
        return Status::Done();
      default:
        return Status::Done();
    }
  });
  checks.Begin();
  there.wait();
}

TEST_F(StandingChecksTest, FromAStopOnNothingMoreIsAsked) {
  std::atomic<int> asked = 0;
  std::latch stopping(1);
  {
    StandingChecks checks(process_, 1ms);
    checks.Add("one", [&] {
      std::raise(SIGTERM);
      stopping.count_down();
      return Status::Done();
    });
    checks.Add("other", [&] {
      ++asked;
      return Status::Done();
    });
    checks.Begin();
    stopping.wait();
    for (int i = 0; i < 10'000 && asked == 0; ++i) std::this_thread::yield();  // to the checks
  }
  EXPECT_EQ(asked, 0);
}

TEST_F(StandingChecksTest, NothingIsAskedBeforeItsTimeAndNothingAfterItsEnd) {
  std::atomic<int> asked = 0;
  {
    StandingChecks checks(process_, 1h);
    checks.Add("one", [&] {
      ++asked;
      return Status::Done();
    });
    checks.Begin();
  }
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace fanline::wiring
