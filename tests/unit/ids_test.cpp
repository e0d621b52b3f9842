#include "fanline/model/ids.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

TEST(ParseId, ReadsEveryValidIdAndBackWhatToStringWrote) {
  EXPECT_EQ(ParseId("1"), 1u);
  EXPECT_EQ(ParseId("75879"), 75879u);
  EXPECT_EQ(ParseId("9007199254740993"), 9007199254740993u);          // no double holds it
  EXPECT_EQ(ParseId("18446744073709551614"), 18446744073709551614u);  // the largest
  for (uint64_t raw : {uint64_t{1}, uint64_t{10}, uint64_t{1} << 53, UINT64_MAX - 1}) {
    EXPECT_EQ(ParseId(ToString(UserId{raw})), raw);
    EXPECT_EQ(ParseId(ToString(PostId{raw})), raw);
  }
}

TEST(ParseId, RefusesTheTwoInvalidIdsAndWhatIsBeyond) {
  for (const char* bad :
       {"0", "18446744073709551615", "18446744073709551616", "99999999999999999999999999"}) {
    EXPECT_FALSE(ParseId(bad)) << bad;
  }
}

TEST(ParseId, KnowsOneSpellingOfAnIdOnly) {
  for (const char* bad : {"", " ", "007", "00", "+7", "-7", " 7", "7 ", "7\n", "7.0", "7e0", "0x7",
                          "seven", "7,000"}) {
    EXPECT_FALSE(ParseId(bad)) << '"' << bad << '"';
  }
  EXPECT_FALSE(ParseId(std::string_view("7\0", 2)));
}

}  // namespace
}  // namespace fanline
