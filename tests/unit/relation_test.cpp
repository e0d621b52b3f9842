#include "fanline/model/relation.h"

#include <gtest/gtest.h>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

TEST(ListCursor, IsReadBackAsItWasWritten) {
  EXPECT_EQ(CursorText({1'700'000'000'000, UserId{77}, 20}), "1700000000000.77.20");
  testing::Seeded seeded;
  for (int i = 0; i < 1'000; ++i) {
    const ListCursor cursor{static_cast<UnixMs>(1 + seeded.Below(INT64_MAX)), UserId{seeded.Id()},
                            static_cast<uint32_t>(1 + seeded.Below(10'000))};
    EXPECT_EQ(ParseListCursor(CursorText(cursor)), cursor);
  }
}

TEST(ListCursor, NoOtherTextIsOne) {
  for (const char* text :
       {"", ".", "..", "1", "1.2", "1.2.", "1..3", ".2.3", "1.2.3.4", "01.2.3", "1.2.-3", "1.2.3 ",
        "1.0.3", "1.2.4294967296", "9223372036854775808.2.3", "1.18446744073709551615.3"}) {
    EXPECT_FALSE(ParseListCursor(text)) << text;
  }
}

}  // namespace
}  // namespace fanline
