// Lists of followed users, followers and friends on two real shards.
#include "backends/mysql/edges/relation_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMs = 1'000;  // microseconds

class RelationListsTest : public ::testing::Test {
 protected:
  void Follow(UserId src, UserId dst, uint64_t ms) {
    Relations::Result result;
    const Status status = relations_.Follow(src, dst, ms * kMs, &result);
    ASSERT_TRUE(status.done()) << status.message;
  }
  void Unfollow(UserId src, UserId dst, uint64_t ms) {
    Relations::Result result;
    ASSERT_TRUE(relations_.Unfollow(src, dst, ms * kMs, &result).done());
  }
  static ListPage Page(MysqlRelations& shards, UserList list, UserId user,
                       const std::optional<ListCursor>& after, uint32_t limit) {
    const ListRead read = Ask(shards, ReadList{0, list, user, after, limit});
    EXPECT_TRUE(read.status.done()) << read.status.message;
    return read.page;
  }
  // All pages, one after the other; `between` runs after each.
  static std::vector<uint64_t> Walk(MysqlRelations& shards, UserList list, UserId user,
                                    uint32_t limit, const std::function<void()>& between = {}) {
    std::vector<uint64_t> users;
    ListPage page;
    std::optional<ListCursor> after;
    do {
      page = Page(shards, list, user, after, limit);
      EXPECT_LE(page.entries.size(), limit);
      for (const ListEntry& entry : page.entries) users.push_back(Raw(entry.user));
      after = page.next;
      if (between) between();
    } while (after);
    return users;
  }

  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  MysqlRelations lists_{shards_.config(), HealthSink(), kNoLog, {shards_.map()}};
  // Shows no more than five followers.
  MysqlRelations five_{shards_.config(), HealthSink(), kNoLog, {shards_.map(), kMostFollowed, 5}};
  const UserId ann_ = shards_.UserOn(0, 1);
};

TEST_F(RelationListsTest, NewestComeFirstAndEqualTimesGoByTheHigherId) {
  Follow(ann_, UserId{103}, 5);
  Follow(ann_, UserId{104}, 9);
  Follow(ann_, UserId{101}, 7);
  Follow(ann_, UserId{102}, 7);
  Follow(ann_, UserId{105}, 8);
  Unfollow(ann_, UserId{105}, 10);
  for (uint32_t limit : {1u, 2u, 3u, 500u}) {
    EXPECT_THAT(Walk(lists_, UserList::kFollowing, ann_, limit), ElementsAre(104, 102, 101, 103));
  }
  const ListPage page = Page(lists_, UserList::kFollowing, ann_, {}, 4);
  EXPECT_EQ(page.entries.front(), (ListEntry{UserId{104}, 9, Delivery::kAll}));
  EXPECT_FALSE(page.next);
}

TEST_F(RelationListsTest, FollowersAndFriendsAreReadTheSameWay) {
  for (uint64_t n = 101; n <= 106; ++n) Follow(UserId{n}, ann_, n);
  for (uint64_t n = 104; n <= 108; ++n) Follow(ann_, UserId{n}, 300 - n);
  Unfollow(UserId{105}, ann_, 400);
  for (uint32_t limit : {1u, 2u, 500u}) {
    EXPECT_THAT(Walk(lists_, UserList::kFollowers, ann_, limit),
                ElementsAre(106, 104, 103, 102, 101));
    EXPECT_THAT(Walk(lists_, UserList::kFriends, ann_, limit), ElementsAre(104, 106));
  }
}

TEST_F(RelationListsTest, TheFollowersShownAreLimitedAndTheCounterIsNot) {
  for (uint64_t n = 101; n <= 107; ++n) Follow(UserId{n}, ann_, n);
  for (uint32_t limit : {1u, 2u, 3u, 5u, 500u}) {
    EXPECT_THAT(Walk(five_, UserList::kFollowers, ann_, limit),
                ElementsAre(107, 106, 105, 104, 103));
  }
  const RelationCounts counts = Ask(five_, CountRelations{0, ann_}).counts;
  EXPECT_EQ(counts.followers, 7);
  EXPECT_EQ(counts.following, 0);
}

TEST_F(RelationListsTest, ACursorThatSaysLessWasShownLeadsNoFurther) {
  for (uint64_t n = 101; n <= 120; ++n) Follow(UserId{n}, ann_, n);
  const auto followers = [&](const ListCursor& after) {
    return Page(five_, UserList::kFollowers, ann_, after, 500);
  };
  const ListPage page = followers({118, UserId{118}, 0});
  EXPECT_THAT(page.entries, ElementsAre(ListEntry{UserId{117}, 117}, ListEntry{UserId{116}, 116}));
  EXPECT_FALSE(page.next);
  for (const ListCursor& forged : {ListCursor{116, UserId{116}, 0}, ListCursor{110, UserId{1}, 1},
                                   ListCursor{1, UserId{101}, 4}}) {
    EXPECT_THAT(followers(forged).entries, ElementsAre()) << forged.pos;
    EXPECT_FALSE(followers(forged).next);
  }
}

TEST_F(RelationListsTest, AWalkDuringWritesShowsNothingTwiceAndSkipsNothingThatStayed) {
  testing::Seeded seeded;
  std::set<uint64_t> stay;
  for (uint64_t n = 0; n < 120; ++n) {
    Follow(UserId{1'000 + n}, ann_, 100 + seeded.Below(40));
    if (n % 3 != 0) stay.insert(1'000 + n);
  }
  uint64_t ms = 500;
  uint64_t next = 2'000;
  const auto write = [&] {
    const UserId moving{1'000 + seeded.Below(40) * 3};
    Unfollow(moving, ann_, ++ms);
    if (seeded.OneIn(2)) Follow(moving, ann_, ++ms);
    Follow(UserId{next++}, ann_, 100 + seeded.Below(40));
  };
  const auto shown = Walk(lists_, UserList::kFollowers, ann_, 7, write);
  const std::set<uint64_t> once(shown.begin(), shown.end());
  EXPECT_EQ(once.size(), shown.size());
  for (const uint64_t user : stay) EXPECT_TRUE(once.contains(user)) << user;
}

TEST_F(RelationListsTest, PagesAreReadInOrderFromTheIndexAlone) {
  Connection& connection = shards_.on(0);
  const std::string ann = ToString(ann_);
  connection.Execute(
      "INSERT INTO following (src, dst, ver, state, pos)"
      " SELECT IF(seq % 4 = 0, " +
      ann +
      ", 7000 + seq % 50), 100 + seq, 1, seq % 10 > 0, seq DIV 3"
      " FROM " +
      Numbers(20'000));
  connection.Execute(
      "INSERT INTO follower (dst, bucket, src, ver, state, pos)"
      " SELECT IF(seq % 4 = 0, " +
      ann +
      ", 7000 + seq % 50), CRC32(100 + seq) % 1024, 100 + seq,"
      " 1, seq % 10 > 0, seq DIV 3 FROM " +
      Numbers(20'000));
  connection.Query("ANALYZE TABLE following, follower", [](const Row&) {});
  // Columns of EXPLAIN. MySQL shows partitions and a filter, too.
  const uint32_t type = OnMySql() ? 5u : 4u, key = type + 2, extra = OnMySql() ? 12u : 10u;
  const std::optional<ListCursor> middle = ListCursor{3'000, UserId{9'103}, 10};
  for (const auto& after : {std::optional<ListCursor>(), middle}) {
    for (const auto list : {UserList::kFollowing, UserList::kFollowers, UserList::kFriends}) {
      const std::string sql = ListPageSql({.list = list, .user = ann_, .after = after}, 20);
      std::vector<std::string> keys;
      connection.Query("EXPLAIN FORMAT=TRADITIONAL " + sql, [&](const Row& row) {
        keys.push_back(row.Text(type) + " " + row.Text(key));
        EXPECT_THAT(row.Text(extra), Not(HasSubstr("filesort"))) << sql;
        EXPECT_THAT(row.Text(extra), Not(HasSubstr("temporary"))) << sql;
      });
      EXPECT_THAT(keys.at(0), HasSubstr("newest")) << sql;
      for (size_t i = 1; i < keys.size(); ++i) EXPECT_EQ(keys[i], "eq_ref PRIMARY") << sql;
    }
  }
}

}  // namespace
}  // namespace fanline::mysql
