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

}  // namespace
}  // namespace fanline::mysql
