#include "feedctl/support/text.h"

#include <gtest/gtest.h>

#include "feedctl/events/pace.h"

namespace fanline::feedctl {
namespace {

using namespace std::chrono_literals;

TEST(Text, NumbersAreGroupedByThree) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(1017674), "1,017,674");
  EXPECT_EQ(Grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Text, OneOfAThingIsNoPlural) {
  EXPECT_EQ(Counted(0, "row"), "0 rows");
  EXPECT_EQ(Counted(1, "row"), "1 row");
  EXPECT_EQ(Counted(2000, "row"), "2,000 rows");
}

TEST(Text, AColumnIsFilledAndNeverCut) {
  EXPECT_EQ(Left("ab", 4), "ab  ");
  EXPECT_EQ(Left("abcd", 4), "abcd ") << "the next column stands apart";
  EXPECT_EQ(Left("abcde", 4), "abcde ");
}

TEST(Text, WhatIsQuotedIsShortAndPrintable) {
  EXPECT_EQ(QuotedShort("a\nb\x80"), "\"a?b?\"");
  EXPECT_EQ(QuotedShort(std::string(40, 'x')), '"' + std::string(40, 'x') + '"');
  EXPECT_EQ(QuotedShort(std::string(41, 'x')), '"' + std::string(40, 'x') + "...\"");
}

constexpr Time kBegin{1000s};

TEST(Pace, SpreadsPiecesEvenly) {
  const Pace pace(100, kBegin);
  EXPECT_EQ(pace.WaitBefore(0, kBegin), 0us);
  EXPECT_EQ(pace.WaitBefore(1, kBegin), 10ms);
  EXPECT_EQ(pace.WaitBefore(100, kBegin + 250ms), 750ms);
}

TEST(Pace, MakesUpForADelay) {
  const Pace pace(100, kBegin);
  EXPECT_EQ(pace.WaitBefore(99, kBegin + 1s), 0us);
  EXPECT_EQ(pace.WaitBefore(101, kBegin + 1s), 10ms);
}

TEST(Pace, WithoutARateNothingWaits) {
  EXPECT_EQ(Pace(0, kBegin).WaitBefore(1'000'000, kBegin), 0us);
}

}  // namespace
}  // namespace fanline::feedctl
