#include "feedctl/support/suggested_ranges.h"

#include <gtest/gtest.h>

namespace fanline::feedctl {
namespace {

TEST(SuggestedRanges, AreSixteenForASingleNodeAndFewReaders) {
  EXPECT_EQ(SuggestedRanges(1, 0), 16u);
  EXPECT_EQ(SuggestedRanges(1, 4'000'000), 16u);
  EXPECT_EQ(SuggestedRanges(2, 0), 16u);
}

TEST(SuggestedRanges, AreAtLeastEightOfEachMaster) {
  EXPECT_EQ(SuggestedRanges(3, 0), 32u);
  EXPECT_EQ(SuggestedRanges(4, 0), 32u);
  EXPECT_EQ(SuggestedRanges(5, 0), 64u);
  EXPECT_EQ(SuggestedRanges(12, 0), 128u);
}

TEST(SuggestedRanges, HoldAQuarterOfAMillionLiveReadersEach) {
  EXPECT_EQ(SuggestedRanges(1, 4'000'001), 32u);
  EXPECT_EQ(SuggestedRanges(1, 8'000'000), 32u);
  EXPECT_EQ(SuggestedRanges(3, 100'000'000), 512u);
}

TEST(SuggestedRanges, DivideTheBucketsWhateverIsExpected) {
  EXPECT_EQ(SuggestedRanges(1'000, 0), 1024u);
  EXPECT_EQ(SuggestedRanges(UINT32_MAX, 0), 1024u);
  EXPECT_EQ(SuggestedRanges(1, UINT64_MAX), 1024u);
  for (uint32_t masters = 0; masters < 200; ++masters) {
    EXPECT_TRUE(RangeLayout::Divides(SuggestedRanges(masters, 0))) << masters;
  }
}

}  // namespace
}  // namespace fanline::feedctl
