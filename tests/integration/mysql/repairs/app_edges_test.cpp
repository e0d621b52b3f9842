// An application's tables: as they are configured, and as they are on two real shards.
#include "backends/mysql/repairs/app_edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Every shard has both tables; our own have such columns.
class AppEdgesTest : public ::testing::Test {
 protected:
  AppTables Tables() const {
    return {{shards_.config(), "following"}, {shards_.config(), "follower"}};
  }

  Shards shards_;
};

TEST_F(AppEdgesTest, TablesThatAreThereAreInOrder) {
  const Status status = CheckAppTables(Tables());
  EXPECT_TRUE(status.done()) << status.message;
}

TEST_F(AppEdgesTest, ATableThatIsNotThereIsNamedWithItsOptionAndShard) {
  AppTables tables = Tables();
  tables.forward.table = "nope";
  const Status status = CheckAppTables(tables);
  EXPECT_TRUE(status.never());
  EXPECT_THAT(status.message, AllOf(StartsWith("--forward-table: forward shard 0 ("),
                                    HasSubstr(".nope: SQL error 1146")));
}

TEST_F(AppEdgesTest, AColumnThatIsNotThereIsNamedWithItsOptionAndShard) {
  AppTables tables = Tables();
  tables.reverse.state = "nostate";
  const Status status = CheckAppTables(tables);
  EXPECT_TRUE(status.never());
  EXPECT_THAT(status.message, AllOf(StartsWith("--edge-columns: reverse shard 0 ("),
                                    HasSubstr(".follower: SQL error 1054"), HasSubstr("nostate")));
}

TEST_F(AppEdgesTest, ADeliveryIsReadAndWrittenWhereThereIsAColumnOfIt) {
  Connection& connection = shards_.on(0);
  connection.Execute(
      "CREATE TEMPORARY TABLE follows (src BIGINT UNSIGNED, dst BIGINT UNSIGNED,"
      " ver BIGINT UNSIGNED, state TINYINT, pos BIGINT, brings TINYINT DEFAULT 0,"
      " PRIMARY KEY (src, dst))");
  EdgeTable plain{shards_.config(), "follows"}, chosen = plain;
  chosen.delivery = "brings";
  Edge edge{UserId{1}, UserId{2}, 5, true, 9, Delivery::kNone};
  EXPECT_EQ(WriteRow(connection, chosen, edge).edge, edge);
  edge.delivery = Delivery::kNoReposts;
  EXPECT_EQ(WriteRow(connection, chosen, edge).edge.delivery, Delivery::kNone)
      << "no newer version";
  edge.ver = 6;
  EXPECT_EQ(WriteRow(connection, chosen, edge).edge, edge);
  edge.ver = 7;
  EXPECT_EQ(WriteRow(connection, plain, edge).edge.delivery, Delivery::kAll) << "it has no column";
}

TEST_F(AppEdgesTest, AShardThatIsAwayIsWaitedForAndHidesNothingWrongBehindIt) {
  AppTables tables = Tables();
  tables.forward.config.shards[0].port = 1;  // nobody listens there
  const Status away = CheckAppTables(tables);
  EXPECT_TRUE(away.later());
  EXPECT_THAT(away.message, StartsWith("forward shard 0: "));
  tables.reverse.table = "nope";
  const Status wrong = CheckAppTables(tables);
  EXPECT_TRUE(wrong.never());
  EXPECT_THAT(wrong.message, StartsWith("--reverse-table: reverse shard 0 ("));
}

}  // namespace
}  // namespace fanline::mysql
