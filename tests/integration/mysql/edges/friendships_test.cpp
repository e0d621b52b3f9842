// Friend requests and their edges on two real shards: the two users' rows lie apart.
#include "tests/integration/mysql/friendships.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/mysql/edges/change_log.h"
#include "backends/mysql/edges/forward_edges.h"
#include "fanline/ports/forward_edges.h"
#include "tests/integration/mysql/blocking_edges.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using enum FriendAction;

class FriendshipsTest : public ::testing::Test {
 protected:
  FriendshipStep Do(FriendAction action, UserId who, UserId whom, uint64_t now = kNow) {
    FriendshipStep changed;
    const Status status = friendships_.Change(action, who, whom, now, &changed);
    EXPECT_TRUE(status.done()) << status.message;
    return changed;
  }
  LoggedChange BecomeFriends(uint64_t now = kNow) {
    Do(kRequest, ann_, bob_, now);
    Do(kAccept, bob_, ann_, now + 1'000);
    return Logged();
  }
  // What the last change of the pair left for a relay.
  LoggedChange Logged() {
    std::vector<LoggedChange> pending;
    EXPECT_TRUE(log_.ReadPending(friendships_.PairShard(ann_, bob_), 0, 1'000, &pending).done());
    std::erase_if(pending, [](const auto& each) { return each.kind != ChangeKind::kFriendship; });
    return pending.at(pending.size() - 1);
  }
  bool Follows(UserId src, UserId dst) {
    return shards_.Number(shards_.map().ShardOf(src),
                          "SELECT COUNT(*) FROM following WHERE state = 1 AND src = " +
                              ToString(src) + " AND dst = " + ToString(dst)) == 1;
  }
  ForwardChanged Change(UserId src, UserId dst, bool live, uint64_t now) {
    ForwardChanged changed;
    const Status status = forward_.Change({src, dst, live, now}, &changed);
    EXPECT_TRUE(status.done()) << status.message;
    return changed;
  }
  static Status Write(const LoggedChange& change, ForwardEdges& forward) {
    for (const EdgeChange& edge : EdgesOfFriendship(change.edge)) {
      ForwardChanged changed;
      if (Status status = forward.Change(edge, &changed); !status.done()) return status;
    }
    return Status::Done();
  }
  void WriteEdges(const LoggedChange& change) {
    const Status status = Write(change, forward_);
    EXPECT_TRUE(status.done()) << status.message;
  }
  // What a relay would do with everything that is pending.
  void RelayAll() {
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      std::vector<LoggedChange> pending;
      ASSERT_TRUE(log_.ReadPending(shard, 0, 1'000, &pending).done());
      for (const LoggedChange& change : pending) {
        if (change.kind == ChangeKind::kFriendship) WriteEdges(change);
        ASSERT_TRUE(log_.MarkDone(shard, {change.row()}).done());
      }
    }
  }

  RelationShards shards_;
  ShardConnections connections_{shards_.config()};
  Friendships friendships_{shards_.config(), shards_.map()};
  ForwardEdges forward_{connections_, shards_.map()};
  ChangeLog log_{connections_};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(FriendshipsTest, WhatMayNotBeDoneIsRefusedAndLeavesNoRow) {
  FriendshipStep changed;
  const Status status = friendships_.Change(kAccept, bob_, ann_, kNow, &changed);
  EXPECT_TRUE(status.never());
  EXPECT_EQ(status.message, "there is no request to answer");
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM friend_request"), 0);
}

TEST_F(FriendshipsTest, OneWhoIsKilledBetweenTheEdgesIsMadeUpForByTheNext) {
  const LoggedChange accepted = BecomeFriends();
  {
    Config broken = shards_.config();  // the edges' second shard is gone when the first is written
    const Shard second = shards_.map().ShardOf(std::max(ann_, bob_));
    broken.shards[second].port = 1;
    ShardConnections connections(broken);
    ForwardEdges forward(connections, shards_.map());
    EXPECT_TRUE(Write(accepted, forward).later());
  }
  EXPECT_NE(Follows(ann_, bob_), Follows(bob_, ann_));
  RelayAll();
  EXPECT_TRUE(Follows(ann_, bob_) && Follows(bob_, ann_));
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM log1 WHERE kind = 1 AND state = 1"), 2);
  shards_.ExpectCountersMatchRows();
}

// A writer whose clock was far ahead announced and died before the commit. A user's change settles
// what never comes, and the pair's next change is above it.
TEST_F(FriendshipsTest, WhatWasAnnouncedAndNeverCameHoldsUpNothing) {
  const uint64_t ahead = kNow + 3'600'000'000;
  for (const EdgeKey& edge : {EdgeKey{ann_, bob_}, EdgeKey{bob_, ann_}}) {
    EXPECT_EQ(AnnounceFriendship(shards_.of(edge.src), edge, ahead), 0u);
  }
  EXPECT_EQ(shards_.Forward(ann_, bob_), "1 0 0");
  EXPECT_FALSE(Change(ann_, bob_, false, kNow).changed);
  EXPECT_EQ(AnnounceFriendship(shards_.of(ann_), {ann_, bob_}, 1), ahead);
  const LoggedChange accepted = BecomeFriends();
  EXPECT_EQ(accepted.edge.ver, ahead + 1);
  RelayAll();
  EXPECT_TRUE(Follows(ann_, bob_) && Follows(bob_, ann_));
  EXPECT_TRUE(Change(ann_, bob_, false, kNow + 10'000).changed);
  WriteEdges(accepted);
  EXPECT_FALSE(Follows(ann_, bob_));
}

TEST_F(FriendshipsTest, AcceptingIsRefusedWhileEitherFollowsAsManyAsMayBe) {
  Friendships few(shards_.config(), shards_.map(), 1);
  Do(kRequest, ann_, bob_);
  const auto refused = [&](FriendAction action, UserId who, UserId whom, UserId full) {
    FriendshipStep step;
    const Status status = few.Change(action, who, whom, kNow, &step);
    EXPECT_TRUE(status.never());
    EXPECT_EQ(status.message, "user " + ToString(full) + " follows 1 already");
    EXPECT_EQ(step.over_limit, full);
    EXPECT_EQ(step.now.state, FriendState::kAsked);
    EXPECT_FALSE(step.changed);
  };
  for (const UserId full : {ann_, bob_}) {
    Change(full, UserId{101}, true, kNow);
    refused(kAccept, bob_, ann_, full);
    refused(kRequest, bob_, ann_, full);  // both have asked: that is accepting
    Change(full, UserId{101}, false, kNow);
  }
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM following WHERE friend_announced > 0"), 0);
  Change(ann_, bob_, true, kNow);  // the one edge more is there already
  FriendshipStep step;
  EXPECT_TRUE(few.Change(kAccept, bob_, ann_, kNow, &step).done());
  EXPECT_EQ(step.now.state, FriendState::kFriends);
  RelayAll();
  EXPECT_EQ(shards_.FollowingCount(ann_), 1);
  EXPECT_EQ(shards_.FollowingCount(bob_), 1);
  EXPECT_TRUE(few.Change(kRemove, bob_, ann_, kNow, &step).done());
}

TEST_F(FriendshipsTest, AskingAndAcceptingTakeOneOfTheChangesOfAnHour) {
  const auto leave_none = [&](UserId user) {
    Change(user, UserId{101}, true, kNow);
    shards_.of(user).Execute(
        "UPDATE user_rel SET changes_until = (UNIX_TIMESTAMP() + 3600) *"
        " 1000000 WHERE user_id = " +
        ToString(user));
  };
  const auto refused = [&](FriendAction action, UserId who, UserId whom) {
    FriendshipStep step;
    const Status status = friendships_.Change(action, who, whom, kNow, &step);
    EXPECT_TRUE(status.never());
    EXPECT_EQ(status.message, "has made all 416 changes of an hour");
    ASSERT_TRUE(step.again_in);
    EXPECT_GE(step.again_in->count(), 1);
    EXPECT_LE(step.again_in->count(), 9);
  };
  leave_none(ann_);
  refused(kRequest, ann_, bob_);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM friend_request"), 0);
  EXPECT_TRUE(Do(kRequest, bob_, ann_).changed) << "the other one may";
  refused(kAccept, ann_, bob_);
  EXPECT_FALSE(Do(kRequest, bob_, ann_).changed);
  EXPECT_TRUE(Do(kRefuse, ann_, bob_).changed) << "what declines or ends is not counted";
  EXPECT_TRUE(Do(kRequest, bob_, ann_).changed);
  leave_none(bob_);
  EXPECT_TRUE(Do(kCancel, bob_, ann_).changed);
  refused(kRequest, bob_, ann_);
  EXPECT_EQ(shards_.Number(shards_.map().ShardOf(bob_),
                           "SELECT COUNT(*) FROM following WHERE friend_announced > 0"),
            0);
}

TEST_F(FriendshipsTest, WithAShardAwayNobodyBecomesFriendsAndTheOthersStillAsk) {
  Config broken = shards_.config();
  const UserId low = std::min(ann_, bob_), high = std::max(ann_, bob_);
  const Shard second = shards_.map().ShardOf(high);
  broken.shards[second].port = 1;
  Friendships friendships(broken, shards_.map());
  FriendshipStep changed;
  EXPECT_TRUE(friendships.Change(kRequest, low, high, kNow, &changed).done());
  const Status status = friendships.Change(kAccept, high, low, kNow + 1'000, &changed);
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, ResourceOf(second));
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM log1 WHERE kind = 2"), 0);
  EXPECT_TRUE(Do(kAccept, high, low, kNow + 2'000).changed);
}

// Two users and their friendship, by clocks that are up to five seconds off, relayed late, twice
// and out of order: each edge ends as it was said last.
TEST_F(FriendshipsTest, WhateverIsSaidLastOfAnEdgeStays) {
  testing::Seeded random;
  std::vector<LoggedChange> late;
  bool says_ann = false, says_bob = false, friends = false;
  const auto relay = [&] {
    std::shuffle(late.begin(), late.end(), random.engine());
    while (!late.empty() && !random.OneIn(4)) {
      WriteEdges(late.back());
      if (!random.OneIn(3)) late.pop_back();
    }
  };
  for (int n = 0; n < 120; ++n) {
    const uint64_t now = kNow + static_cast<uint64_t>(n) * 100'000 + random.Below(10'000'000);
    switch (random.Below(4)) {
      case 0:
        Change(ann_, bob_, says_ann = random.OneIn(2), now);
        break;
      case 1:
        Change(bob_, ann_, says_bob = random.OneIn(2), now);
        break;
      case 2:
        if (!friends) Do(kRequest, ann_, bob_, now);
        Do(friends ? kRemove : kAccept, bob_, ann_, now);
        late.push_back(Logged());
        friends = says_ann = says_bob = !friends;
        break;
      default:
        relay();
        if (random.OneIn(2)) RelayAll();
        if (shards_.Total("SELECT COUNT(*) FROM log1 WHERE done = 0 AND kind = 2") > 0) break;
        ASSERT_EQ(Follows(ann_, bob_), says_ann) << "change " << n;
        ASSERT_EQ(Follows(bob_, ann_), says_bob) << "change " << n;
        shards_.ExpectCountersMatchRows();
    }
  }
}

// Both ask, answer and remove at once, on one pair: nobody is told of an error of the shards, and
// the edges end as the row says, in whatever order its changes are relayed.
TEST_F(FriendshipsTest, BothActingAtOnceEndsInEdgesThatAgreeWithTheRow) {
  testing::Seeded seeded;
  std::vector<std::thread> actors;
  for (int i = 0; i < 4; ++i) {
    actors.emplace_back([&, i, seed = seeded.Bits()] {
      std::mt19937_64 random(seed);
      const UserId who = i % 2 == 0 ? ann_ : bob_, whom = i % 2 == 0 ? bob_ : ann_;
      for (int n = 0; n < 60; ++n) {
        FriendshipStep changed;
        const Status status =
            friendships_.Change(static_cast<FriendAction>(random() % 5), who, whom, kNow, &changed);
        EXPECT_FALSE(status.later()) << status.message;
      }
    });
  }
  for (std::thread& actor : actors) actor.join();
  std::vector<LoggedChange> pending;
  ASSERT_TRUE(log_.ReadPending(friendships_.PairShard(ann_, bob_), 0, 1'000, &pending).done());
  std::shuffle(pending.begin(), pending.end(), seeded.engine());
  for (const LoggedChange& change : pending) WriteEdges(change);
  Friendship now;
  ASSERT_TRUE(friendships_.Read(ann_, bob_, &now).done());
  EXPECT_EQ(Follows(ann_, bob_), now.state == FriendState::kFriends);
  EXPECT_EQ(Follows(bob_, ann_), now.state == FriendState::kFriends);
  shards_.ExpectCountersMatchRows();
}

}  // namespace
}  // namespace fanline::mysql
