#include "fanline/base/backoff.h"

#include <gtest/gtest.h>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using std::chrono::milliseconds;

constexpr Backoff kBackoff{.first = milliseconds(50), .most = milliseconds(5000)};

TEST(Backoff, DoublesFromTheFirstDelayUpToTheMostAndTakesAttemptZeroForTheFirst) {
  EXPECT_EQ(kBackoff.Delay(0, 25'000), kBackoff.Delay(1, 25'000));
  const Duration full[] = {milliseconds(50),   milliseconds(100),  milliseconds(200),
                           milliseconds(400),  milliseconds(800),  milliseconds(1600),
                           milliseconds(3200), milliseconds(5000), milliseconds(5000)};
  for (uint32_t attempt = 1; attempt <= std::size(full); ++attempt) {
    const auto half = static_cast<uint64_t>(full[attempt - 1].count() / 2);
    EXPECT_EQ(kBackoff.Delay(attempt, half), full[attempt - 1]) << attempt;   // longest
    EXPECT_EQ(kBackoff.Delay(attempt, 0), full[attempt - 1] / 2) << attempt;  // shortest
  }
}

TEST(Backoff, StaysBetweenHalfAndTheWholeDelayWhateverTheRandomNumber) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 10'000; ++round) {
    const Duration delay = kBackoff.Delay(4, random.Bits());
    ASSERT_GE(delay, milliseconds(200));
    ASSERT_LE(delay, milliseconds(400));
  }
}

TEST(Backoff, StaysAtTheMostHoweverOftenItFailed) {
  for (uint32_t attempt : {20u, 64u, 1'000u, UINT32_MAX}) {
    EXPECT_EQ(kBackoff.Delay(attempt, 2'500'000), milliseconds(5000)) << attempt;
  }
}

}  // namespace
}  // namespace fanline
