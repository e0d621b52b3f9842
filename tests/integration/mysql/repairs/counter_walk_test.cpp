// Everybody whose counters are to be looked at, on two real shards.
#include "backends/mysql/repairs/counter_repair.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/integration/mysql/shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

class CounterWalkTest : public ::testing::Test {
 protected:
  // Each puts a row of one kind that makes its owner one to be looked at.
  void PutFollowing(UserId user) {
    shards_.of(user).Execute("INSERT INTO following (src, dst, ver, state, pos) VALUES (" +
                             ToString(user) + ", 7, 1, 1, 1)");
  }
  void PutFollower(UserId user) { shards_.PutFollower(user, UserId{7}); }
  void PutCounter(const std::string& table, UserId user) {
    shards_.of(user).Execute("INSERT INTO " + table + " (user_id) VALUES (" + ToString(user) + ")");
  }

  // Shard by shard.
  std::vector<UserId> Met(uint32_t rows) {
    std::vector<UserId> met;
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      OwnersPage page{.owners = {}, .known = UserId{}};
      while (page.known) {
        page = ReadOwners(shards_.on(shard), shards_.map(), *page.known, rows);
        met.insert(met.end(), page.owners.begin(), page.owners.end());
      }
    }
    return met;
  }

  testing::Seeded seeded_;
  Shards shards_;
};

TEST_F(CounterWalkTest, EverybodyWithACounterOrARowIsMetOnceInOrderWhateverTheLimit) {
  std::set<std::pair<Shard, UserId>> owners;
  while (owners.size() < 120) {
    const UserId user{seeded_.Id()};
    if (!owners.insert({shards_.map().ShardOf(user), user}).second) continue;
    const uint64_t kinds = 1 + seeded_.Below(15);  // at least one of four
    if (kinds & 1) PutFollowing(user);
    if (kinds & 2) PutFollower(user);
    if (kinds & 4) PutCounter("user_rel", user);
    if (kinds & 8) PutCounter("user_fan", user);
  }
  std::vector<UserId> expected;
  for (const auto& [shard, user] : owners) expected.push_back(user);
  for (const uint32_t rows : {1u, 2u, 13u, 5'000u}) EXPECT_EQ(Met(rows), expected) << rows;
}

TEST_F(CounterWalkTest, AnOwnerOfManyRowsIsMetOnce) {
  const UserId star = shards_.UserOn(0, 2), other = shards_.UserOn(0, 3);
  std::vector<UserId> followers;
  for (uint64_t n = 100; n < 400; ++n) followers.push_back(UserId{n});
  shards_.PutFollowers(star, followers);
  PutFollower(other);
  for (const uint32_t rows : {1u, 7u, 300u, 301u, 5'000u}) {
    EXPECT_EQ(Met(rows), (std::vector<UserId>{star, other})) << rows << " rows";
  }
}

TEST_F(CounterWalkTest, RowsOnAShardThatIsNotTheirOwnersArePassedOver) {
  const UserId ann = shards_.UserOn(1, 1), bob = shards_.UserOn(1, 2);
  for (const UserId stray : {ann, bob}) {
    shards_.on(0).Execute("INSERT INTO user_rel (user_id) VALUES (" + ToString(stray) + ")");
  }
  const UserId at_home = shards_.UserOn(0, 50);
  PutCounter("user_rel", at_home);
  EXPECT_EQ(Met(1), std::vector<UserId>{at_home});
}

}  // namespace
}  // namespace fanline::mysql
