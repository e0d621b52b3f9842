#include "api/touched.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::api {
namespace {

using ::testing::ElementsAre;

class TouchedTest : public ::testing::Test {
 protected:
  // The number-th user on a shard.
  UserId User(Shard shard, int number = 0) const {
    uint64_t id = 1;
    for (;; ++id) {
      if (map_.ShardOf(UserId{id}) == shard && number-- == 0) return UserId{id};
    }
  }
  std::vector<Shard> All(const Call& call) const { return TouchedBy(call, map_).all; }

  const ShardMap map_ = ShardMap::Even(3);
};

TEST_F(TouchedTest, MostAskTheUsersOwnShardAlone) {
  const UserId ann = User(1), bob = User(2);
  for (const Call& call :
       {Call(FollowCall{{ann, bob}, true}), Call(RelationCall{ann, bob, 0}),
        Call(ListCall{UserList::kFollowers, ann, {}, 5, {}}), Call(CountsCall{ann}),
        Call(CheckCall{ann, Sides::kBoth, {{Raw(bob)}}, {}})}) {
    EXPECT_THAT(All(call), ElementsAre(1));
    EXPECT_EQ(TouchedBy(call, map_).first, 1u);
  }
}

TEST_F(TouchedTest, AFriendshipIsWhereThePairsRowIsAndAChangeOfItWithBoth) {
  const UserId ann = User(1), bob = User(2);
  const Shard of_the_lower = map_.ShardOf(std::min(ann, bob));
  EXPECT_THAT(All(FriendshipCall{ann, bob, {}}), ElementsAre(of_the_lower));
  EXPECT_THAT(All(FriendshipCall{bob, ann, {}}), ElementsAre(of_the_lower));
  const FriendshipCall accept{bob, ann, FriendAction::kAccept};
  EXPECT_THAT(All(accept), ElementsAre(1, 2));
  EXPECT_EQ(TouchedBy(accept, map_).first, of_the_lower);
}

TEST_F(TouchedTest, WhoLooksAtSomebodyElsesListAsksTheirOwnShardToo) {
  const ListCall call{UserList::kFollowing, User(2), {}, 5, User(0)};
  EXPECT_THAT(All(call), ElementsAre(0, 2));
  EXPECT_EQ(TouchedBy(call, map_).first, 2u);
}

TEST_F(TouchedTest, FamiliarFollowersAreCheckedWhereTheFollowedOneIs) {
  const FamiliarCall call{User(1), User(0), 5};
  EXPECT_THAT(All(call), ElementsAre(0, 1));
  EXPECT_EQ(TouchedBy(call, map_).first, 1u);
}

TEST_F(TouchedTest, AnItemWithAVersionMayAskItsOwnShard) {
  CheckCall call{User(0), Sides::kBoth, {{Raw(User(1))}, {Raw(User(2)), 7}, {0, 7}}, {}};
  EXPECT_THAT(All(call), ElementsAre(0, 2));
  call.sides = Sides::kFollowing;
  EXPECT_THAT(All(call), ElementsAre(0));
}

}  // namespace
}  // namespace fanline::api
