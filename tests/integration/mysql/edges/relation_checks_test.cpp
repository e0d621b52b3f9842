// How users stand to each other, on two real shards.
#include "backends/mysql/edges/edge_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/edges/relation_store.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using enum Relation;
using ::testing::ElementsAre;

class RelationChecksTest : public ::testing::Test {
 protected:
  uint64_t Follow(UserId src, UserId dst) {
    Relations::Result result;
    EXPECT_TRUE(relations_.Follow(src, dst, ++now_, &result).done());
    return result.version;
  }
  std::vector<Standing> Standings(UserId user, std::vector<UserId> others,
                                  Sides sides = Sides::kBoth) {
    const UsersChecked checked = Ask(store_, CheckUsers{0, user, std::move(others), sides});
    EXPECT_TRUE(checked.status.done()) << checked.status.message;
    return checked.standings;
  }
  std::vector<Relation> Check(UserId user, std::vector<UserId> others, Sides sides = Sides::kBoth) {
    std::vector<Relation> relations;
    for (const Standing& each : Standings(user, std::move(others), sides)) {
      relations.push_back(each.relation());
    }
    return relations;
  }

  uint64_t now_ = 1'700'000'000'000'000;
  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  MysqlRelations store_{shards_.config(), HealthSink(), kNoLog, {shards_.map()}};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1),
               cid_ = shards_.UserOn(0, 2), dee_ = shards_.UserOn(1, 2),
               eve_ = shards_.UserOn(0, 3);
};

TEST_F(RelationChecksTest, EachIsAnsweredInTheOrderAskedAlsoWhenAskedTwice) {
  Follow(ann_, bob_);
  Follow(cid_, ann_);
  Follow(ann_, dee_);
  Follow(dee_, ann_);
  EXPECT_THAT(Check(ann_, {dee_, bob_, eve_, cid_, bob_, ann_}),
              ElementsAre(kMutual, kFollowing, kNone, kFollower, kFollowing, kNone));
  EXPECT_THAT(Check(ann_, {dee_, cid_}, Sides::kFollowing), ElementsAre(kFollowing, kNone));
  EXPECT_THAT(Check(ann_, {dee_, bob_}, Sides::kFollowers), ElementsAre(kFollower, kNone));
  EXPECT_THAT(Check(ann_, {}), ElementsAre());
}

TEST_F(RelationChecksTest, FiveHundredAreAnsweredAsOneByOne) {
  testing::Seeded seeded;
  std::vector<UserId> users;
  for (uint64_t n = 0; n < 500; ++n) users.push_back(UserId{10'000 + seeded.Below(400)});
  for (int i = 0; i < 60; ++i) {
    Follow(ann_, UserId{10'000 + seeded.Below(400)});
    Follow(UserId{10'000 + seeded.Below(400)}, ann_);
  }
  const auto all = Check(ann_, users);
  for (size_t i = 0; i < users.size(); i += 7) {
    EXPECT_THAT(Check(ann_, {users[i]}), ElementsAre(all[i])) << Raw(users[i]);
  }
}

// The mirror lags behind: the reverse row says its own version, and the forward row is the truth.
TEST_F(RelationChecksTest, ARowSaysWhichVersionItKnows) {
  const uint64_t version = Follow(bob_, ann_);
  shards_.of(ann_).Execute("UPDATE follower SET ver = 1, state = 0");
  EXPECT_EQ(Standings(ann_, {bob_}).at(0).follower.ver, 1u);
  const ForwardRead read =
      Ask(store_, ReadForward{0, shards_.map().ShardOf(bob_), {{bob_, eve_}, {bob_, ann_}}});
  ASSERT_TRUE(read.status.done()) << read.status.message;
  EXPECT_EQ(read.states.at(0), EdgeState{});
  EXPECT_EQ(read.states.at(1), (EdgeState{version, true, static_cast<UnixMs>(version / 1'000)}));
}

TEST_F(RelationChecksTest, APairIsReadFromBothDirections) {
  const uint64_t one = Follow(ann_, bob_);
  EXPECT_EQ(Ask(store_, ReadPair{0, ann_, bob_}).pair.relation(), kFollowing);
  EXPECT_EQ(Ask(store_, ReadPair{0, bob_, ann_}).pair.relation(), kFollower);
  const uint64_t other = Follow(bob_, ann_);
  const PairState pair = Ask(store_, ReadPair{0, ann_, bob_}).pair;
  EXPECT_EQ(pair.following.ver, one);
  EXPECT_EQ(pair.followed_by.ver, other);
}

}  // namespace
}  // namespace fanline::mysql
