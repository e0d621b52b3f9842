#include "fanline/ports/cursor.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

TEST(Cursor, IsTheTimeAndThePostAndReadBackAsItWasWritten) {
  EXPECT_EQ(CursorText(Position{1700000000000, PostId{77}}), "1700000000000.77");
  for (const Position position : {Position{1, PostId{1}}, Position{1700000000000, PostId{77}},
                                  Position{kMaxCreatedAt, PostId{UINT64_MAX - 1}}}) {
    const auto read = ParseCursor(CursorText(position));
    ASSERT_TRUE(read) << CursorText(position);
    EXPECT_EQ(read->created_at, position.created_at);
    EXPECT_EQ(read->post, position.post);
  }
}

TEST(Cursor, NoOtherTextIsOne) {
  for (const char* bad :
       {"", ".", "1", "1.", ".1", "1.2.3", "0.1", "1.0", "-1.1", "1.-1", "01.1", "1.01", "1 .1",
        "1.1 ", "a.1", "1,1", "9007199254740992.1", "1.18446744073709551615"}) {
    EXPECT_FALSE(ParseCursor(bad)) << '"' << bad << '"';
  }
}

TEST(Cursor, OfWhatWasSeenSaysHowMuchOfItComesBeforeItsPlace) {
  EXPECT_EQ(CursorText(SeenCursor{{17, PostId{7}}}), "17.7");
  EXPECT_EQ(CursorText(SeenCursor{{17, PostId{7}}, 3}), "17.7.3");
  for (const char* text : {"17.7", "17.7.3", "17.7.4294967295"}) {
    const auto read = ParseSeenCursor(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(CursorText(*read), text);
  }
  for (const char* bad : {"", "17", "17.7.", "17.7.0", "17.7.01", "17.7.3.1", "17.0.3", ".7.3",
                          "17.7.4294967296", "17.7.-3"}) {
    EXPECT_FALSE(ParseSeenCursor(bad)) << '"' << bad << '"';
  }
}

}  // namespace
}  // namespace fanline
