// A wiped shard's forward rows, rebuilt from the reverse rows of two real shards, also beside
// writers.
#include "backends/mysql/tools/forward_restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "backends/mysql/edges/recounts.h"
#include "backends/mysql/sql/chunks.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class ForwardRestoreTest : public ::testing::Test {
 protected:
  void Follow(UserId src, UserId dst, uint64_t unix_us = kNow) {
    Relations::Result result;
    ASSERT_TRUE(relations_.Follow(src, dst, unix_us, &result).done());
  }
  void Unfollow(UserId src, UserId dst, uint64_t unix_us = kNow) {
    Relations::Result result;
    ASSERT_TRUE(relations_.Unfollow(src, dst, unix_us, &result).done());
  }
  // Some hundred edges among users of both shards, some of them ended, one muted.
  void MakeEdges() {
    std::mt19937_64 random(7);
    for (int n = 0; n < 300; ++n) {
      const UserId src = User(random() % 20), dst = User(20 + random() % 20);
      random() % 4 == 0 ? Unfollow(src, dst) : Follow(src, dst);
    }
  }
  UserId User(uint64_t n) const { return shards_.UserOn(n % 2, 1 + n / 2); }

  void Wipe() {
    for (const char* table : {"following", "user_rel", "log1"}) {
      shards_.on(kWiped).Execute(std::string("DELETE FROM ") + table);
    }
  }
  // As feedctl does it.
  ForwardRestored Restore(bool apply, uint32_t page = 7) {
    ForwardRestored all;
    for (Shard reverse = 0; reverse < shards_.count(); ++reverse) {
      FollowerPlace after;
      for (bool over = false; !over;) {
        const std::vector<Edge> rows = FollowersBehind(shards_.on(reverse), after, page);
        over = rows.size() < page;
        if (!rows.empty()) after = PlaceOf(rows.back());
        std::vector<Edge> ours;
        for (const Edge& row : rows) {
          if (shards_.map().ShardOf(row.src) == kWiped) ours.push_back(row);
        }
        ForEachChunk(ours, kListLimit, [&](std::span<const Edge> chunk) {
          all += RestoreForward(shards_.on(kWiped), {chunk.begin(), chunk.end()}, apply);
        });
      }
    }
    return all;
  }
  std::set<std::string> Counters() {
    std::set<std::string> counters;
    shards_.on(kWiped).Query(
        "SELECT user_id, following_cnt FROM user_rel WHERE following_cnt <> 0",
        [&](const Row& row) { counters.insert(row.Text(1) + " " + row.Text(2)); });
    return counters;
  }

  static constexpr Shard kWiped = 1;
  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  const UserId ann_ = shards_.UserOn(kWiped, 1), bob_ = shards_.UserOn(0, 1),
               cid_ = shards_.UserOn(kWiped, 2);
};

TEST_F(ForwardRestoreTest, ReverseRowsAreReadInOrderWhateverThePage) {
  MakeEdges();
  for (Shard shard = 0; shard < 2; ++shard) {
    const std::vector<Edge> all = FollowersBehind(shards_.on(shard), {}, 10'000);
    EXPECT_GT(all.size(), 20u);
    for (const uint32_t page : {1u, 2u, 5u}) {
      std::vector<Edge> walked;
      FollowerPlace after;
      while (true) {
        const std::vector<Edge> rows = FollowersBehind(shards_.on(shard), after, page);
        walked.insert(walked.end(), rows.begin(), rows.end());
        if (rows.size() < page) break;
        after = PlaceOf(rows.back());
      }
      EXPECT_EQ(walked, all) << page;
    }
  }
}

TEST_F(ForwardRestoreTest, AWipedShardComesBackAsItWas) {
  MakeEdges();
  shards_.on(kWiped).Execute("UPDATE following SET delivery = 1 WHERE state = 1 LIMIT 1");
  std::string src, dst;
  shards_.on(kWiped).Query("SELECT src, dst FROM following WHERE delivery = 1",
                           [&](const Row& row) {
                             src = row.Text(1);
                             dst = row.Text(2);
                           });
  for (Shard shard = 0; shard < 2; ++shard) {
    shards_.on(shard).Execute("UPDATE follower SET delivery = 1 WHERE src = " + src +
                              " AND dst = " + dst);
  }
  const auto rows = shards_.Rows("following"), counters = Counters();
  const int64_t lost = shards_.Number(kWiped, "SELECT COUNT(*) FROM following");
  Wipe();
  const ForwardRestored would = Restore(false);
  EXPECT_EQ(would.made, static_cast<uint64_t>(lost));
  EXPECT_EQ(would.raised + would.equal + would.ahead + would.differing, 0u);
  EXPECT_EQ(shards_.Number(kWiped, "SELECT COUNT(*) FROM following"), 0) << "a dry run";
  EXPECT_EQ(Restore(true).made, static_cast<uint64_t>(lost));
  EXPECT_EQ(shards_.Rows("following"), rows);
  EXPECT_EQ(Counters(), counters);
  EXPECT_EQ(shards_.Number(kWiped, "SELECT COUNT(*) FROM log1"), 0) << "no mirror has work";
  const ForwardRestored again = Restore(true);
  EXPECT_EQ(again.equal, static_cast<uint64_t>(lost));
  EXPECT_EQ(again.behind(), 0u);
  EXPECT_EQ(Counters(), counters);
}

TEST_F(ForwardRestoreTest, RowsOfAnOldBackupAreRaisedAndTheirCountersMove) {
  Follow(ann_, bob_, kNow);
  Follow(cid_, bob_, kNow);
  const auto backup = shards_.Rows("following");
  Unfollow(ann_, bob_, kNow + 10);
  Unfollow(cid_, bob_, kNow + 10);
  Follow(cid_, bob_, kNow + 20);
  const auto rows = shards_.Rows("following");
  shards_.on(kWiped).Execute("UPDATE following SET ver = " + std::to_string(kNow) +
                             ", state = 1, pos = " + std::to_string(kNow / 1'000));
  shards_.on(kWiped).Execute("UPDATE user_rel SET following_cnt = 1");
  ASSERT_EQ(shards_.Rows("following"), backup);
  const ForwardRestored restored = Restore(true);
  EXPECT_EQ(restored.raised, 2u);
  EXPECT_EQ(shards_.Rows("following"), rows);
  EXPECT_EQ(shards_.FollowingCount(ann_), 0);
  EXPECT_EQ(shards_.FollowingCount(cid_), 1);
}

TEST_F(ForwardRestoreTest, WhatAUserDidMeanwhileStays) {
  Follow(ann_, bob_, kNow);
  Follow(cid_, bob_, kNow);
  const std::vector<Edge> before = FollowersBehind(shards_.on(0), {}, 10);
  Wipe();
  Follow(ann_, bob_, kNow + 10);
  Unfollow(ann_, bob_, kNow + 20);
  Follow(cid_, bob_, kNow + 30);
  const auto rows = shards_.Rows("following");
  const ForwardRestored restored = RestoreForward(shards_.on(kWiped), before, true);
  EXPECT_EQ(restored.ahead, 2u);
  EXPECT_EQ(shards_.Rows("following"), rows);
  EXPECT_EQ(shards_.FollowingCount(ann_), 0);
  EXPECT_EQ(shards_.FollowingCount(cid_), 1);
}

TEST_F(ForwardRestoreTest, RowsThatDifferAtOneVersionAreLeftToTheReconcilers) {
  Follow(ann_, bob_);
  shards_.on(kWiped).Execute("UPDATE following SET state = 0");
  const auto rows = shards_.Rows("following");
  EXPECT_EQ(Restore(true).differing, 1u);
  EXPECT_EQ(shards_.Rows("following"), rows);
}

TEST_F(ForwardRestoreTest, ACounterThatFallsBelowZeroIsMarked) {
  Follow(ann_, bob_, kNow);
  Unfollow(ann_, bob_, kNow + 10);
  shards_.on(kWiped).Execute("UPDATE following SET ver = 1, state = 1");
  EXPECT_EQ(Restore(true).raised, 1u);
  EXPECT_EQ(shards_.FollowingCount(ann_), -1);
  EXPECT_THAT(MarkedForRecount(shards_.on(kWiped), 9),
              ElementsAre(UserCounter{ann_, Counter::kFollowed}));
}

// Two restores, and users who follow and unfollow. Nothing that a user did is undone.
TEST_F(ForwardRestoreTest, WritersAndASecondRestoreDoNoHarm) {
  MakeEdges();
  Wipe();
  std::atomic<bool> stop{false};
  const auto write = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    Relations relations(shards_.config(), shards_.map());
    for (uint64_t n = 1; !stop; ++n) {
      const UserId src = User(random() % 20), dst = User(20 + random() % 20);
      Relations::Result result;
      const uint64_t at = kNow + 1'000 * n;
      const Status status = random() % 2 == 0 ? relations.Follow(src, dst, at, &result)
                                              : relations.Unfollow(src, dst, at, &result);
      EXPECT_TRUE(status.done()) << status.message;
    }
  };
  const auto restore = [&] {
    Connection forward(shards_.config(), kWiped);
    forward.Open();
    for (Shard reverse = 0; reverse < 2; ++reverse) {
      Connection from(shards_.config(), reverse);
      from.Open();
      FollowerPlace after;
      for (bool over = false; !over;) {
        const std::vector<Edge> rows = FollowersBehind(from, after, 5);
        over = rows.size() < 5;
        if (!rows.empty()) after = PlaceOf(rows.back());
        std::vector<Edge> ours;
        for (const Edge& row : rows) {
          if (shards_.map().ShardOf(row.src) == kWiped) ours.push_back(row);
        }
        (void)RestoreForward(forward, ours, true);
      }
    }
  };
  std::thread one(write, 1), two(write, 2);
  std::thread first(restore), second(restore);
  first.join();
  second.join();
  stop = true;
  one.join();
  two.join();
  (void)Restore(true);
  shards_.ExpectConsistent();
}

TEST_F(ForwardRestoreTest, ThePlaceIsKeptForEachShardUntilItIsForgotten) {
  Connection& connection = shards_.on(kWiped);
  EXPECT_THAT(ReadRestorePlaces(connection), IsEmpty());
  MoveRestorePlace(connection, 0, {bob_, 5, ann_}, false);
  MoveRestorePlace(connection, 1, {cid_, 6, ann_}, true);
  MoveRestorePlace(connection, 0, {bob_, 7, cid_}, false);
  const auto places = ReadRestorePlaces(connection);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places.at(0).after.bucket, 7u);
  EXPECT_EQ(places.at(0).after.src, cid_);
  EXPECT_FALSE(places.at(0).over);
  EXPECT_TRUE(places.at(1).over);
  EXPECT_GT(places.at(0).began, 0);
  ForgetRestorePlaces(connection);
  EXPECT_THAT(ReadRestorePlaces(connection), IsEmpty());
}

TEST_F(ForwardRestoreTest, CountersAreSweptFromTheFirstUserOn) {
  Connection& connection = shards_.on(kWiped);
  SweepCountersAnew(connection);
  connection.Execute("INSERT INTO counter_sweep (began, after_user) VALUES (9, 7)");
  SweepCountersAnew(connection);
  EXPECT_EQ(shards_.Number(kWiped, "SELECT began + after_user FROM counter_sweep"), 0);
}

}  // namespace
}  // namespace fanline::mysql
