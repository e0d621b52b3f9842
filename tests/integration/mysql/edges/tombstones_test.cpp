// Tombstones that are collected from two real shards, and the horizon that keeps the past out.
#include "backends/mysql/edges/tombstones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/repairs/repair_store.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TombstonesTest : public ::testing::Test {
 protected:
  TombstonesTest() { RaiseHorizonTo(shards_.on(0), Before() + 1'000); }

  UnixMs Before() {
    return shards_.Number(0, "SELECT FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)") - 60'000;
  }
  // An unfollow of a user of shard 0, so many seconds ago.
  Tombstone Ended(UserId src, UserId dst, int seconds_ago = 3'600, uint64_t unix_us = kNow) {
    Relations::Result result;
    EXPECT_TRUE(relations_.Follow(src, dst, unix_us, &result).done());
    EXPECT_TRUE(relations_.Unfollow(src, dst, unix_us, &result).done());
    Age(src, dst, seconds_ago);
    return {{src, dst}, result.version};
  }
  void Age(UserId src, UserId dst, int seconds_ago) {
    shards_.of(src).Execute("UPDATE following SET ut = NOW(3) - INTERVAL " +
                            std::to_string(seconds_ago) + " SECOND WHERE src = " + ToString(src) +
                            " AND dst = " + ToString(dst));
  }
  TombstonesRead Read(uint32_t limit = 100, std::chrono::seconds every = std::chrono::hours(1)) {
    return ReadBehindSweep(shards_.on(0), {0, 0, Before(), limit, every});
  }
  TombstonesDropped DropReverse(Shard shard, std::vector<Tombstone> tombstones) {
    return Drop(shards_.on(shard), {0, shard, true, Before(), std::move(tombstones)});
  }
  TombstonesDropped DropForward(std::vector<Tombstone> tombstones) {
    return Drop(shards_.on(0), {0, 0, false, Before(), std::move(tombstones)});
  }

  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1),
               cid_ = shards_.UserOn(1, 2), dan_ = shards_.UserOn(1, 3);
};

TEST_F(TombstonesTest, OnlyOldOnesThatNoFriendshipHasTouchedAreRead) {
  const Tombstone old = Ended(ann_, bob_);
  Ended(ann_, cid_, 1);  // young
  Relations::Result result;
  ASSERT_TRUE(relations_.Follow(ann_, dan_, kNow, &result).done());  // live
  Age(ann_, dan_, 3'600);
  const UserId eve = shards_.UserOn(0, 2);
  Ended(eve, bob_);
  shards_.on(0).Execute("UPDATE following SET friend_version = 7, ut = ut WHERE src = " +
                        ToString(eve));
  Ended(eve, cid_);
  shards_.on(0).Execute("UPDATE following SET friend_announced = 7, ut = ut WHERE src = " +
                        ToString(eve) + " AND dst = " + ToString(cid_));
  Ended(eve, dan_, 3'600, kNow * 2);  // by a clock that was far ahead
  const TombstonesRead read = Read();
  EXPECT_TRUE(read.due);
  EXPECT_TRUE(read.over);
  EXPECT_EQ(read.rows, 6u);
  EXPECT_THAT(read.tombstones, ElementsAre(old));
}

TEST_F(TombstonesTest, NothingIsReadWithoutAHorizonAboveIt) {
  Ended(ann_, bob_);
  shards_.on(0).Execute("UPDATE tombstone_sweep SET horizon = 5");
  EXPECT_FALSE(Read().due);
  shards_.on(0).Execute("DELETE FROM tombstone_sweep");
  EXPECT_FALSE(Read().due);
  EXPECT_THAT(Read().tombstones, IsEmpty());
}

TEST_F(TombstonesTest, PagesGoOnFromThePlaceAndTheNextSweepIsDueLater) {
  std::vector<Tombstone> all;
  for (uint64_t nth = 1; nth <= 3; ++nth) {
    for (const UserId dst : {bob_, cid_}) all.push_back(Ended(shards_.UserOn(0, nth), dst));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.edge < b.edge; });
  std::vector<Tombstone> seen;
  while (true) {
    const TombstonesRead read = Read(1);
    ASSERT_TRUE(read.due);
    seen.insert(seen.end(), read.tombstones.begin(), read.tombstones.end());
    MoveSweep(shards_.on(0), {0, 0, read.after, read.over ? EdgeKey{} : read.last});
    if (read.over) break;
  }
  EXPECT_EQ(seen, all);
  EXPECT_FALSE(Read().due) << "an hour after it began";
  EXPECT_TRUE(Read(1, std::chrono::seconds(0)).due);
}

TEST_F(TombstonesTest, APlaceThatHasMovedMeanwhileStays) {
  const EdgeKey one{UserId{1}, UserId{2}}, two{UserId{3}, UserId{4}};
  MoveSweep(shards_.on(0), {0, 0, {}, one});
  MoveSweep(shards_.on(0), {0, 0, {}, two});
  EXPECT_EQ(Read().after, one);
  MoveSweep(shards_.on(0), {0, 0, one, two});
  EXPECT_EQ(Read().after, two);
}

TEST_F(TombstonesTest, BothRowsGoTheReverseOneFirst) {
  const Tombstone one = Ended(ann_, bob_), two = Ended(ann_, cid_);
  const TombstonesDropped reverse = DropReverse(1, {one, two});
  EXPECT_EQ(reverse.deleted, 2u);
  EXPECT_THAT(reverse.gone, ElementsAre(one, two));
  EXPECT_THAT(DropReverse(1, {one}).gone, ElementsAre(one)) << "after a crash in between";
  EXPECT_EQ(DropForward({one, two}).deleted, 2u);
  EXPECT_EQ(shards_.Rows("following").size() + shards_.Rows("follower").size(), 0u);
  shards_.ExpectCountersMatchRows();
}

TEST_F(TombstonesTest, ManyGoInOneRequest) {
  std::vector<Tombstone> all;
  for (uint64_t n = 1; n <= 400; ++n) {
    all.push_back({{ann_, shards_.UserOn(1, n)}, kNow});
    const std::string dst = ToString(all.back().edge.dst), src = ToString(ann_);
    shards_.on(0).Execute("INSERT INTO following (src, dst, ver, state, pos, ut) VALUES (" + src +
                          "," + dst + "," + std::to_string(kNow) +
                          ",0,0,NOW(3) - INTERVAL 1 HOUR)");
    shards_.on(1).Execute("INSERT INTO follower (dst, bucket, src, ver, state, pos) VALUES (" +
                          dst + "," + std::to_string(BucketOf(ann_)) + "," + src + "," +
                          std::to_string(kNow) + ",0,0)");
  }
  EXPECT_EQ(DropReverse(1, all).deleted, 400u);
  EXPECT_EQ(DropForward(all).deleted, 400u);
}

// It was followed again, and unfollowed again, after it was read.
TEST_F(TombstonesTest, ARowThatChangedMeanwhileStays) {
  const Tombstone one = Ended(ann_, bob_), two = Ended(ann_, cid_);
  Relations::Result result;
  ASSERT_TRUE(relations_.Follow(ann_, bob_, kNow, &result).done());
  Ended(ann_, cid_);
  const TombstonesDropped reverse = DropReverse(1, {one, two});
  EXPECT_EQ(reverse.deleted, 0u);
  EXPECT_THAT(reverse.gone, IsEmpty());
  EXPECT_EQ(DropForward({one, two}).deleted, 0u);
  EXPECT_THAT(shards_.Rows("following"), SizeIs(2));
  shards_.ExpectConsistent();
}

// Somebody has edited it: a follow is no tombstone, whatever its version.
TEST_F(TombstonesTest, AReverseRowThatFollowsStays) {
  const Tombstone one = Ended(ann_, bob_);
  shards_.on(1).Execute("UPDATE follower SET state = 1");
  const TombstonesDropped reverse = DropReverse(1, {one});
  EXPECT_EQ(reverse.deleted, 0u);
  EXPECT_THAT(reverse.gone, IsEmpty());
}

TEST_F(TombstonesTest, AForwardRowThatBecameYoungOrAFriendshipsMeanwhileStays) {
  const Tombstone young = Ended(ann_, bob_), friends = Ended(ann_, cid_);
  Age(ann_, bob_, 0);  // an application's version was kept
  (void)AnnounceFriendship(shards_.on(0), friends.edge, 9);
  Age(ann_, cid_, 3'600);
  EXPECT_EQ(DropForward({young, friends}).deleted, 0u);
}

TEST_F(TombstonesTest, TheHorizonOnlyGrows) {
  const UnixMs horizon = ReadHorizon(shards_.on(0));
  EXPECT_GT(horizon, 0);
  RaiseHorizonTo(shards_.on(0), horizon - 1);
  EXPECT_EQ(ReadHorizon(shards_.on(0)), horizon);
  RaiseHorizonTo(shards_.on(0), horizon + 1);
  EXPECT_EQ(ReadHorizon(shards_.on(0)), horizon + 1);
  EXPECT_EQ(ReadHorizon(shards_.on(1)), 0) << "each shard has its own";
  ShardConnections connections(shards_.config());
  UnixMs highest = 0;
  ASSERT_TRUE(ReadHighestHorizon(connections, shards_.count(), &highest).done());
  EXPECT_EQ(highest, horizon + 1);
}

// The tombstone that would keep such a follow out may be gone.
TEST_F(TombstonesTest, AnEventOlderThanTheHorizonIsRefusedAndAYoungerOneIsNot) {
  MysqlForwardStore forward(shards_.config(), HealthSink(), kNoLog, {shards_.map()});
  const UnixMs horizon = ReadHorizon(shards_.on(0));
  EdgeChange change{.src = ann_,
                    .dst = bob_,
                    .live = true,
                    .unix_us = kNow,
                    .origin = Origin::kApplication,
                    .origin_version = 5,
                    .since = horizon - 1};
  const EdgeChanged refused = Ask(forward, ChangeEdge{0, change});
  EXPECT_TRUE(refused.status.never());
  EXPECT_THAT(refused.status.message, HasSubstr("may be forgotten"));
  EXPECT_EQ(shards_.Forward(ann_, bob_), "-");
  change.since = horizon;
  EXPECT_TRUE(Ask(forward, ChangeEdge{0, change}).forward.changed);
  change.src = bob_;  // nothing was ever collected there
  change.dst = ann_;
  change.since = 1;
  EXPECT_TRUE(Ask(forward, ChangeEdge{0, change}).forward.changed);
}

TEST_F(TombstonesTest, WhoReadsRowsOfEdgesIsToldTheHorizonOfTheirForwardShard) {
  MysqlRepairStore store(shards_.config(), shards_.map(), kNoLog);
  EXPECT_EQ(Ask(store, ReadEdges{0, {{ann_, bob_}}}).horizon, ReadHorizon(shards_.on(0)));
  EXPECT_EQ(Ask(store, ReadEdges{0, {{bob_, ann_}}}).horizon, 0);
}

// A server that took over lacks it.
TEST_F(TombstonesTest, NoForwardRowGoesWithoutTheHorizon) {
  const Tombstone one = Ended(ann_, bob_);
  shards_.on(0).Execute("UPDATE tombstone_sweep SET horizon = 5");
  EXPECT_EQ(DropForward({one}).deleted, 0u);
}

TEST_F(TombstonesTest, AScanHasPassedOnceBothDirectionsAreProved) {
  MysqlTombstoneStore store(shards_.config(), HealthSink(), kNoLog);
  const auto passed = [&] { return Ask(store, ReadScanPassed{0, 1}).passed; };
  EXPECT_EQ(passed(), 0);
  shards_.on(1).Execute(
      "INSERT INTO full_scan (edges, shard, passed, proved) VALUES"
      " ('following', 1, 90, 70), ('forward.follows', 1, 90, 10)");
  EXPECT_EQ(passed(), 0);
  shards_.on(1).Execute(
      "INSERT INTO full_scan (edges, shard, passed, proved) VALUES ('follower', 1, 90, 80)");
  EXPECT_EQ(passed(), 70);
  shards_.on(1).Execute("UPDATE full_scan SET proved = 0 WHERE edges = 'follower'");
  EXPECT_EQ(passed(), 0);
}

TEST_F(TombstonesTest, ASweepOfAClockThatWasAheadIsDue) {
  shards_.on(0).Execute("UPDATE tombstone_sweep SET began = 1e15");
  EXPECT_TRUE(Read().due);
}

TEST_F(TombstonesTest, ThePortServesAWholeSweep) {
  MysqlTombstoneStore store(shards_.config(), HealthSink(), kNoLog);
  const Tombstone one = Ended(ann_, bob_);
  const UnixMs before = Before();
  EXPECT_TRUE(Ask(store, RaiseHorizon{0, 0, before + 5'000}).status.done());
  const TombstonesRead read = Ask(store, ReadTombstones{0, 0, before, 10, std::chrono::hours(1)});
  EXPECT_THAT(read.tombstones, ElementsAre(one));
  EXPECT_THAT(Ask(store, DropTombstones{0, 1, true, before, read.tombstones}).gone,
              ElementsAre(one));
  EXPECT_EQ(Ask(store, DropTombstones{0, 0, false, before, read.tombstones}).deleted, 1u);
  EXPECT_TRUE(Ask(store, MoveTombstoneSweep{0, 0, read.after, {}}).status.done());
  EXPECT_FALSE(Ask(store, ReadTombstones{0, 0, before, 10, std::chrono::hours(1)}).due);
}

}  // namespace
}  // namespace fanline::mysql
