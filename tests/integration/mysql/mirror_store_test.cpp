// What a mirror asks of two real shards, through its ports.
#include "backends/mysql/mirror_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/settings.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/replies.h"

namespace fanline::mysql {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

template <class Reply>
uint64_t IdOf(const Reply& reply) {
  return reply.id;
}
uint64_t IdOfLog(const ChangeReply& reply) {
  return std::visit([](const auto& each) { return each.id; }, reply);
}

class MirrorStoreTest : public ::testing::Test {
 protected:
  std::vector<LoggedChange> Pending(Shard shard) {
    store_.Submit(ReadPending{++id_, shard, 0, 100});
    const auto reply = std::get<PendingRead>(log_.Await(id_));
    EXPECT_TRUE(reply.status.done()) << reply.status.message;
    return reply.changes;
  }
  EdgeChanged Change(UserId src, UserId dst, bool live, uint64_t version) {
    store_.Submit(ChangeEdge{++id_, {src, dst, live, 1'000, Origin::kApplication, version}});
    return changed_.Await(id_);
  }
  MirrorMode Mode() {
    store_.Submit(ReadMirrorMode{++id_});
    return mode_.Await(id_).mode;
  }

  RelationShards shards_;
  uint64_t id_ = 0;
  Replies<EdgesApplied> applied_{IdOf<EdgesApplied>};
  Replies<EdgeChanged> changed_{IdOf<EdgeChanged>};
  Replies<ChangeReply> log_{IdOfLog};
  Replies<MirrorModeRead> mode_{IdOf<MirrorModeRead>};
  MysqlMirrorStore store_{shards_.config(),
                          shards_.map(),
                          {applied_.sink(), changed_.sink(), log_.sink(), mode_.sink()},
                          HealthSink(),
                          kNoLog,
                          {.most_followed = 3'000}};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(MirrorStoreTest, AnEdgeGoesFromItsEventToItsReverseRow) {
  const EdgeChanged changed = Change(ann_, bob_, true, 7);
  ASSERT_TRUE(changed.status.done()) << changed.status.message;
  EXPECT_TRUE(changed.forward.changed);
  const auto pending = Pending(0);
  ASSERT_THAT(pending, SizeIs(1));
  EXPECT_EQ(pending[0].edge, changed.forward.edge);

  store_.Submit(ApplyEdges{++id_, 1, {pending[0].edge}});
  const EdgesApplied applied = applied_.Await(id_);
  ASSERT_TRUE(applied.status.done()) << applied.status.message;
  EXPECT_EQ(applied.applied.at(0).ver, pending[0].edge.ver);
  EXPECT_TRUE(applied.applied.at(0).written);
  shards_.ExpectConsistent();

  store_.Submit(MarkDone{++id_, 0, {pending[0].row()}});
  EXPECT_TRUE(std::get<MarkedDone>(log_.Await(id_)).status.done());
  EXPECT_THAT(Pending(0), IsEmpty());
}

TEST_F(MirrorStoreTest, AnEventSeenTwiceChangesNothing) {
  Change(ann_, bob_, true, 7);
  Change(ann_, bob_, false, 9);
  EXPECT_FALSE(Change(ann_, bob_, true, 7).forward.changed);
  EXPECT_FALSE(Change(ann_, bob_, true, 8).forward.changed);
  EXPECT_THAT(Pending(0), SizeIs(2));
  EXPECT_EQ(shards_.FollowingCount(ann_), 0);
}

TEST_F(MirrorStoreTest, RequestsQueuedTogetherAreAnsweredEachForItself) {
  std::vector<uint64_t> ids;
  for (uint64_t ver = 1; ver <= 200; ++ver) {
    ids.push_back(++id_);
    store_.Submit(
        ApplyEdges{id_, 1, {{ann_, bob_, ver, ver % 2 == 0, 1}, {bob_, bob_, 5, true, 1}}});
  }
  uint64_t written = 0;
  for (const uint64_t id : ids) {
    const EdgesApplied reply = applied_.Await(id);
    ASSERT_THAT(reply.applied, SizeIs(2));
    EXPECT_GE(reply.applied[0].ver, id);
    written += reply.applied[1].written;
  }
  EXPECT_EQ(written, 1u) << "one message makes the row, all others are repetitions";
  EXPECT_EQ(shards_.Reverse(ann_, bob_), "200 1 1");
  shards_.ExpectCountersMatchRows();
}

TEST_F(MirrorStoreTest, DoneRowsArePurgedByAge) {
  Change(ann_, bob_, true, 7);
  const LogRow row = Pending(0).at(0).row();
  store_.Submit(MarkDone{++id_, 0, {row}});
  log_.Await(id_);
  const auto purge = [&](std::chrono::seconds keep) {
    store_.Submit(PurgeDone{++id_, 0, keep, 10});
    return std::get<PurgedDone>(log_.Await(id_)).deleted;
  };
  EXPECT_EQ(purge(std::chrono::hours(1)), 0u);
  shards_.on(0).Execute("UPDATE log1 SET ts = ts - INTERVAL 2 HOUR");
  EXPECT_EQ(purge(std::chrono::hours(1)), 1u);
}

TEST_F(MirrorStoreTest, TheModeIsAsyncUntilItIsSet) {
  EXPECT_EQ(Mode(), MirrorMode::kAsync);
  SetMirrorMode(shards_.on(0), MirrorMode::kSync);
  EXPECT_EQ(Mode(), MirrorMode::kSync);
  SetMirrorMode(shards_.on(0), MirrorMode::kAsync);
  EXPECT_EQ(Mode(), MirrorMode::kAsync);
  shards_.on(0).Execute("UPDATE setting SET value = 'both'");
  EXPECT_EQ(Mode(), MirrorMode::kAsync) << "a value nobody knows";
}

TEST_F(MirrorStoreTest, WhatCanNeverBeIsSaidSo) {
  EXPECT_TRUE(Change(ann_, ann_, true, 1).status.never());
  shards_.of(ann_).Execute("INSERT INTO user_rel VALUES (" + ToString(ann_) + ", 3000, 0)");
  const EdgeChanged over = Change(ann_, bob_, true, 1);
  EXPECT_TRUE(over.status.never());
  EXPECT_EQ(over.status.message, "follows 3000 already");
}

TEST_F(MirrorStoreTest, AShardThatIsAwayAnswersItsOwnRequestsLater) {
  Config broken = shards_.config();
  broken.shards[1].port = 1;
  Replies<EdgesApplied> applied(IdOf<EdgesApplied>);
  Replies<ChangeReply> log(IdOfLog);
  MysqlMirrorStore store(broken, shards_.map(), {applied.sink(), {}, log.sink(), {}}, HealthSink(),
                         kNoLog);
  store.Submit(ApplyEdges{1, 1, {{ann_, bob_, 1, true, 1}}});
  store.Submit(ReadPending{2, 0, 0, 10});
  const Status status = applied.Await(1).status;
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
  EXPECT_TRUE(std::get<PendingRead>(log.Await(2)).status.done());
}

}  // namespace
}  // namespace fanline::mysql
