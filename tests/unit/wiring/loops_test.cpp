#include "backends/wiring/loops.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace fanline::wiring {
namespace {

using namespace std::chrono_literals;

// Answers the results it was given, call by call; the last one repeats.
struct FakePart {
  daemon::StepResult Step(const Now&) {
    ++steps;
    return step;
  }
  daemon::DrainResult Drain(const Now&) {
    const size_t call = std::min(drains++, drain.size() - 1);
    return drain[call];
  }

  daemon::StepResult step;
  std::vector<daemon::DrainResult> drain{{.done = true}};
  size_t steps = 0, drains = 0;
};

const Now kNow{Time{1h}};
const Time kSoon = kNow.mono + 1s, kLater = kNow.mono + 2s;

TEST(Loops, WorkOfOneIsWorkOfBoth) {
  FakePart one, other;
  Loops both(one, other);
  EXPECT_FALSE(both.Step(kNow).did_work);
  other.step.did_work = true;
  EXPECT_TRUE(both.Step(kNow).did_work);
  std::swap(one.step, other.step);
  EXPECT_TRUE(both.Step(kNow).did_work);
  EXPECT_EQ(one.steps, 3u);
  EXPECT_EQ(other.steps, 3u);
}

TEST(Loops, TheEarlierTimerCounts) {
  FakePart one, other;
  Loops both(one, other);
  EXPECT_EQ(both.Step(kNow).next_timer, std::nullopt);
  one.step.next_timer = kLater;
  EXPECT_EQ(both.Step(kNow).next_timer, kLater);
  other.step.next_timer = kSoon;
  EXPECT_EQ(both.Step(kNow).next_timer, kSoon);
  one.step.next_timer = std::nullopt;
  EXPECT_EQ(both.Step(kNow).next_timer, kSoon);
}

TEST(Loops, AreDrainedWhenEachIsAndDrainNoneTwice) {
  FakePart one, other;
  other.drain = {{.next_timer = kSoon}, {.did_work = true}, {.done = true}};
  Loops both(one, other);
  auto result = both.Drain(kNow);
  EXPECT_FALSE(result.done);
  EXPECT_EQ(result.next_timer, kSoon);
  result = both.Drain(kNow);
  EXPECT_FALSE(result.done);
  EXPECT_TRUE(result.did_work);
  EXPECT_TRUE(both.Drain(kNow).done);
  EXPECT_EQ(one.drains, 1u);
  EXPECT_EQ(other.drains, 3u);
}

TEST(Loops, APartThatIsDrainedDoesNotKeepTheOtherAwake) {
  FakePart one, other;
  one.drain = {{.done = true, .did_work = true, .next_timer = kNow.mono}};
  other.drain = {{.next_timer = kSoon}};
  Loops both(one, other);
  for (int turn = 0; turn < 2; ++turn) {
    const auto result = both.Drain(kNow);
    EXPECT_FALSE(result.done);
    EXPECT_FALSE(result.did_work);
    EXPECT_EQ(result.next_timer, kSoon);
  }
}

TEST(Loops, MayBeMoreThanTwo) {
  FakePart first, second, third;
  third.step = {.did_work = true, .next_timer = kLater};
  first.step = {.next_timer = kSoon};
  second.drain = {{}, {.done = true}};
  Loops all(first, second, third);
  const auto step = all.Step(kNow);
  EXPECT_TRUE(step.did_work);
  EXPECT_EQ(step.next_timer, kSoon);
  EXPECT_FALSE(all.Drain(kNow).done);
  EXPECT_TRUE(all.Drain(kNow).done);
  EXPECT_EQ(second.drains, 2u);
}

}  // namespace
}  // namespace fanline::wiring
