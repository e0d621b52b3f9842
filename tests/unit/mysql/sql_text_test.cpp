#include "backends/mysql/sql_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schemas/sql_schema.h"

namespace fanline::mysql {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(SplitStatements, CutsAtSemicolonsAndDropsCommentsAndBlanks) {
  EXPECT_THAT(SplitStatements("-- a; b\nSELECT 1; -- c\n\n ;SELECT\n2"),
              ElementsAre("SELECT 1", "SELECT\n2"));
  EXPECT_THAT(SplitStatements("  \n-- only a comment"), IsEmpty());
}

TEST(SplitStatements, LeavesQuotedTextAlone) {
  EXPECT_THAT(SplitStatements("SELECT ';', \"--\", '''';SELECT `a;b`"),
              ElementsAre("SELECT ';', \"--\", ''''", "SELECT `a;b`"));
}

TEST(SplitStatements, TheShardSchemaIsOneRepeatableStatementPerTable) {
  EXPECT_THAT(SplitStatements(sql_schema::kShardSql),
              AllOf(SizeIs(13), Each(StartsWith("CREATE TABLE IF NOT EXISTS ")),
                    Each(Not(HasSubstr("--")))));
}

TEST(Quoted, NothingInsideEndsTheLiteral) {
  EXPECT_EQ(Quoted("plain"), "'plain'");
  EXPECT_EQ(Quoted("it's \\' x"), "'it''s \\\\'' x'");
}

TEST(AppendNumber, WritesTheWholeRangeInDecimal) {
  std::string sql;
  AppendNumber(sql, UINT64_MAX);
  AppendNumber(sql, INT64_MIN);
  EXPECT_EQ(sql, "18446744073709551615-9223372036854775808");
}

}  // namespace
}  // namespace fanline::mysql
