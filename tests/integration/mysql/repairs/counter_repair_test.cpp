// Counters that drifted, repaired on two real shards while edges are being written.
#include "backends/mysql/repairs/counter_repair.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

// One thread at a time; both outlive it.
class CounterRepair {
 public:
  CounterRepair(ShardConnections& connections, const ShardMap& map)
      : connections_(connections), map_(map) {}

  Status Repair(const UserCounter& counter, CounterFound* out) {
    return connections_.Run(map_.ShardOf(counter.user),
                            [&](Connection& connection) { *out = RepairOne(connection, counter); });
  }
  // All users lie on one shard.
  Status Look(std::span<const UserId> users, std::vector<CountersSeen>* out) {
    return connections_.Run(map_.ShardOf(users.front()),
                            [&](Connection& connection) { *out = LookAt(connection, users); });
  }

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
};

class CounterRepairTest : public ::testing::Test {
 protected:
  void Follow(UserId src, UserId dst) {
    Relations::Result result;
    ASSERT_TRUE(relations_.Follow(src, dst, kNow, &result).done());
  }
  CounterFound Following(UserId user) {
    CounterFound repaired;
    EXPECT_TRUE(repair_.Repair({user, Counter::kFollowed}, &repaired).done());
    return repaired;
  }
  CounterFound Followers(UserId user) {
    CounterFound repaired;
    EXPECT_TRUE(repair_.Repair({user, Counter::kFollowers}, &repaired).done());
    return repaired;
  }
  // Ann and twenty others follow and unfollow each other. Any thread.
  void FollowAndUnfollow(uint64_t seed, int times) {
    std::mt19937_64 random(seed);
    Relations relations(shards_.config(), shards_.map());
    for (int n = 0; n < times; ++n) {
      const bool out = random() % 2 == 0;
      const UserId other{100 + random() % 20};
      const UserId src = out ? ann_ : other, dst = out ? other : ann_;
      Relations::Result result;
      const Status status = random() % 2 == 0 ? relations.Follow(src, dst, kNow, &result)
                                              : relations.Unfollow(src, dst, kNow, &result);
      EXPECT_TRUE(status.done()) << status.message;
    }
  }

  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  ShardConnections connections_{shards_.config()};
  CounterRepair repair_{connections_, shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

TEST_F(CounterRepairTest, ALookTellsWhatDiffersAndWritesNothing) {
  const UserId cid = shards_.UserOn(0, 2), nobody = shards_.UserOn(0, 3);
  Follow(ann_, bob_);
  Follow(ann_, cid);
  Follow(cid, ann_);
  shards_.on(0).Execute("UPDATE user_rel SET following_cnt = -4 WHERE user_id = " + ToString(ann_));
  shards_.on(0).Execute("UPDATE user_fan SET fans_cnt = 9 WHERE user_id = " + ToString(ann_));
  shards_.on(0).Execute("DELETE FROM user_rel WHERE user_id = " + ToString(cid));
  const UserId users[] = {ann_, cid, nobody};
  std::vector<CountersSeen> seen;
  ASSERT_TRUE(repair_.Look(users, &seen).done());
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].user, ann_);
  EXPECT_EQ(seen[0].followed.counter, -4);
  EXPECT_EQ(seen[0].followed.rows, 2);
  EXPECT_EQ(seen[0].followers.counter, 9);
  EXPECT_EQ(seen[0].followers.rows, 1);
  EXPECT_EQ(seen[1].followed.drift(), 1);  // it has no row of user_rel
  EXPECT_EQ(seen[1].followers.drift(), 0);
  EXPECT_EQ(seen[2].followed.rows, 0);
  EXPECT_EQ(seen[2].followers.drift(), 0);
  EXPECT_EQ(shards_.FollowingCount(ann_), -4);
  EXPECT_EQ(shards_.FansCount(ann_), 9);
  EXPECT_EQ(shards_.Total("SELECT SUM(epoch) FROM user_rel"), 0);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM user_rel"), 1);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM repair_log"), 0);
}

// A look reads counters and rows of one moment: a half-written change is not drift.
TEST_F(CounterRepairTest, ALookAmongWritersSeesNoDrift) {
  testing::Seeded seeded;
  std::atomic<int> writing = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, seed = seeded.Bits()] {
      FollowAndUnfollow(seed, 200);
      --writing;
    });
  }
  std::vector<UserId> users{ann_};
  for (uint64_t n = 100; n < 120; ++n) {
    if (shards_.map().ShardOf(UserId{n}) == shards_.map().ShardOf(ann_)) users.push_back(UserId{n});
  }
  std::vector<CountersSeen> seen;
  uint64_t followed = 0, drifted = 0;
  while (writing > 0) {
    EXPECT_TRUE(repair_.Look(users, &seen).done());
    for (const CountersSeen& one : seen) {
      drifted += one.followed.drift() != 0 || one.followers.drift() != 0 ? 1 : 0;
      followed += static_cast<uint64_t>(one.followed.rows);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(followed, 0u);
  EXPECT_EQ(drifted, 0u);
}

// Eight writers follow and unfollow, somebody corrupts both counters again and again, and two
// repair them all the while. After a last repair, counters say how many rows there are, and stay
// so.
TEST_F(CounterRepairTest, CountersEndRightAlthoughWritersAndDriftGoOn) {
  testing::Seeded seeded;
  std::atomic<int> writing = 8;
  std::atomic<uint64_t> repairs = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, seed = seeded.Bits()] {
      FollowAndUnfollow(seed, 150);
      --writing;
    });
  }
  threads.emplace_back([&, seed = seeded.Bits()] {
    std::mt19937_64 random(seed);
    Connection connection(shards_.config(), 0);
    connection.Open();
    while (writing > 0) {
      const std::string by = std::to_string(static_cast<int>(random() % 7) - 3);
      connection.Execute("UPDATE user_rel SET following_cnt = following_cnt + (" + by + ")");
      connection.Execute("UPDATE user_fan SET fans_cnt = fans_cnt + (" + by + ")");
    }
  });
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      ShardConnections connections(shards_.config());
      CounterRepair repair(connections, shards_.map());
      while (writing > 0) {
        CounterFound repaired;
        EXPECT_TRUE(repair.Repair({ann_, Counter::kFollowed}, &repaired).done());
        repairs += repaired.repaired ? 1 : 0;
        EXPECT_TRUE(repair.Repair({ann_, Counter::kFollowers}, &repaired).done());
        repairs += repaired.repaired ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(repairs, 0u);
  for (const UserId user : {ann_, UserId{100}, UserId{119}}) {
    Following(user);
    Followers(user);
  }
  for (uint64_t n = 100; n < 120; ++n) {
    Following(UserId{n});
    Followers(UserId{n});
  }
  shards_.ExpectConsistent();
}

// Drift is there before; then only the writers and two repairers touch counters. The repair is
// exact, with no pass after the writers.
TEST_F(CounterRepairTest, ARepairAmongWritersIsExactAtOnce) {
  testing::Seeded seeded;
  for (uint64_t n = 100; n < 140; n += 2) Follow(ann_, UserId{n});
  shards_.of(ann_).Execute("UPDATE user_rel SET following_cnt = following_cnt + 1000");
  std::atomic<uint64_t> repairs = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i, seed = seeded.Bits()] {
      std::mt19937_64 random(seed);
      Relations relations(shards_.config(), shards_.map());
      ShardConnections connections(shards_.config());
      CounterRepair repair(connections, shards_.map());
      for (int n = 0; n < 150; ++n) {
        Relations::Result result;
        const UserId dst{100 + random() % 40};
        const Status status = random() % 2 == 0 ? relations.Follow(ann_, dst, kNow, &result)
                                                : relations.Unfollow(ann_, dst, kNow, &result);
        EXPECT_TRUE(status.done()) << status.message;
        if (i >= 2 || n % 10 != 5) continue;
        CounterFound repaired;
        EXPECT_TRUE(repair.Repair({ann_, Counter::kFollowed}, &repaired).done());
        repairs += repaired.repaired ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(repairs, 1u);
  shards_.ExpectConsistent();
}

}  // namespace
}  // namespace fanline::mysql
