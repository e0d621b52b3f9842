// What a mirror asks of two real shards, through its ports.
#include "backends/mysql/edges/mirror_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/installation/settings.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

using ::testing::SizeIs;

class MirrorStoreTest : public ::testing::Test {
 protected:
  EdgeChanged Change(UserId src, UserId dst, bool live, uint64_t version) {
    return Ask(forward_, ChangeEdge{0, {src, dst, live, 1'000, Origin::kApplication, version}});
  }
  MirrorMode Mode() { return GetMirrorMode(shards_.on(kSettingsShard)); }

  RelationShards shards_;
  MysqlReverseStore reverse_{shards_.config(), HealthSink(), kNoLog};
  MysqlForwardStore forward_{shards_.config(), HealthSink(), kNoLog, {shards_.map(), 3'000}};
  MysqlChangeStore changes_{shards_.config(), HealthSink(), kNoLog};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(MirrorStoreTest, AReadFromTheStartTellsTheHighestId) {
  EXPECT_EQ(Ask(changes_, ReadPending{0, 0, 0, 1}).newest, 0u);
  for (uint64_t nth = 1; nth <= 3; ++nth) Change(ann_, shards_.UserOn(1, nth), true, 1);
  EXPECT_EQ(Ask(changes_, ReadPending{0, 0, 0, 1}).newest, 3u);
  const LogRow last = Ask(changes_, ReadPending{0, 0, 2, 1}).changes.at(0).row();
  EXPECT_TRUE(Ask(changes_, MarkDone{0, 0, {last}}).status.done());
  const PendingRead read = Ask(changes_, ReadPending{0, 0, 0, 9});
  EXPECT_EQ(read.newest, 3u) << "done rows, too";
  EXPECT_THAT(read.changes, SizeIs(2));
  const PendingAsked asked = Ask(changes_, AskPending{0, 0, {1, 3, 9}});
  ASSERT_THAT(asked.pending, SizeIs(1));
  EXPECT_EQ(asked.pending[0].row(), read.changes[0].row());
}

// A person's transaction holds the counter of an author.
TEST_F(MirrorStoreTest, ALockedRowIsSaidToBeOne) {
  const Edge edge = Change(ann_, bob_, true, 7).forward.edge;
  ASSERT_TRUE(Ask(reverse_, ApplyEdges{0, 1, {edge}}).status.done());
  Connection person(shards_.config(), 1);
  person.Open();
  person.Execute("START TRANSACTION");
  person.Execute("UPDATE user_fan SET fans_cnt = fans_cnt WHERE user_id = " + ToString(bob_));
  const Edge ended{ann_, bob_, edge.ver + 1, false, edge.pos};
  const Status status = Ask(reverse_, ApplyEdges{0, 1, {ended}}).status;
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.cause, Cause::kLocked);
  person.Execute("ROLLBACK");
  EXPECT_TRUE(Ask(reverse_, ApplyEdges{0, 1, {ended}}).status.done());
}

TEST_F(MirrorStoreTest, RequestsQueuedTogetherAreAnsweredEachForItself) {
  Replies<EdgesApplied> replies;
  for (uint64_t ver = 1; ver <= 200; ++ver) {
    reverse_.Submit(
        ApplyEdges{ver, 1, {{ann_, bob_, ver, ver % 2 == 0, 1}, {bob_, bob_, 5, true, 1}}},
        replies);
  }
  uint64_t written = 0;
  for (uint64_t ver = 1; ver <= 200; ++ver) {
    const EdgesApplied reply = replies.Await(ver);
    ASSERT_THAT(reply.applied, SizeIs(2));
    EXPECT_GE(reply.applied[0].ver, ver);
    written += reply.applied[1].written;
  }
  EXPECT_EQ(written, 1u) << "one message makes the row, all others are repetitions";
  EXPECT_EQ(shards_.Reverse(ann_, bob_), "200 1 1");
  shards_.ExpectCountersMatchRows();
}

TEST_F(MirrorStoreTest, TheModeIsAsyncUntilItIsSet) {
  EXPECT_EQ(Mode(), MirrorMode::kAsync);
  SetMirrorMode(shards_.on(0), MirrorMode::kSync);
  EXPECT_EQ(Mode(), MirrorMode::kSync);
  SetMirrorMode(shards_.on(0), MirrorMode::kLog);
  EXPECT_EQ(Mode(), MirrorMode::kLog);
  SetMirrorMode(shards_.on(0), MirrorMode::kAsync);
  EXPECT_EQ(Mode(), MirrorMode::kAsync);
  shards_.on(0).Execute("UPDATE setting SET value = 'both'");
  EXPECT_EQ(Mode(), MirrorMode::kAsync) << "a value nobody knows";
}

TEST_F(MirrorStoreTest, WhatCanNeverBeIsSaidSo) {
  EXPECT_TRUE(Change(ann_, ann_, true, 1).status.never());
  shards_.of(ann_).Execute("INSERT INTO user_rel (user_id, following_cnt) VALUES (" +
                           ToString(ann_) + ", 3000)");
  const EdgeChanged over = Change(ann_, bob_, true, 1);
  EXPECT_TRUE(over.status.never());
  EXPECT_EQ(over.status.message, "follows 3000 already");
}

TEST_F(MirrorStoreTest, AShardThatIsAwayAnswersItsOwnRequestsLater) {
  Config broken = shards_.config();
  broken.shards[1].port = 1;
  MysqlReverseStore reverse(broken, HealthSink(), kNoLog);
  MysqlChangeStore changes(broken, HealthSink(), kNoLog);
  const Status status = Ask(reverse, ApplyEdges{0, 1, {{ann_, bob_, 1, true, 1}}}).status;
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
  EXPECT_TRUE(Ask(changes, ReadPending{0, 0, 0, 10}).status.done());
}

}  // namespace
}  // namespace fanline::mysql
