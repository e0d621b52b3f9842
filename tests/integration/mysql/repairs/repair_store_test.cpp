// What a reconciler asks of two real shards, through its port.
#include "backends/mysql/repairs/repair_store.h"

#include <gtest/gtest.h>

#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/installation/settings.h"
#include "backends/mysql/repairs/counter_store.h"
#include "backends/mysql/sql/shard_connections.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

class RepairStoreTest : public ::testing::Test {
 protected:
  template <class R>
  typename R::Reply Ask(R request) {
    return fanline::Ask(store_, std::move(request));
  }
  ReconcilerModeRead Settings() { return fanline::Ask(changes_, ReadReconcilerMode{}); }

  RelationShards shards_;
  MysqlRepairStore store_{shards_.config(), shards_.map(), kNoLog};
  MysqlChangeStore changes_{shards_.config(), {}, kNoLog};
  MysqlCounterStore counters_{shards_.config(), {}, kNoLog, {shards_.map()}};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1);
};

// Somebody has locked the row that the only thread of its shard waits for. A wait ends after two
// seconds.
TEST_F(RepairStoreTest, AShardThatHangsTakesNoThreadOfAnother) {
  MysqlRepairStore store(shards_.config(), shards_.map(), kNoLog, 1);
  const UserId cid = shards_.UserOn(0, 2);
  ASSERT_TRUE(Ask(ApplyEdges{0, 1, {{ann_, bob_, 300, true, 9}}}).status.done());
  shards_.on(1).Execute("START TRANSACTION");
  shards_.on(1).Execute("UPDATE follower SET pos = pos + 1 WHERE dst = " + ToString(bob_));
  Replies<EdgesApplied> slow;
  store.Submit(ApplyEdges{1, 1, {{ann_, bob_, 301, true, 9}}}, slow);
  EXPECT_TRUE(fanline::Ask(store, ApplyEdges{0, 0, {{bob_, cid, 300, true, 9}}}).status.done());
  shards_.on(1).Execute("ROLLBACK");
  EXPECT_TRUE(slow.Await(1).status.done()) << "the others were answered after its wait was over";
}

TEST_F(RepairStoreTest, ARepairIsRecordedOnTheForwardShardWithWhatItWasAndIs) {
  ASSERT_TRUE(
      Ask(LogRepair{0, "pair", "missing", {ann_, bob_}, "none", "follows@300", 300}).status.done());
  EXPECT_EQ(
      shards_.Number(0,
                     "SELECT COUNT(*) FROM repair_log WHERE net = 'pair' AND cause = 'missing' "
                     "AND src = " +
                         ToString(ann_) + " AND after_value = 'follows@300' AND ver = 300"),
      1);
}

TEST_F(RepairStoreTest, RepairsArePurgedByAgeSoManyAtATime) {
  for (uint64_t ver = 1; ver <= 4; ++ver) {
    ASSERT_TRUE(Ask(LogRepair{0, "pair", "missing", {ann_, bob_}, "", "", ver}).status.done());
  }
  shards_.on(0).Execute("UPDATE repair_log SET at = at - 3600000 WHERE ver < 4");
  const auto purge = [&](Shard shard, std::chrono::seconds keep) {
    const RepairsPurged purged = fanline::Ask(counters_, PurgeRepairs{0, shard, keep, 2});
    EXPECT_TRUE(purged.status.done()) << purged.status.message;
    return purged.deleted;
  };
  EXPECT_EQ(purge(1, std::chrono::minutes(30)), 0u) << "the other shard";
  EXPECT_EQ(purge(0, std::chrono::minutes(90)), 0u);
  EXPECT_EQ(purge(0, std::chrono::minutes(30)), 2u);
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM repair_log WHERE ver IN (3, 4)"), 2);
  EXPECT_EQ(purge(0, std::chrono::minutes(30)), 1u);
  EXPECT_EQ(shards_.Total("SELECT MIN(ver) FROM repair_log"), 4);
}

// Two reconcilers of two threads each; a third one comes later.
TEST_F(RepairStoreTest, RemovalsAreGrantedSoManyAMinuteToAllTogether) {
  MysqlRepairStore other(shards_.config(), shards_.map(), kNoLog);
  Replies<RemovalsTaken> replies;
  constexpr uint64_t kRequests = 40;
  for (uint64_t id = 1; id <= kRequests; ++id) {
    const TakeRemovals request{
        .id = id, .shard = 1, .wanted = 30, .per_minute = 1'000, .closings = 0};
    (id % 2 == 0 ? store_ : other).Submit(request, replies);
  }
  uint32_t granted = 0;
  for (uint64_t id = 1; id <= kRequests; ++id) {
    const RemovalsTaken taken = replies.Await(id);
    EXPECT_TRUE(taken.status.done()) << taken.status.message;
    granted += taken.granted;
  }
  EXPECT_EQ(granted, 1'000u);

  const auto take = [this](Shard shard, uint32_t per_minute, uint64_t closings) {
    return Ask(TakeRemovals{
                   .shard = shard, .wanted = 30, .per_minute = per_minute, .closings = closings})
        .granted;
  };
  EXPECT_EQ(take(0, 1'000, 0), 30u) << "of another shard";
  EXPECT_EQ(take(1, 10'000, 0), 0u) << "it stays open";
  shards_.on(1).Execute("UPDATE removal_allowance SET began = began - 60000");
  EXPECT_EQ(take(1, 1'000, 0), 0u) << "a minute later too";
  EXPECT_EQ(take(1, 1'000, 1), 30u) << "an operator has closed it";
  EXPECT_EQ(shards_.Number(1, "SELECT taken FROM removal_allowance"), 30) << "the server's minute";
}

TEST_F(RepairStoreTest, AnApplicationsShardsHaveAnAllowanceOfTheirOwnOnOurs) {
  const AppTables tables{{shards_.config(), "follows"}, {shards_.config(), "followers"}};
  MysqlRepairStore store(shards_.config(), shards_.map(), kNoLog, 1, tables);
  for (const Shard shard : {0u, 1u, 3u}) {
    const TakeRemovals request{.shard = shard, .wanted = 7, .per_minute = 10};
    EXPECT_EQ(fanline::Ask(store, request).granted, 7u);
  }
  EXPECT_EQ(shards_.Number(0,
                           "SELECT COUNT(*) FROM removal_allowance WHERE edges = 'app.followers' "
                           "AND shard = 0 AND taken = 7"),
            1);
  EXPECT_EQ(shards_.Number(1,
                           "SELECT COUNT(*) FROM removal_allowance WHERE edges = 'app.followers' "
                           "AND shard IN (1, 3) AND taken = 7"),
            2);
}

TEST_F(RepairStoreTest, ComingBackToRunClosesTheBreakersAndNothingElseDoes) {
  ShardConnections connections(shards_.config());
  const auto closings_after = [&](ReconcilerMode mode) {
    const Status status = connections.Run(
        kSettingsShard, [&](Connection& connection) { SetReconcilerMode(connection, mode); });
    EXPECT_TRUE(status.done()) << status.message;
    return Settings().closings;
  };
  EXPECT_EQ(closings_after(ReconcilerMode::kRun), 0u) << "it was so already";
  EXPECT_EQ(closings_after(ReconcilerMode::kDryRun), 0u);
  EXPECT_EQ(closings_after(ReconcilerMode::kPause), 0u);
  const uint64_t first = closings_after(ReconcilerMode::kRun);
  EXPECT_GT(first, 0u);
  EXPECT_EQ(closings_after(ReconcilerMode::kRun), first);
  EXPECT_EQ(closings_after(ReconcilerMode::kPause), first);
  EXPECT_GT(closings_after(ReconcilerMode::kRun), first);
}

TEST_F(RepairStoreTest, AnOperatorClosesABreakerWhateverBecameOfTheCountOfClosings) {
  ShardConnections connections(shards_.config());
  const auto closed = [&] {
    for (const auto mode : {ReconcilerMode::kPause, ReconcilerMode::kRun}) {
      const Status status = connections.Run(
          kSettingsShard, [&](Connection& connection) { SetReconcilerMode(connection, mode); });
      EXPECT_TRUE(status.done()) << status.message;
    }
    return Settings().closings;
  };
  // Of two removals, those granted to a reconciler that knows of `closings` closings.
  const auto take = [&](uint64_t closings, uint32_t per_minute) {
    return Ask(TakeRemovals{
                   .shard = 1, .wanted = 2, .per_minute = per_minute, .closings = closings})
        .granted;
  };
  // The row is lost with the whole table, or is as old as a backup.
  for (const char* loss : {"DELETE FROM setting WHERE name = 'breaker_closings'",
                           "UPDATE setting SET value = '3' WHERE name = 'breaker_closings'"}) {
    EXPECT_EQ(take(closed(), 1), 1u) << "it opens";
    shards_.on(1).Execute("UPDATE removal_allowance SET began = began - 60000");
    shards_.on(0).Execute(loss);
    EXPECT_EQ(take(Settings().closings, 100), 0u) << loss;
    EXPECT_EQ(take(closed(), 100), 2u) << loss;
    shards_.on(1).Execute("UPDATE removal_allowance SET began = began - 60000");
  }
  // The server's clock was ahead, and was set back.
  shards_.on(0).Execute(
      "UPDATE setting SET value = '9000000000000000' WHERE name = "
      "'breaker_closings'");
  EXPECT_EQ(closed(), 9'000'000'000'000'001u);
}

TEST_F(RepairStoreTest, TheModeIsRunUntilSetAndPauseWhenNobodyKnowsIt) {
  EXPECT_EQ(Settings().mode, ReconcilerMode::kRun);
  ShardConnections connections(shards_.config());
  const auto on_shard_0 = [&](const std::function<void(Connection&)>& call) {
    const Status status = connections.Run(kSettingsShard, call);
    ASSERT_TRUE(status.done()) << status.message;
  };
  for (const auto mode : {ReconcilerMode::kDryRun, ReconcilerMode::kPause, ReconcilerMode::kRun}) {
    on_shard_0([&](Connection& connection) { SetReconcilerMode(connection, mode); });
    EXPECT_EQ(Settings().mode, mode);
  }
  on_shard_0([](Connection& connection) {
    connection.Execute("UPDATE setting SET value = 'sleep' WHERE name = 'reconciler'");
  });
  EXPECT_EQ(Settings().mode, ReconcilerMode::kPause);
}

}  // namespace
}  // namespace fanline::mysql
