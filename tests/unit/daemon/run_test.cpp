#include "daemon/run/run.h"

#include <gmock/gmock.h>

#include <sstream>
#include <stdexcept>

#include "daemon/options/options.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// RunWorld: a loop whose time stands still unless a step moves it. A step that would make the loop
// sleep notifies first, so that nothing here waits for real time.
struct RunWorld {
  explicit RunWorld(std::optional<Duration> watchdog = std::nullopt)
      : supervisor(
            [this](const std::string& message) {
              told.push_back(message);
              return true;
            },
            watchdog, health) {}

  Time now{1h};
  bool stop = false;
  RunOptions options{.drain_limit = 10s};
  Wakeup wakeup;
  Health health{{.stall_limit = 30s}};
  std::vector<std::string> told;
  Supervisor supervisor;
  std::ostringstream out;
  Log log{"test", {}, out, [] { return UnixMs{0}; }};

  int Run(std::function<StepResult(const Now&)> step,
          std::function<DrainResult(const Now&)> drain) {
    return daemon::Run(options, wakeup, health, supervisor, log,
                       {.stop_requested = [this] { return stop; },
                        .step = std::move(step),
                        .drain = std::move(drain),
                        .clock =
                            [this] {
                              return Now{now, 0};
                            }});
  }

  StepResult StopNow(const Now&) {
    stop = true;
    return {.did_work = true};
  }
};

DrainResult DrainedAtOnce(const Now&) { return {.done = true}; }

TEST(Run, StepsUntilAStopIsRequestedThenDrains) {
  RunWorld w;
  std::vector<std::string> calls;
  const int code = w.Run(
      [&](const Now&) {
        calls.push_back("step");
        w.stop = calls.size() == 2;
        return StepResult{.did_work = true};
      },
      [&](const Now&) {
        calls.push_back("drain");
        return DrainResult{.done = calls.size() == 4, .did_work = true};
      });
  EXPECT_EQ(code, 0);
  EXPECT_THAT(calls, testing::ElementsAre("step", "step", "drain", "drain"));
  EXPECT_THAT(w.out.str(), HasSubstr(R"("msg":"drained")"));
}

TEST(Run, DoesNotStepWhenTheStopCameFirst) {
  RunWorld w;
  w.stop = true;
  EXPECT_EQ(
      w.Run([](const Now&) -> StepResult { throw std::logic_error("stepped"); }, DrainedAtOnce), 0);
}

TEST(Run, GivesUpTheDrainAtItsLimitAndSaysSo) {
  RunWorld w;
  const Time begin = w.now;
  const int code = w.Run([&](const Now& now) { return w.StopNow(now); },
                         [&](const Now&) {
                           w.now += 4s;
                           w.wakeup.Notify();
                           return DrainResult{};
                         });
  EXPECT_EQ(code, kExitTempFail);
  EXPECT_EQ(w.now - begin, 16s);  // called at 0, 4, 8 and, after the limit, once more at 12
  EXPECT_THAT(w.out.str(), HasSubstr("drain limit passed"));
}

TEST(Run, CountsADrainThatFinishesAtTheLimitAsDrained) {
  RunWorld w;
  EXPECT_EQ(w.Run([&](const Now& now) { return w.StopNow(now); },
                  [&](const Now& now) {
                    const bool last = now.mono >= Time{1h} + 10s;
                    w.now += 10s;
                    w.wakeup.Notify();
                    return DrainResult{.done = last};
                  }),
            0);
}

TEST(Run, SleepsWhenThereIsNoWorkUntilItIsWoken) {
  RunWorld w;
  w.options.longest_sleep = 1h;
  int steps = 0;
  const int code = w.Run(
      [&](const Now&) {
        w.stop = ++steps == 2;
        w.wakeup.Notify();  // without it this test would take an hour
        return StepResult{};
      },
      DrainedAtOnce);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(steps, 2);
}

TEST(Run, StepsAgainWhenATimerIsDueThoughNobodyWakesIt) {
  RunWorld w;
  w.options.longest_sleep = 1h;
  int steps = 0;
  EXPECT_EQ(w.Run(
                [&](const Now& now) {
                  w.stop = ++steps == 2;
                  return StepResult{.next_timer = now.mono};
                },
                DrainedAtOnce),
            0);
}

TEST(Run, BeatsAtEveryTurnAlsoWhileDraining) {
  RunWorld w;
  w.Run([&](const Now& now) { return w.StopNow(now); },
        [&](const Now& now) {
          EXPECT_TRUE(w.health.Alive(now.mono).ok);
          w.now += 9s;
          w.wakeup.Notify();
          return DrainResult{};
        });
  EXPECT_TRUE(w.health.Alive(Time{1h} + 48s).ok);
  EXPECT_FALSE(w.health.Alive(Time{1h} + 49s).ok);  // the last turn was at 18 s
}

TEST(Run, IsReadyWhileItStepsAndNotWhileItDrains) {
  RunWorld w;
  w.Run(
      [&](const Now& now) {
        EXPECT_TRUE(w.health.Ready().ok);
        return w.StopNow(now);
      },
      [&](const Now&) {
        EXPECT_THAT(w.health.Ready().json, HasSubstr(R"("loop":"stopping")"));
        return DrainResult{.done = true};
      });
}

TEST(Run, TellsTheSupervisorThatItTurnsAndThatItStopsAndForHowLong) {
  RunWorld w;
  w.Run([&](const Now& now) { return w.StopNow(now); }, DrainedAtOnce);
  EXPECT_THAT(w.told, testing::ElementsAre("READY=1\nSTATUS=ready\n",
                                           "STOPPING=1\nEXTEND_TIMEOUT_USEC=20000000\n"
                                           "STATUS=not ready: loop: stopping\n"));
}

TEST(Run, NeverSleepsPastWhatTheWatchdogWaitsFor) {
  RunWorld w(4ms);
  w.options.longest_sleep = 3s;
  const auto begin = Clock::now();
  int steps = 0;  // of an idle loop that nobody wakes
  EXPECT_EQ(w.Run(
                [&](const Now&) {
                  w.stop = ++steps == 3;
                  w.now += 1ms;
                  return StepResult{};
                },
                DrainedAtOnce),
            0);
  EXPECT_LT(Clock::now() - begin, 3s);
}

}  // namespace
}  // namespace fanline::daemon
