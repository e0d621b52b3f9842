// Whom the shards know, on real shards.
#include "backends/mysql/tools/users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/mysql/relations.h"
#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;

class UsersTest : public ::testing::Test {
 protected:
  std::vector<UserId> ReadersOn(Shard shard) {
    std::vector<UserId> readers;
    EXPECT_TRUE(ScanReaders(connections_, shard, [&](UserId r) { readers.push_back(r); }).done());
    return readers;
  }
  bool Knows(UserId user) {
    bool known = false;
    EXPECT_TRUE(IsKnown(connections_, shards_.map(), user, &known).done());
    return known;
  }

  Shards shards_;
  ShardConnections connections_{shards_.config()};
  Relations relations_{shards_.config(), shards_.map()};
  Relations::Result result_;
  const UserId reader_ = shards_.UserOn(0, 2);
  const UserId other_reader_ = shards_.UserOn(0, 1);
  const UserId author_ = shards_.UserOn(1, 1);
};

TEST_F(UsersTest, ReadersAreThoseWhoFollowSomebodyNow) {
  ASSERT_TRUE(relations_.Follow(reader_, author_, 1, &result_).done());
  ASSERT_TRUE(relations_.Follow(other_reader_, author_, 1, &result_).done());
  EXPECT_THAT(ReadersOn(0), ElementsAre(other_reader_, reader_));
  EXPECT_THAT(ReadersOn(1), ElementsAre());
  ASSERT_TRUE(relations_.Unfollow(reader_, author_, 2, &result_).done());
  EXPECT_THAT(ReadersOn(0), ElementsAre(other_reader_));
}

TEST_F(UsersTest, AUserIsKnownByFollowingBeingFollowedOrHavingPosted) {
  EXPECT_FALSE(Knows(reader_));
  EXPECT_FALSE(Knows(author_));
  ASSERT_TRUE(relations_.Follow(reader_, author_, 1, &result_).done());
  EXPECT_TRUE(Knows(reader_));
  EXPECT_TRUE(Knows(author_));

  EXPECT_FALSE(Knows(other_reader_));
  shards_.of(other_reader_)
      .Execute("INSERT INTO author (author_id, last_at) VALUES (" + ToString(other_reader_) +
               ", 5)");
  EXPECT_TRUE(Knows(other_reader_));
}

TEST_F(UsersTest, WhoUnfollowedEverybodyIsStillKnown) {
  ASSERT_TRUE(relations_.Follow(reader_, author_, 1, &result_).done());
  ASSERT_TRUE(relations_.Unfollow(reader_, author_, 2, &result_).done());
  EXPECT_TRUE(Knows(reader_));
}

}  // namespace
}  // namespace fanline::mysql
