// What a check reads and a repair writes, on two real shards.
#include "backends/mysql/repairs/repair_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/mysql/repairs/repair_log.h"
#include "backends/mysql/sql/chunks.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

class EdgeRepairTest : public ::testing::Test {
 protected:
  void Follow(UserId src, UserId dst, uint64_t now = kNow) {
    Relations::Result result;
    ASSERT_TRUE(relations_.Follow(src, dst, now, &result).done());
    MarkDone({src, dst});
  }
  // As a relay does when both rows are there.
  void MarkDone(const EdgeKey& edge) {
    ChangeLog log(connections_);
    const Shard shard = shards_.map().ShardOf(edge.src);
    std::vector<LoggedChange> pending;
    ASSERT_TRUE(log.ReadPending(shard, 0, 1'000, &pending).done());
    std::vector<LogRow> rows;
    for (const LoggedChange& change : pending) {
      if (change.edge.key() == edge) rows.push_back(change.row());
    }
    ASSERT_TRUE(log.MarkDone(shard, rows).done());
  }
  // Of ann's edge to bob, one version above what was read.
  EdgeAdopted Adopt(const EdgeState& read) {
    Edge edge = EdgeOf({ann_, bob_}, read);
    ++edge.ver;
    const EdgeAdopted reply = Ask(store_, AdoptEdge{0, edge});
    EXPECT_TRUE(reply.status.done()) << reply.status.message;
    return reply;
  }
  std::vector<RowsOfEdge> Read(const std::vector<EdgeKey>& edges) {
    EdgesRead reply = Ask(store_, ReadEdges{0, edges});
    EXPECT_TRUE(reply.status.done()) << reply.status.message;
    return reply.rows;
  }
  // What a relay does with all that is pending.
  void RelayAll() {
    ChangeLog log(connections_);
    ReverseEdges reverse(connections_);
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      std::vector<LoggedChange> pending;
      ASSERT_TRUE(log.ReadPending(shard, 0, 1'000, &pending).done());
      for (const LoggedChange& change : pending) {
        ReverseResult result;
        ASSERT_TRUE(
            reverse.Apply(shards_.map().ShardOf(change.edge.dst), {&change.edge, 1}, &result)
                .done());
        ASSERT_TRUE(log.MarkDone(shard, {change.row()}).done());
      }
    }
  }

  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  ShardConnections connections_{shards_.config()};
  MysqlRepairStore store_{shards_.config(), shards_.map(), kNoLog};
  const UserId ann_ = shards_.UserOn(0, 1), bob_ = shards_.UserOn(1, 1),
               cid_ = shards_.UserOn(0, 2);
};

TEST_F(EdgeRepairTest, TheLastRepairsOfAnEdgeAreReadNewestFirst) {
  Connection& shard = shards_.of(ann_);
  for (uint64_t ver = 1; ver <= 4; ++ver) {
    const UserId dst = ver == 3 ? cid_ : bob_;
    shard.Execute(RepairSql({0, "pair", "it's", {ann_, dst}, "none", "follows", ver}));
  }
  const auto repairs = LastRepairs(shard, {ann_, bob_}, 100, 2);
  ASSERT_EQ(repairs.size(), 2u);
  EXPECT_EQ(repairs[0].repair.ver, 4u);
  EXPECT_EQ(repairs[1].repair.ver, 2u);
  EXPECT_EQ(repairs[1].repair.net + " " + repairs[1].repair.cause, "pair it's");
  EXPECT_EQ(repairs[1].repair.before + " " + repairs[1].repair.after, "none follows");
  EXPECT_GT(repairs[1].at, static_cast<UnixMs>(kNow / 1000));
  EXPECT_EQ(LastRepairs(shard, {ann_, bob_}, 3, 5).size(), 2u);  // the oldest is not looked at
  EXPECT_TRUE(LastRepairs(shard, {bob_, ann_}, 100, 5).empty());
}

TEST_F(EdgeRepairTest, AShardThatIsAwayKeepsOnlyItsOwnEdgesUnread) {
  Follow(ann_, cid_);
  Config broken = shards_.config();
  broken.shards[1].port = 1;
  MysqlRepairStore store(broken, shards_.map(), kNoLog);
  EXPECT_EQ(Ask(store, ReadEdges{0, {{ann_, bob_}}}).status.resource, "mysql_1");
  EXPECT_EQ(Ask(store, ReadEdges{0, {{bob_, ann_}}}).status.resource, "mysql_1");
  const EdgesRead read = Ask(store, ReadEdges{0, {{ann_, cid_}}});
  ASSERT_TRUE(read.status.done());
  EXPECT_EQ(read.rows[0].forward, read.rows[0].reverse);
}

// While edges change and are applied, a reverse row is never seen ahead of its forward row.
TEST_F(EdgeRepairTest, AReverseRowIsNeverSeenAheadOfItsForwardRowWhileBothAreWritten) {
  testing::Seeded seeded;
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&, seed = seeded.Bits()] {
      std::mt19937_64 random(seed);
      Relations relations(shards_.config(), shards_.map());
      for (int n = 0; n < 300; ++n) {
        Relations::Result result;
        const Status status = random() % 2 == 0 ? relations.Follow(ann_, bob_, kNow, &result)
                                                : relations.Unfollow(ann_, bob_, kNow, &result);
        EXPECT_TRUE(status.done()) << status.message;
      }
      stop = true;
    });
  }
  // Among many others, so that there is time for a change between the two reads of this one.
  std::vector<EdgeKey> edges = {{ann_, bob_}};
  for (uint64_t raw = 1'000; edges.size() < 2 * kListLimit; ++raw) {
    if (shards_.map().ShardOf(UserId{raw}) == 1) edges.push_back({ann_, UserId{raw}});
  }
  uint64_t reads = 0;
  while (!stop) {
    const auto rows = Read(edges);
    EXPECT_GE(rows[0].forward.ver, rows[0].reverse.ver);
    ++reads;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(reads, 0u);
}

// A forward shard that lost what it had acknowledged: the reverse row is ahead, or alone.
TEST_F(EdgeRepairTest, AReverseRowThatIsAheadIsAdoptedOneVersionHigher) {
  Follow(ann_, bob_);
  for (const char* loss :
       {"UPDATE following SET ver = ver - 5, state = 0", "DELETE FROM following"}) {
    shards_.of(ann_).Execute(loss);
    shards_.of(ann_).Execute("UPDATE user_rel SET following_cnt = 0");
    const EdgeState ahead = Read({{ann_, bob_}})[0].reverse;
    const EdgeAdopted adopted = Adopt(ahead);
    EXPECT_TRUE(adopted.adopted);
    EXPECT_EQ(adopted.edge.ver, ahead.ver + 1);
    EXPECT_FALSE(Adopt(ahead).adopted);  // once is enough, also by another that read the same
    EXPECT_EQ(shards_.PendingChanges(), 1);
    RelayAll();
    shards_.ExpectConsistent();
    EXPECT_EQ(shards_.FansCount(bob_), 1);
  }
}

TEST_F(EdgeRepairTest, AnOrphanMayBeRemovedInsteadByATombstoneOnBothSides) {
  Follow(ann_, bob_);
  shards_.of(ann_).Execute("DELETE FROM following");
  shards_.of(ann_).Execute("DELETE FROM user_rel");
  EdgeState orphan = Read({{ann_, bob_}})[0].reverse;
  orphan.live = false;
  const EdgeAdopted adopted = Adopt(orphan);
  EXPECT_TRUE(adopted.adopted);
  EXPECT_EQ(adopted.edge.pos, orphan.pos);
  RelayAll();
  EXPECT_EQ(shards_.FansCount(bob_), 0);
  EXPECT_EQ(shards_.Rows("following").size(), 1u);
  shards_.ExpectConsistent();
}

TEST_F(EdgeRepairTest, EqualVersionsWithDifferentStatesAreWrittenAnewFromTheForwardRow) {
  Follow(ann_, bob_);
  shards_.of(bob_).Execute("UPDATE follower SET state = 0");
  shards_.of(bob_).Execute("UPDATE user_fan SET fans_cnt = 0");
  const auto rows = Read({{ann_, bob_}})[0];
  ASSERT_EQ(rows.forward.ver, rows.reverse.ver);
  EXPECT_TRUE(Adopt(rows.forward).adopted);
  RelayAll();
  EXPECT_EQ(shards_.FansCount(bob_), 1);
  shards_.ExpectConsistent();
}

}  // namespace
}  // namespace fanline::mysql
