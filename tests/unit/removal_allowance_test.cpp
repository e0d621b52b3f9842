#include "fanline/ports/removal_allowance.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

constexpr UnixMs kNoon = 1'700'000'000'000, kSecond = 1'000, kMinute = 60'000;

TakeRemovals Asking(uint32_t wanted, uint64_t closings = 0) {
  return {.wanted = wanted, .per_minute = 10, .closings = closings};
}

TEST(RemovalAllowance, GivesSoManyAMinuteAndNoneOnceMoreWereWanted) {
  RemovalAllowance kept;
  EXPECT_EQ(Take(kept, Asking(6), kNoon), 6u);
  EXPECT_EQ(Take(kept, Asking(4), kNoon + kMinute - 1), 4u);
  EXPECT_EQ(Take(kept, Asking(1), kNoon + kMinute - 1), 0u);
  EXPECT_EQ(Take(kept, Asking(1), kNoon + 24 * 60 * kMinute), 0u) << "closed by itself";
}

TEST(RemovalAllowance, AMinuteBeginsWithItsFirstRemoval) {
  RemovalAllowance kept;
  EXPECT_EQ(Take(kept, Asking(1), kNoon), 1u);
  EXPECT_EQ(Take(kept, Asking(9), kNoon + 59 * kSecond), 9u);
  EXPECT_EQ(Take(kept, Asking(10), kNoon + 60 * kSecond), 10u);
  EXPECT_EQ(Take(kept, Asking(1), kNoon + 119 * kSecond), 0u);
}

TEST(RemovalAllowance, ClosedByAnOperatorItStillCountsTheMinute) {
  RemovalAllowance kept;
  EXPECT_EQ(Take(kept, Asking(11), kNoon), 10u);
  EXPECT_EQ(Take(kept, Asking(1, 1), kNoon + 59 * kSecond), 0u);
  EXPECT_EQ(Take(kept, Asking(1, 1), kNoon + 61 * kSecond), 0u) << "it has opened anew";
  EXPECT_EQ(Take(kept, Asking(10, 2), kNoon + 61 * kSecond), 10u);
}

TEST(RemovalAllowance, WhoHasNotHeardOfAClosingCannotUndoItNorCloseWhatOpenedAfterIt) {
  RemovalAllowance kept;
  EXPECT_EQ(Take(kept, Asking(11), kNoon), 10u);
  EXPECT_EQ(Take(kept, Asking(1, 1), kNoon + 2 * kMinute), 1u);
  EXPECT_EQ(Take(kept, Asking(1, 0), kNoon + 2 * kMinute), 0u) << "for him it is open";
  EXPECT_EQ(Take(kept, Asking(1, 1), kNoon + 2 * kMinute), 1u) << "for the others it is not";
  EXPECT_EQ(Take(kept, Asking(9, 1), kNoon + 2 * kMinute), 8u);
  EXPECT_EQ(Take(kept, Asking(1, 0), kNoon + 4 * kMinute), 0u);
  EXPECT_EQ(Take(kept, Asking(1, 1), kNoon + 4 * kMinute), 0u);
}

TEST(RemovalAllowance, ASlowerPaceNeverOpensIt) {
  RemovalAllowance kept;
  for (UnixMs now = kNoon; now < kNoon + 60 * kMinute; now += 6'100) {
    ASSERT_EQ(Take(kept, Asking(1), now), 1u) << now;
  }
}

TEST(RemovalAllowance, AClockSetBackMakesNoMinuteEndlessAndGivesNothingBack) {
  RemovalAllowance kept;
  EXPECT_EQ(Take(kept, Asking(10), kNoon), 10u);
  const UnixMs back = kNoon - 24 * 60 * kMinute;
  EXPECT_EQ(Take(kept, Asking(1, 0), back), 0u);
  EXPECT_EQ(Take(kept, Asking(10, 1), back + kMinute), 10u);
}

}  // namespace
}  // namespace fanline
