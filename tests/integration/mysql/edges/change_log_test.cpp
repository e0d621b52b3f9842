// log1 on a real shard: what is pending, and what is done. What it costs: tests/statements.
#include "backends/mysql/edges/change_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/edges/forward_edges.h"
#include "tests/integration/mysql/blocking_edges.h"
#include "tests/integration/mysql/relation_shards.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;

class ChangeLogTest : public ::testing::Test {
 protected:
  void Follow(uint64_t dst) {
    ForwardChanged changed;
    ASSERT_TRUE(forward_.Change({ann_, UserId{dst}, true, kNow}, &changed).done());
  }
  std::vector<LoggedChange> Pending() {
    PendingIds();
    return pending_;
  }
  std::vector<uint64_t> PendingIds(uint64_t after = 0, uint32_t limit = 100) {
    EXPECT_TRUE(log_.ReadPending(0, after, limit, &pending_).done());
    std::vector<uint64_t> ids;
    for (const LoggedChange& change : pending_) ids.push_back(change.id);
    return ids;
  }
  // A hundred thousand rows that are done, an hour old, then as many as `pending` that are not.
  void FillWithDoneRows(int pending) {
    for (int part = 0; part < 10; ++part) {  // one statement of all may outlast a time-out
      shards_.on(0).Execute(
          "INSERT INTO log1 (id, kind, src, dst, ver, state, pos, ts, done)"
          " SELECT seq + " +
          std::to_string(part * 10'000) +
          ", 1, 1 + seq % 1000, 5000 + seq, seq, 1, 1, NOW(3) - INTERVAL 1 HOUR, 1 FROM " +
          Numbers(10'000));
    }
    for (int i = 0; i < pending; ++i) Follow(900'000 + static_cast<uint64_t>(i));
  }

  RelationShards shards_;
  ShardConnections connections_{shards_.config()};
  ForwardEdges forward_{connections_, shards_.map()};
  ChangeLog log_{connections_};
  std::vector<LoggedChange> pending_;
  const UserId ann_ = shards_.UserOn(0, 1);
};

TEST_F(ChangeLogTest, PendingRowsAreReadOldestFirstUntilTheyAreDone) {
  for (uint64_t dst = 101; dst <= 105; ++dst) Follow(dst);
  EXPECT_THAT(PendingIds(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(pending_[1].kind, ChangeKind::kEdge);
  EXPECT_EQ(pending_[1].edge, (Edge{ann_, UserId{102}, kNow, true, kNow / 1000}));
  EXPECT_THAT(PendingIds(0, 2), ElementsAre(1, 2));
  EXPECT_THAT(PendingIds(2, 2), ElementsAre(3, 4));
  const std::vector<LoggedChange> read = Pending();
  LogRow unknown = read[0].row();
  unknown.id = 99;
  ASSERT_TRUE(log_.MarkDone(0, {read[1].row(), read[2].row(), unknown}).done());
  ASSERT_TRUE(log_.MarkDone(0, {read[1].row(), read[2].row()}).done());
  EXPECT_THAT(PendingIds(), ElementsAre(1, 4, 5));
}

TEST_F(ChangeLogTest, WhatWaitsOfOneEdgeIsFoundAmongTheOldest) {
  for (uint64_t dst = 101; dst <= 105; ++dst) Follow(dst);
  const EdgeKey edge{ann_, UserId{104}};
  bool all = false;
  ASSERT_TRUE(log_.ReadPendingOf(0, ChangeKind::kEdge, edge, 5, &pending_, &all).done());
  ASSERT_EQ(pending_.size(), 1u);
  EXPECT_EQ(pending_[0].id, 4u);
  EXPECT_EQ(pending_[0].edge, (Edge{ann_, UserId{104}, kNow, true, kNow / 1000}));
  EXPECT_TRUE(all);
  ASSERT_TRUE(log_.ReadPendingOf(0, ChangeKind::kFriendship, edge, 5, &pending_, &all).done());
  EXPECT_TRUE(pending_.empty());
  ASSERT_TRUE(log_.ReadPendingOf(0, ChangeKind::kEdge, edge, 3, &pending_, &all).done());
  EXPECT_TRUE(pending_.empty());
  EXPECT_FALSE(all);
  ASSERT_TRUE(log_.MarkDone(0, {Pending().at(3).row()}).done());
  ASSERT_TRUE(log_.ReadPendingOf(0, ChangeKind::kEdge, edge, 5, &pending_, &all).done());
  EXPECT_TRUE(pending_.empty());
}

// What it costs: tests/statements.
TEST_F(ChangeLogTest, RowsAreAskedForByTheirIds) {
  FillWithDoneRows(50);
  const auto pending = Pending();
  std::vector<uint64_t> ids = {99, 7, 1'000'000};
  for (const size_t nth : {4, 30, 4}) ids.push_back(pending.at(nth).id);
  const auto found = PendingAmong(shards_.on(0), ids);
  ASSERT_EQ(found.size(), 2u) << "two are done, one was never there";
  EXPECT_EQ(found[0].row(), pending[4].row());
  EXPECT_EQ(found[1].row(), pending[30].row());
}

// A shard fails over and loses its last rows; the marks for them are still under way when their ids
// are given out once more.
TEST_F(ChangeLogTest, AMarkOfARowThatWasLostDoesNotMeetTheRowThatHasItsIdNow) {
  for (uint64_t dst = 101; dst <= 103; ++dst) Follow(dst);
  std::vector<LogRow> lost;
  for (const LoggedChange& change : Pending()) lost.push_back(change.row());
  shards_.on(0).Execute("TRUNCATE log1");
  Follow(201);
  ForwardChanged changed;
  ASSERT_TRUE(forward_.Change({ann_, UserId{102}, false, kNow + 1}, &changed).done());
  shards_.on(0).Execute("UPDATE log1 SET id = 3 WHERE id = 1");
  shards_.on(0).Execute("INSERT INTO log1 (id, kind, src, dst, ver, state, pos) VALUES (1, 2, " +
                        ToString(ann_) + ", 101, " + std::to_string(kNow) + ", 1, 1)");
  ASSERT_TRUE(log_.MarkDone(0, lost).done());
  EXPECT_THAT(PendingIds(), ElementsAre(1, 2, 3)) << "of another kind, version, edge";
}

TEST_F(ChangeLogTest, ARowIsStampedByTheServersClock) {
  Follow(101);
  PendingIds();
  const int64_t now = shards_.Number(0, "SELECT FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)");
  EXPECT_LE(pending_.at(0).written_at, now);
  EXPECT_GE(pending_.at(0).written_at, now - 60'000);
}

// Ids are given out in another order than transactions commit in.
TEST_F(ChangeLogTest, ARowThatIsCommittedLateIsStillFound) {
  Connection slow(shards_.config(), 0);
  slow.Open();
  slow.Execute("START TRANSACTION");
  slow.Execute("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (1, 7, 8, 1, 1, 1)");
  Follow(101);
  EXPECT_THAT(PendingIds(), ElementsAre(2));
  ASSERT_TRUE(log_.MarkDone(0, {Pending().at(0).row()}).done());
  slow.Execute("COMMIT");
  EXPECT_THAT(PendingIds(), ElementsAre(1));
}

TEST_F(ChangeLogTest, APurgeDeletesSoManyOldDoneRowsAndNothingElse) {
  FillWithDoneRows(3);
  shards_.on(0).Execute(
      "UPDATE log1 SET ts = NOW(3) - INTERVAL 1 DAY, done = id % 2 WHERE id > 100000");
  shards_.on(0).Execute("UPDATE log1 SET done = 0 WHERE id = 4");
  EXPECT_EQ(PurgeChanges(shards_.on(0), std::chrono::minutes(30), 1'000), 1'000u);
  EXPECT_EQ(shards_.Number(0, "SELECT COUNT(*) FROM log1 WHERE id <= 1001"), 1);
  EXPECT_EQ(PurgeChanges(shards_.on(0), std::chrono::hours(2), 1'000), 0u);
  EXPECT_EQ(shards_.Number(0, "SELECT COUNT(*) FROM log1"), 99'003);
}

}  // namespace
}  // namespace fanline::mysql
