// The full scan's pages, digests and places on real shards, and a scan beside writers.
#include "backends/mysql/repairs/full_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/mirror_store.h"
#include "backends/mysql/edges/reverse_edges.h"
#include "backends/mysql/repairs/repair_store.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/mono_now.h"
#include "reconciler/full_scanner.h"
#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr uint64_t kLastId = UINT64_MAX - 1;

class FullScanTest : public ::testing::Test {
 protected:
  FullScanTest() {
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      shards_.on(shard).Execute(
          Sql("INSERT INTO installation SET schema_version = 1, buckets = 1024, partitions = 16,"
              " shard_count = ",
              shards_.count(), ", shard_index = ", shard,
              ", shard_map = '', generation = 1, feed_topic = '', tasks_topic = '',"
              " timeline_window = 1, timeline_max_entries = 1, following_limit = 1"));
    }
  }

  void PutForward(const Edge& edge) {
    shards_.of(edge.src).Execute(
        Sql("REPLACE INTO following (src, dst, ver, state, pos, delivery) VALUES (", edge.src, ",",
            edge.dst, ",", edge.ver, ",", edge.live, ",", edge.pos, ",",
            static_cast<int>(edge.delivery), ")"));
  }
  void PutReverse(const Edge& edge) {
    shards_.of(edge.dst).Execute(
        Sql("REPLACE INTO follower (dst, bucket, src, ver, state, pos, delivery) VALUES (",
            edge.dst, ",", BucketOf(edge.src), ",", edge.src, ",", edge.ver, ",", edge.live, ",",
            edge.pos, ",", static_cast<int>(edge.delivery), ")"));
  }
  void PutBoth(const Edge& edge) {
    PutForward(edge);
    PutReverse(edge);
  }

  ScanPageRead Page(const EdgeTableId& table, const ScanKey& after, uint32_t limit = 1'000) {
    return Ask(scan_, ReadScanPage{0, table, {.after = after}, limit});
  }
  std::vector<uint64_t> Digests(const EdgeTableId& table, const std::vector<EdgeKey>& edges) {
    const EdgesDigested digested = Ask(scan_, DigestEdges{0, table, edges});
    EXPECT_TRUE(digested.status.done()) << digested.status.message;
    return digested.digests;
  }
  // Whether the other table has the same digest of the edge as a page of this one.
  bool Same(bool reverse, const Edge& edge) {
    const Shard here = shards_.map().ShardOf(reverse ? edge.dst : edge.src);
    const Shard there = shards_.map().ShardOf(reverse ? edge.src : edge.dst);
    const ScanPageRead page = Page({reverse, here}, {});
    EXPECT_TRUE(page.status.done()) << page.status.message;
    for (const ScanPageRead::Row& row : page.rows) {
      if (row.edge != edge.key()) continue;
      EXPECT_NE(row.digest, 0u);
      return Digests({!reverse, there}, {edge.key()}) == std::vector{row.digest};
    }
    ADD_FAILURE() << "the row is in no page";
    return false;
  }

  FullScanRead Place(const EdgeTableId& table) { return Ask(scan_, ReadFullScan{0, table}); }
  void Move(const EdgeTableId& table, const FullScanPlace& from, const FullScanPlace& to) {
    EXPECT_TRUE(Ask(scan_, MoveFullScan{0, table, from, to}).status.done());
  }

  RelationShards shards_;
  MysqlFullScan scan_{shards_.config(), kNoLog};
};

// ---- digests --------------------------------------------------------------------------------

TEST_F(FullScanTest, BothTablesHaveTheSameDigestOfEqualRows) {
  const std::vector<uint64_t> numbers = {1,          9,      1'000'000'007, (1ull << 63) - 1,
                                         1ull << 63, kLastId};
  for (const uint64_t src : numbers) {
    for (const uint64_t ver : {numbers[0], numbers[3], numbers[4], numbers[5], UINT64_MAX}) {
      for (const Delivery delivery : {Delivery::kAll, Delivery::kNoReposts, Delivery::kNone}) {
        const Edge edge{UserId{src},
                        UserId{kLastId - 1},
                        ver,
                        delivery != Delivery::kNoReposts,
                        static_cast<UnixMs>(ver / 3),
                        delivery};
        PutBoth(edge);
        EXPECT_TRUE(Same(false, edge) && Same(true, edge)) << src << " " << ver;
      }
    }
  }
}

TEST_F(FullScanTest, EachColumnThatAVersionOrdersChangesTheDigest) {
  const Edge edge{UserId{7}, UserId{1ull << 63}, 100, true, 5};
  PutBoth(edge);
  ASSERT_TRUE(Same(false, edge));
  const std::vector<std::function<void(Edge&)>> changes = {
      [](Edge& of) { of.ver = 101; },
      [](Edge& of) { of.live = false; },
      [](Edge& of) { of.pos = 6; },
      [](Edge& of) { of.delivery = Delivery::kNoReposts; },
      [](Edge& of) { of.ver = 10, of.pos = 5; },
  };
  for (const auto& change : changes) {
    Edge other = edge;
    change(other);
    PutReverse(other);
    EXPECT_FALSE(Same(false, edge));
    EXPECT_FALSE(Same(true, edge));
  }
}

// CRC32 is linear: with the same bits wrong in two rows, the XOR of both is as it was.
TEST_F(FullScanTest, EqualFlipsDoNotCancelEachOther) {
  const Edge one{UserId{11}, UserId{20}, 100, true, 5}, two{UserId{12}, UserId{20}, 100, true, 5};
  for (const Edge& edge : {one, two}) PutReverse(edge);
  const Shard shard = shards_.map().ShardOf(one.dst);
  const EdgeTableId table{true, shard};
  const auto crc = [&] {
    return shards_.Number(
        shard,
        "SELECT BIT_XOR(CRC32(CONCAT_WS(':', src, dst, ver, state, pos, delivery))) FROM follower");
  };
  const auto before = crc();
  const auto digests = Digests(table, {one.key(), two.key()});
  shards_.on(shard).Execute("UPDATE follower SET state = 0");
  EXPECT_EQ(crc(), before);
  EXPECT_NE(Digests(table, {one.key(), two.key()}), digests);
}

TEST_F(FullScanTest, ADigestStandsForSoManyEdgesAndThoseWithoutARowAddNothing) {
  std::vector<EdgeKey> edges;
  std::vector<uint64_t> expected(3, 0);
  const UserId dst{20};
  const EdgeTableId table{true, shards_.map().ShardOf(dst)};
  for (uint64_t src = 100; edges.size() < 700; ++src) {
    edges.push_back({UserId{src}, dst});
    if (src % 3 == 0) PutReverse({UserId{src}, dst, src, true, 5});
  }
  for (const ScanPageRead::Row& row : Page(table, {}).rows) {
    const auto at = std::find(edges.begin(), edges.end(), row.edge) - edges.begin();
    expected[static_cast<size_t>(at) / kDigestEdges] ^= row.digest;
  }
  EXPECT_EQ(Digests(table, edges), expected);
}

// ---- pages ----------------------------------------------------------------------------------

TEST_F(FullScanTest, PagesHaveEachRowOnceInTheOrderOfTheKey) {
  testing::Seeded seeded;
  std::set<EdgeKey> put;
  const std::vector<uint64_t> owners = {3, 4, 1'000, (1ull << 63) + 5, kLastId};
  for (int i = 0; i < 200; ++i) {
    const EdgeKey edge{UserId{owners[seeded.Below(5)]}, UserId{owners[seeded.Below(5)] - 2}};
    put.insert(edge);
    PutBoth(EdgeOf(edge, {1 + seeded.Below(9), seeded.Below(2) == 0, 5}));
  }
  for (int i = 0; i < 100; ++i) {  // one owner with more rows than a page
    const EdgeKey edge{UserId{1'000'000 + seeded.Below(2'000)}, UserId{1'000}};
    put.insert(edge);
    PutBoth(EdgeOf(edge, {1, true, 5}));
  }
  for (const bool reverse : {false, true}) {
    std::multiset<EdgeKey> seen;
    for (Shard shard = 0; shard < shards_.count(); ++shard) {
      ScanKey after;
      for (bool more = true; more;) {
        const ScanPageRead page = Page({reverse, shard}, after, 7);
        ASSERT_TRUE(page.status.done()) << page.status.message;
        for (const ScanPageRead::Row& row : page.rows) seen.insert(row.edge);
        more = page.more;
        EXPECT_TRUE(!more || page.last > after);
        after = page.last;
      }
    }
    EXPECT_EQ(std::set(seen.begin(), seen.end()), put);
    EXPECT_EQ(seen.size(), put.size());
  }
}

TEST_F(FullScanTest, AServerOfAnotherShardIsNotScanned) {
  shards_.on(0).Execute("UPDATE installation SET shard_index = 1");
  const ScanPageRead page = Page({false, 0}, {});
  EXPECT_TRUE(page.status.never());
  EXPECT_EQ(page.status.message, "the server named for shard 0 is of shard 1");
}

// Both tables of the application are ours here, on whose shards the two differ.
TEST_F(FullScanTest, TablesOfAnApplicationAreReadByAKeyOfTheirOrder) {
  const Edge edge{UserId{1ull << 63}, UserId{20}, 100, true, 5, Delivery::kNone};
  PutBoth(edge);
  Config all = shards_.config(), first = all;
  first.shards.resize(1);
  EdgeTable forward{all, "following"}, reverse{first, "follower"};
  forward.delivery = reverse.delivery = "delivery";
  const AppTables tables{forward, reverse};
  MysqlFullScan scan(shards_.config(), kNoLog, tables);
  const Shard shard = ShardsOf(forward).ShardOf(edge.src);
  const ScanPageRead page = Ask(scan, ReadScanPage{0, {false, shard}, {}, 10});
  ASSERT_TRUE(page.status.done()) << page.status.message;
  ASSERT_EQ(page.rows.size(), 1u);
  if (shards_.map().ShardOf(edge.dst) == 0) {
    EXPECT_EQ(Ask(scan, DigestEdges{0, {true, 0}, {edge.key()}}).digests,
              std::vector{page.rows[0].digest});
  }
  const ScanPageRead other = Ask(scan, ReadScanPage{0, {true, 0}, {}, 10});
  EXPECT_TRUE(other.status.never());
  EXPECT_EQ(other.status.message, "table follower has no key that begins with dst, src");
}

TEST_F(FullScanTest, AReplicaMayBeReadOnlyAndGivesNoPageBeforeItHasThePlace) {
  PutBoth({UserId{7}, UserId{20}, 100, true, 5});
  DemotablePrimary primary(shards_.config(), 0);
  MysqlFullScan scan(shards_.config(), kNoLog, std::nullopt, shards_.config().shards);
  const FullScanPlace begun{.after = {5, 0, 6}, .began = 9, .compared = 3};
  Move({false, 0}, {}, begun);
  primary.SetReadOnly("ON");
  const auto lags = [&](const FullScanPlace& place) {
    const ScanPageRead page = Ask(scan, ReadScanPage{0, {false, 0}, place, 10});
    EXPECT_TRUE(page.status.done()) << page.status.message;
    return page.lags;
  };
  EXPECT_FALSE(lags(begun));
  FullScanPlace ahead = begun;
  ahead.after.member = 7;
  EXPECT_TRUE(lags(ahead));
}

// ---- places ---------------------------------------------------------------------------------

TEST_F(FullScanTest, APlaceThatHasMovedMeanwhileStays) {
  const EdgeTableId table{true, 1};
  EXPECT_EQ(Place(table).place, FullScanPlace());
  FullScanPlace first{.after = {kLastId, 1'023, kLastId}, .began = 100, .compared = 7},
      other = first;
  other.after = {1, 2, 3};
  Move(table, {}, first);
  Move(table, {}, other);
  EXPECT_EQ(Place(table).place, first);
  const FullScanPlace passed{.began = 100, .compared = 9, .passed = 200};
  Move(table, first, passed);
  EXPECT_EQ(Place(table).place, passed);
  EXPECT_EQ(Place({false, 1}).place, FullScanPlace()) << "each table's own";
  EXPECT_EQ(Place({true, 0}).place, FullScanPlace());
  EXPECT_GT(Place(table).now, 1'700'000'000'000);
}

TEST_F(FullScanTest, WhatAnOperatorSaysMeanwhileIsNotOverwritten) {
  const EdgeTableId table{false, 0};
  const FullScanPlace stopped{.began = 100, .stopped = "it's so"};
  Move(table, {}, stopped);
  shards_.on(0).Execute("UPDATE full_scan SET stopped = '', allowed = 1");
  Move(table, stopped, {.began = 200});
  EXPECT_EQ(Place(table).place, (FullScanPlace{.began = 100, .allowed = true}));
}

TEST_F(FullScanTest, APersonIsToldOfEveryPlace) {
  Move({false, 0}, {}, {.began = 100, .passed = 200});
  Move({true, 0}, {}, {.began = 300, .stopped = "why"});
  shards_.on(0).Execute("INSERT INTO full_scan SET edges = 'forward.follows', shard = 4");
  const auto found = ReadFullScans(shards_.on(0));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].edges, "follower");
  EXPECT_EQ(found[0].place.stopped, "why");
  EXPECT_EQ(found[1].place.passed, 200);
  EXPECT_EQ(found[2].edges, "forward.follows");
  EXPECT_EQ(found[2].shard, 4u);
}

// ---- a scan ---------------------------------------------------------------------------------

// What a scan hands over.
struct Found : ServesAll<Found, AppendRetries> {
  void Serve(const AppendRetries& request, ReplyTo<RetriesAppended> to) {
    for (const RelationRetry& retry : request.retries) edges.insert(retry.edge);
    to({request.id, {}});
  }
  std::set<EdgeKey> edges;
};

struct Stops : reconciler::Metrics {
  void FullScanStopped(const std::string&, Shard, const std::string& reason) override {
    why = reason;
  }
  std::string why;
};

struct Scanning {
  struct Inbox {
    void Push(reconciler::FullScanInput input) {
      const std::lock_guard lock(mutex);
      inputs.push_back(std::move(input));
      came.notify_one();
    }
    // At once if there are any, else when the scanner wants to go on.
    std::vector<reconciler::FullScanInput> Await(std::optional<Time> until) {
      std::unique_lock lock(mutex);
      const Time latest = SystemNow().mono + milliseconds(100);
      came.wait_until(lock, std::min(until.value_or(latest), latest),
                      [this] { return !inputs.empty(); });
      return std::exchange(inputs, {});
    }
    std::mutex mutex;
    std::condition_variable came;
    std::vector<reconciler::FullScanInput> inputs;
  };

  explicit Scanning(RelationShards& shards)
      : repairs(shards.config(), shards.map(), kNoLog, 1),
        log(shards.config(), HealthSink(), kNoLog),
        scan(shards.config(), kNoLog),
        gate({}, shards.count()),
        scanner({.comparer = {.log = {log, to_comparer},
                              .store = {repairs, to_comparer},
                              .retries = {found, to_comparer},
                              .metrics = metrics},
                 .scan = {scan, inbox},
                 .metrics = metrics},
                {.shards = {shards.map(), shards.map()}}, 1, {.grace = milliseconds(300)},
                {.rows_per_second = 1'000'000, .rows = 200}, gate) {
    gate.SetMode(ReconcilerMode::kRun);
    scanner.Own({0});
  }
  ~Scanning() {
    scanner.StopTaking();
    while (!scanner.drained()) Step();
  }

  void Step() {
    auto inputs = inbox.Await(next);
    next = scanner.Step(inputs, SystemNow()).next_timer;
  }
  // Until every table was passed by a pass that began after this call.
  void Pass(RelationShards& shards) {
    for (Shard shard = 0; shard < shards.count(); ++shard) {
      shards.on(shard).Execute("DELETE FROM full_scan");
    }
    const auto give_up = SystemNow().mono + seconds(60);
    int steps = 0;
    while (++steps % 20 != 0 ||
           shards.Total("SELECT COUNT(*) FROM full_scan WHERE passed > 0") < 2 * shards.count()) {
      Step();
      ASSERT_TRUE(metrics.why.empty()) << metrics.why;
      ASSERT_LT(SystemNow().mono, give_up);
    }
  }

  std::optional<Time> next;
  Inbox inbox;
  PartOf<reconciler::ComparerReply, Inbox> to_comparer = AsPart<reconciler::ComparerReply>(inbox);
  Found found;
  Stops metrics;
  MysqlRepairStore repairs;
  MysqlChangeStore log;
  MysqlFullScan scan;
  reconciler::RepairGate gate;
  reconciler::FullScanner scanner;
};

// Changes edges one after the other, each as its mirror does: forward, a while later reverse, then
// the mark.
void Write(const Config& config, const ShardMap& map, uint64_t seed,
           const std::atomic<bool>& stop) {
  std::mt19937_64 random(seed);
  std::deque<Connection> on;
  for (Shard shard = 0; shard < config.shards.size(); ++shard) {
    on.emplace_back(config, shard).Open();
    on.back().Execute("SET @fixture = 1");
  }
  uint64_t now = kNow;
  while (!stop) {
    std::vector<Edge> under_way;
    for (int i = 0; i < 5; ++i) {
      const UserId src{10'000 * seed + random() % 500}, dst{500'000 + random() % 50};
      const ForwardChanged changed = ChangeForward(
          on[map.ShardOf(src)],
          {.src = src, .dst = dst, .live = random() % 3 > 0, .unix_us = now += 60'000'000});
      if (changed.changed) under_way.push_back(changed.edge);
    }
    std::this_thread::sleep_for(milliseconds(random() % 40));
    for (const Edge& edge : under_way) {
      (void)ApplyReverse(on[map.ShardOf(edge.dst)], {&edge, 1});
      on[map.ShardOf(edge.src)].Execute(
          Sql("UPDATE log1 SET done = 1 WHERE kind = 1 AND src = ", edge.src,
              " AND dst = ", edge.dst, " AND ver = ", edge.ver));
    }
  }
}

TEST_F(FullScanTest, BesideWritersNothingIsFoundButWhatIsWrong) {
  for (uint64_t src = 10; src < 2'010; ++src) {
    PutBoth({UserId{src}, UserId{600'000 + src % 100}, 100, src % 5 > 0, 5});
  }
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    writers.emplace_back([&, seed] { Write(shards_.config(), shards_.map(), seed, stop); });
  }
  {
    Scanning scanning(shards_);
    for (int pass = 0; pass < 3; ++pass) scanning.Pass(shards_);
    EXPECT_TRUE(scanning.found.edges.empty()) << "no false difference";
    EXPECT_GT(shards_.Total("SELECT COUNT(*) FROM log1"), 20) << "they did write";

    // By hand: a reverse row is gone, one is older, one choice differs.
    const auto edit = [this](uint64_t src, const std::string& how) {
      const UserId dst{600'000 + src % 100};
      shards_.of(dst).Execute(how + Sql(" WHERE dst = ", dst, " AND src = ", src));
    };
    edit(101, "DELETE FROM follower");
    edit(102, "UPDATE follower SET ver = 7, state = 0");
    edit(103, "UPDATE follower SET delivery = 2");
    scanning.Pass(shards_);
    std::set<EdgeKey> expected;
    for (const uint64_t src : {101, 102, 103}) {
      expected.insert({UserId{src}, UserId{600'000 + src % 100}});
    }
    EXPECT_EQ(scanning.found.edges, expected);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace fanline::mysql
