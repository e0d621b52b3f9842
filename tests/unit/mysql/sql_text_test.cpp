#include "backends/mysql/sql/sql_text.h"

#include <gmock/gmock.h>

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitStatements, CutsAtSemicolonsAndDropsCommentsAndBlanks) {
  EXPECT_THAT(SplitStatements("-- a; b\nSELECT 1; -- c\n\n ;SELECT\n2"),
              ElementsAre("SELECT 1", "SELECT\n2"));
  EXPECT_THAT(SplitStatements("  \n-- only a comment"), IsEmpty());
}

TEST(SplitStatements, LeavesQuotedTextAlone) {
  EXPECT_THAT(SplitStatements("SELECT ';', \"--\", '''';SELECT `a;b`"),
              ElementsAre("SELECT ';', \"--\", ''''", "SELECT `a;b`"));
}

TEST(IsIdentifier, NamesAreLettersDigitsAndUnderscoresOnly) {
  for (const char* good : {"follows", "Follows_2", "_", "7"}) EXPECT_TRUE(IsIdentifier(good));
  for (const char* bad : {"", "a b", "a`b", "a.b", "a;b", "a-b", "a'b", "caf\xc3\xa9"}) {
    EXPECT_FALSE(IsIdentifier(bad)) << bad;
  }
  EXPECT_TRUE(IsIdentifier(std::string(64, 'a')));
  EXPECT_FALSE(IsIdentifier(std::string(65, 'a')));
}

TEST(QuotedName, NoNameOfAnotherKindReachesAStatement) {
  EXPECT_EQ(QuotedName("posts"), "`posts`");
  EXPECT_DEATH(QuotedName("posts` WHERE 1 -- "), "the name of a table or column");
}

TEST(Quoted, NothingInsideEndsTheLiteral) {
  EXPECT_EQ(Quoted("plain"), "'plain'");
  EXPECT_EQ(Quoted("it's \\' x"), "'it''s \\\\'' x'");
}

TEST(AppendTuple, WritesEachValueInItsOwnSign) {
  std::string sql = "VALUES ";
  AppendTuple(sql, uint64_t{1}, -2, UINT64_MAX);
  EXPECT_EQ(sql, "VALUES (1,-2,18446744073709551615)");
}

TEST(InList, WritesLiteralsOfOneKind) {
  const UserId most_signed{(uint64_t{1} << 63) - 1};
  EXPECT_EQ(InList(std::vector{UserId{1}, most_signed}), "(1,9223372036854775807)");
  EXPECT_EQ(InList(std::vector{UserId{1}, most_signed, UserId{uint64_t{1} << 63},
                               UserId{UINT64_MAX - 1}}),
            "(0x1,0x7fffffffffffffff,0x8000000000000000,0xfffffffffffffffe)");
}

TEST(AppendList, JoinsInParentheses) {
  std::string sql = "IN ";
  const auto append = [](std::string& out, int value) { AppendTuple(out, value, value + 1); };
  AppendList(sql, std::vector{1, 3}, append);
  EXPECT_EQ(sql, "IN ((1,2),(3,4))");
}

TEST(Sql, IsItsPartsOneAfterTheOther) {
  const std::string text = "b";
  EXPECT_EQ(Sql("a", text, ' ', UserId{UINT64_MAX}, INT64_MIN, true, uint8_t{7}),
            "ab 18446744073709551615-922337203685477580817");
}

}  // namespace
}  // namespace fanline::mysql
