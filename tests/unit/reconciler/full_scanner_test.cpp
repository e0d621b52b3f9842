#include "reconciler/full_scanner.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Rows = std::map<EdgeKey, EdgeState>;
using Edges = std::set<EdgeKey>;

constexpr EdgeState kLive{100, true, 5}, kOff{200, false, 5};
EdgeKey From(uint64_t src, uint64_t dst = 2) { return {UserId{src}, UserId{dst}}; }

// Both tables on their shards, and the places of the scan. Pages and digests are of the replica, if
// there is one.
struct TablesWorld : RepairWorld,
                     ServesAll<TablesWorld, ReadFullScan, MoveFullScan, ReadScanPage, DigestEdges> {
  void Serve(const ReadFullScan& request, ReplyTo<FullScanRead> to) {
    FullScanRead reply{request.id, Do("places"), places[request.table], server_clock};
    to(reply);
  }
  void Serve(const MoveFullScan& request, ReplyTo<FullScanMoved> to) {
    const Status status = Do("moves");
    FullScanPlace& place = places[request.table];
    if (status.done() && place == request.from) place = request.to;
    to({request.id, status});
  }
  void Serve(const ReadScanPage& request, ReplyTo<ScanPageRead> to) {
    pages.push_back(request);
    ScanPageRead reply{request.id, unreadable.empty() ? Do("pages") : Status::Never(unreadable)};
    reply.lags = lags;
    reply.replica = replica.has_value();
    reply.total = total;
    const bool by_dst = request.table.reverse;
    std::map<ScanKey, EdgeKey> keys;
    for (const auto& [edge, state] : Of(by_dst)) {
      const ScanKey key = by_dst ? ScanKey{Raw(edge.dst), BucketOf(edge.src), Raw(edge.src)}
                                 : ScanKey{Raw(edge.src), 0, Raw(edge.dst)};
      if (ShardOf(by_dst, edge) == request.table.shard) keys[key] = edge;
    }
    for (auto key = keys.upper_bound(request.place.after);
         key != keys.end() && reply.status.done() && !lags && reply.rows.size() < request.limit;
         ++key) {
      reply.rows.push_back({key->second, DigestOf(by_dst, key->second)});
      reply.last = key->first;
    }
    reply.more = reply.rows.size() == request.limit;
    to(reply);
  }
  void Serve(const DigestEdges& request, ReplyTo<EdgesDigested> to) {
    EdgesDigested reply{
        request.id, undigested.empty() ? Do("digests") : Status::Never(undigested), {}};
    for (size_t i = 0; i < request.edges.size() && reply.status.done(); ++i) {
      EXPECT_EQ(ShardOf(request.table.reverse, request.edges[i]), request.table.shard);
      if (i % kDigestEdges == 0) reply.digests.push_back(0);
      reply.digests.back() ^= DigestOf(request.table.reverse, request.edges[i]);
    }
    to(reply);
  }

  void FullScan(const FullScanReport& seen) override { report = seen; }
  void FullScanned(const std::string&, uint64_t rows) override { scanned += rows; }
  void FullScanStopped(const std::string&, Shard, const std::string&) override { ++stops; }

  void Put(const EdgeKey& edge, const EdgeState& state = kLive) {
    forward[edge] = reverse[edge] = state;
  }
  const Rows& Of(bool of_reverse) const {
    if (replica) return of_reverse ? replica->second : replica->first;
    return of_reverse ? reverse : forward;
  }
  Shard ShardOf(bool of_reverse, const EdgeKey& edge) const {
    return of_reverse ? shards.reverse.ShardOf(edge.dst) : shards.forward.ShardOf(edge.src);
  }
  uint64_t DigestOf(bool of_reverse, const EdgeKey& edge) const {
    const auto row = Of(of_reverse).find(edge);
    if (row == Of(of_reverse).end()) return 0;
    const EdgeState& state = row->second;
    uint64_t digest = std::hash<EdgeKey>()(edge);
    for (const uint64_t part : {state.ver, uint64_t{state.live}, static_cast<uint64_t>(state.pos),
                                static_cast<uint64_t>(state.delivery)}) {
      digest = (digest ^ part) * 0x9E3779B97F4A7C15u;
      digest ^= digest >> 29;
    }
    return digest;
  }
  Status Do(const std::string& what) {
    return away.contains(what) ? Status::Later("mysql_0", "away") : Status::Done();
  }

  EdgeShards shards{};
  std::optional<std::pair<Rows, Rows>> replica;  // forward, reverse
  std::map<EdgeTableId, FullScanPlace> places;
  std::vector<ReadScanPage> pages;
  bool lags = false;
  std::string unreadable, undigested;
  uint64_t total = 0, scanned = 0;
  int stops = 0;
  FullScanReport report;
};

constexpr EdgeTableId kForward{false, 0}, kReverse{true, 0};

struct FullScannerTest : ::testing::Test {
  // One reconciler, and what is on its way to it.
  struct One {
    One(TablesWorld& world, RepairGate& gate, const FullScanLimits& limits, uint32_t partitions = 1)
        : scanner({.comparer = {.log = {Repairs(world), to_comparer},
                                .store = {Repairs(world), to_comparer},
                                .retries = {Repairs(world), to_comparer},
                                .metrics = world},
                   .scan = {world, inputs},
                   .metrics = world},
                  {.shards = world.shards}, partitions, {}, limits, gate) {
      scanner.Own({0});
    }
    static RepairWorld& Repairs(RepairWorld& world) { return world; }

    fakes::Inbox<FullScanInput> inputs;
    PartOf<ComparerReply, fakes::Inbox<FullScanInput>> to_comparer = AsPart<ComparerReply>(inputs);
    FullScanner scanner;
  };

  void Start(const EdgeShards& shards = {}) {
    world.shards = shards;
    gate = std::make_unique<RepairGate>(GateLimits{}, static_cast<Shard>(shards.reverse.shards()));
    gate->SetMode(ReconcilerMode::kRun);
    one = std::make_unique<One>(world, *gate, limits);
  }
  void Step(One& of) {
    do {
      fakes::Inbox<FullScanInput> given;
      given.swap(of.inputs);
      next = of.scanner.Step(given, now).next_timer;
      while (!world.requests.empty()) world.Answer();
    } while (!of.inputs.empty() || next == now.mono);
  }
  void Pass(Duration time) {
    now.mono += time;
    now.unix_ms += Milliseconds(time);
    world.server_clock += Milliseconds(time);
    Step(*one);
  }
  // Long enough for some pages, and for what is held.
  void Passes(int times = 20) {
    for (int i = 0; i < times; ++i) Pass(seconds(1));
  }
  // What the retries have been given, of this net and without a version.
  std::set<EdgeKey> Found() const {
    std::set<EdgeKey> edges;
    for (const RelationRetry& retry : world.retries) {
      EXPECT_EQ(retry.net, Net::kScan);
      EXPECT_EQ(retry.claim, EdgeClaim());
      edges.insert(retry.edge);
    }
    return edges;
  }
  bool Passed(const EdgeTableId& table) { return world.places[table].passed > 0; }

  TablesWorld world;
  FullScanLimits limits{.rows_per_second = 1'000'000, .rows = 1'000};
  std::unique_ptr<RepairGate> gate;
  std::unique_ptr<One> one;
  Now now{Time{} + seconds(1'000), 1'700'000'000'000};
  std::optional<Time> next;
};

TEST_F(FullScannerTest, EqualTablesAreComparedByDigestsAlone) {
  for (uint64_t src = 10; src < 710; ++src) world.Put(From(src), src % 2 == 0 ? kLive : kOff);
  Start();
  Step(*one);
  EXPECT_TRUE(Passed(kForward) && Passed(kReverse));
  EXPECT_EQ(world.scanned, 1'400u);
  EXPECT_TRUE(world.read.empty() && world.retries.empty());
}

TEST_F(FullScannerTest, ARowThatTheOtherTableLacksIsFound) {
  for (uint64_t src = 10; src < 710; ++src) world.Put(From(src));
  world.reverse.erase(From(400));
  Start();
  Passes();
  EXPECT_EQ(Found(), Edges{From(400)});
  EXPECT_TRUE(Passed(kForward) && Passed(kReverse));
}

TEST_F(FullScannerTest, AReverseRowAloneIsFoundFromItsSide) {
  world.Put(From(10));
  world.reverse[From(11)] = kLive;
  Start();
  Passes();
  EXPECT_EQ(Found(), Edges{From(11)});
  EXPECT_TRUE(Passed(kReverse));
}

// Tombstones are collected by what it proves.
TEST_F(FullScannerTest, APassProvesWhatItReadOnPrimariesSinceItBegan) {
  for (uint64_t src = 10; src < 1'510; ++src) world.Put(From(src));
  world.replica.emplace(world.forward, world.reverse);
  Start();
  Step(*one);
  world.replica.reset();  // the second page
  Passes();
  ASSERT_TRUE(Passed(kForward));
  EXPECT_EQ(world.places[kForward].proved, 0) << "its first page was a replica's";
  Pass(hours(24));
  const UnixMs began = world.places[kForward].began;
  Passes();
  EXPECT_EQ(world.places[kForward].proved, began);
  EXPECT_GT(world.places[kForward].passed, began);
}

TEST_F(FullScannerTest, WhateverAVersionOrdersIsCompared) {
  const std::vector<EdgeState> others = {{99, true, 5},
                                         {100, false, 5},
                                         {100, true, 6},
                                         {100, true, 5, Delivery::kNone},
                                         {101, false, 5}};
  for (size_t i = 0; i < others.size(); ++i) {
    world.Put(From(10 + i));
    world.reverse[From(10 + i)] = others[i];
  }
  world.Put(From(30), kOff);
  world.reverse[From(30)] = {150, false, 5};
  Start();
  Passes();
  EXPECT_EQ(Found(), (Edges{From(10), From(11), From(12), From(13), From(14), From(30)}));
}

TEST_F(FullScannerTest, AnySharding) {
  limits.rows = 50;
  for (uint64_t src = 10; src < 310; ++src) world.Put(From(src, 1'000 + src % 7));
  for (const uint64_t src : {11, 99, 200, 309}) world.reverse.erase(From(src, 1'000 + src % 7));
  world.forward.erase(From(55, 1'000 + 55 % 7));
  Start({.reverse = ShardMap::Even(2), .forward = ShardMap::Even(5)});
  Passes(40);
  Edges expected;
  for (const uint64_t src : {11, 55, 99, 200, 309}) expected.insert(From(src, 1'000 + src % 7));
  EXPECT_EQ(Found(), expected);
  for (Shard shard = 0; shard < 5; ++shard) EXPECT_TRUE(Passed({false, shard}));
  for (Shard shard = 0; shard < 2; ++shard) EXPECT_TRUE(Passed({true, shard}));
}

// ---- places ---------------------------------------------------------------------------------

TEST_F(FullScannerTest, EachRowIsInOnePageAlsoAtItsEnds) {
  limits.rows = 10;
  for (uint64_t src = 1; src <= 20; ++src) world.Put(From(1 + src % 3, 100 + src));
  Start();
  Passes();
  EXPECT_EQ(world.scanned, 40u);
  std::map<bool, int> pages;
  for (const ReadScanPage& page : world.pages) ++pages[page.table.reverse];
  EXPECT_EQ(pages[false], 3) << "the third is empty";
  EXPECT_EQ(world.places[kForward].compared, 20u);
}

TEST_F(FullScannerTest, ARestartGoesOnWhereItWas) {
  limits.rows = 10;
  for (uint64_t src = 10; src < 45; ++src) world.Put(From(src));
  Start();
  Step(*one);
  const FullScanPlace place = world.places[kForward];
  EXPECT_EQ(place.after, (ScanKey{19, 0, 2}));
  EXPECT_EQ(place.compared, 10u);
  Start();
  world.pages.clear();
  Step(*one);
  EXPECT_EQ(world.pages.at(0).place, place);
  Passes();
  EXPECT_EQ(world.places[kForward].began, place.began);
  EXPECT_EQ(world.places[kForward].compared, 35u);
  EXPECT_TRUE(Passed(kForward));
}

TEST_F(FullScannerTest, WhatWasFoundAndNotRepairedIsFoundAgainAfterAKill) {
  world.Put(From(10));
  world.reverse.clear();
  Start();
  Step(*one);
  EXPECT_FALSE(Passed(kForward)) << "its edge is held for a grace";
  Start();
  Passes();
  EXPECT_EQ(Found(), Edges{From(10)});
  EXPECT_TRUE(Passed(kForward));
}

TEST_F(FullScannerTest, ThePlaceWaitsUntilTheRetriesHaveWhatIsLeft) {
  world.reverse[From(11)] = kLive;
  world.away = {"retries"};
  Start();
  Passes();
  EXPECT_FALSE(Passed(kReverse));
  world.away.clear();
  Passes();
  EXPECT_TRUE(Passed(kReverse));
}

TEST_F(FullScannerTest, OfTwoWhoScanATableOneMovesThePlace) {
  limits.rows = 10;
  for (uint64_t src = 10; src < 45; ++src) world.Put(From(src));
  Start();
  One other(world, *gate, limits);
  // Both read the first page; then one is far ahead before the other moves the place.
  (void)one->scanner.Step({}, now);
  fakes::Inbox<FullScanInput> held;
  held.swap(one->inputs);
  for (int i = 0; i < 3; ++i) {
    now.mono += seconds(1);
    Step(other);
  }
  const FullScanPlace ahead = world.places[kForward];
  EXPECT_EQ(ahead.after, (ScanKey{39, 0, 2}));
  one->inputs.swap(held);
  Step(*one);
  EXPECT_EQ(world.places[kForward], ahead);
  Passes();
  EXPECT_EQ(world.places[kForward].compared, 35u);
}

TEST_F(FullScannerTest, APassBeginsADayAfterTheLastOneBegan) {
  world.Put(From(10));
  Start();
  Passes();
  const size_t pages = world.pages.size();
  EXPECT_EQ(pages, 2u) << "one of each table: nothing is left of a pass that ended";
  Pass(hours(23));
  EXPECT_EQ(world.pages.size(), pages);
  world.reverse.clear();
  Pass(hours(1));
  Passes();
  EXPECT_EQ(Found(), Edges{From(10)});
}

TEST_F(FullScannerTest, APassIsDueToTheMillisecond) {
  world.places[kForward].began = world.server_clock - Milliseconds(limits.every);
  world.places[kReverse].began = world.places[kForward].began + 1;
  Start();
  Step(*one);
  EXPECT_EQ(world.pages.size(), 1u);
}

TEST_F(FullScannerTest, APassOfAClockThatWasAheadIsDue) {
  world.Put(From(10));
  world.places[kForward].began = world.server_clock + Milliseconds(hours(1'000));
  Start();
  Passes();
  EXPECT_TRUE(Passed(kForward));
  EXPECT_LE(world.places[kForward].began, world.server_clock);
}

TEST_F(FullScannerTest, OnlyOnesOwnTablesAreScanned) {
  world.Put(From(10));
  Start();
  one->scanner.Own({});
  Passes();
  EXPECT_TRUE(world.pages.empty());
}

TEST_F(FullScannerTest, WhoeverHoldsHalfOfThePartitionsScansHalfOfTheTables) {
  limits.rows = 10;
  for (uint64_t src = 10; src < 110; ++src) world.Put(From(src, 1'000 + src));
  for (const uint32_t partitions : {8u, 4u, 2u}) {
    world.places.clear();
    Start({.reverse = ShardMap::Even(2), .forward = ShardMap::Even(2)});
    One halves(world, *gate, limits, partitions);
    std::vector<int32_t> first;
    for (uint32_t each = 0; each < partitions / 2; ++each) first.push_back(static_cast<int>(each));
    halves.scanner.Own(first);
    world.pages.clear();
    Step(halves);
    std::set<EdgeTableId> tables;
    for (const ReadScanPage& page : world.pages) tables.insert(page.table);
    EXPECT_EQ(tables, (std::set<EdgeTableId>{{false, 0}, {false, 1}})) << partitions;
  }
}

// ---- what is on its way ---------------------------------------------------------------------

TEST_F(FullScannerTest, ADifferenceThatGoesWithinAGraceIsNone) {
  world.Put(From(10));
  world.reverse.clear();
  Start();
  Step(*one);
  Pass(seconds(2));
  EXPECT_TRUE(world.retries.empty());
  world.reverse = world.forward;
  Passes();
  EXPECT_TRUE(world.retries.empty());
  EXPECT_TRUE(Passed(kForward));
}

TEST_F(FullScannerTest, WhatLog1HasPendingIsTheMirrors) {
  world.Put(From(10));
  world.reverse.clear();
  world.newest_log_id = 7;
  world.Log(7, EdgeOf(From(10), kLive));
  Start();
  Passes(60);
  EXPECT_TRUE(world.retries.empty());
  world.log1.clear();
  world.reverse = world.forward;
  Passes();
  EXPECT_TRUE(Passed(kForward));
  EXPECT_TRUE(world.retries.empty());
}

TEST_F(FullScannerTest, WhatAReplicaShowsIsLookedAtAgainOnPrimaries) {
  for (uint64_t src = 10; src < 20; ++src) world.Put(From(src));
  world.replica.emplace(world.forward, world.reverse);
  world.replica->second.erase(From(15));  // it lags
  world.replica->first.erase(From(12));
  Start();
  Passes();
  EXPECT_FALSE(world.read.empty());
  EXPECT_TRUE(world.retries.empty());
  EXPECT_TRUE(Passed(kForward) && Passed(kReverse));
}

TEST_F(FullScannerTest, AReplicaThatLagsGetsNoPageUntilItHasThePlace) {
  world.Put(From(10));
  world.lags = true;
  Start();
  Passes(5);
  EXPECT_EQ(world.scanned, 0u);
  EXPECT_EQ(world.report.replica_lag, seconds(4));
  world.lags = false;
  Passes(2);
  EXPECT_TRUE(Passed(kForward));
  EXPECT_EQ(world.report.replica_lag, seconds(0));
}

TEST_F(FullScannerTest, InModePauseAndBehindAMirrorThatLagsNothingIsRead) {
  world.Put(From(10));
  Start();
  gate->SetMode(ReconcilerMode::kPause);
  Passes();
  gate->SetMode(ReconcilerMode::kRun);
  gate->SetMirrorBehind(true);
  Passes();
  EXPECT_TRUE(world.pages.empty());
  gate->SetMirrorBehind(false);
  Passes();
  EXPECT_TRUE(Passed(kForward));
}

TEST_F(FullScannerTest, AMirrorThatFellBehindMeanwhileAccountsForDifferences) {
  world.Put(From(10));
  world.reverse.clear();
  Start();
  Step(*one);
  gate->SetMirrorBehind(true);
  Passes();
  EXPECT_TRUE(world.retries.empty());
  EXPECT_FALSE(Passed(kForward));
}

TEST_F(FullScannerTest, WhatIsAwayHoldsThePlaceAndNothingGoesToTheRetries) {
  for (uint64_t src = 10; src < 20; ++src) world.Put(From(src));
  world.reverse.erase(From(15));
  for (const char* what : {"places", "pages", "digests", "store", "moves"}) {
    world.away = {what};
    Start();  // which waits for nothing yet
    Passes();
    EXPECT_FALSE(Passed(kForward)) << what;
    if (what == std::string("moves")) break;  // all but the place is done
    EXPECT_TRUE(world.retries.empty()) << what;
  }
  world.away.clear();
  Pass(seconds(60));
  Passes();
  EXPECT_TRUE(Passed(kForward));
}

TEST_F(FullScannerTest, APageThatFailedIsForgottenByTheNextReading) {
  world.Put(From(15));
  world.reverse.erase(From(15));
  world.away = {"store"};
  Start();
  Passes();
  EXPECT_FALSE(Passed(kForward));
  world.away.clear();
  Pass(seconds(60));
  Passes();
  EXPECT_TRUE(Passed(kForward));
}

// ---- too many -------------------------------------------------------------------------------

struct TooMany : FullScannerTest {
  // So many rows, of which the reverse shards lack some.
  void Make(uint64_t rows, uint64_t lacking) {
    for (uint64_t src = 10; src < 10 + rows; ++src) world.Put(From(src));
    for (uint64_t src = 10; src < 10 + lacking; ++src) world.reverse.erase(From(src));
  }
};

TEST_F(TooMany, APageOfWhichMoreThanATenthDiffersStopsTheScan) {
  Make(1'000, 101);
  Start();
  Passes();
  EXPECT_EQ(world.places[kForward].stopped, "101 of 1000 rows differ from reverse rows of shard 0");
  EXPECT_TRUE(world.retries.empty());
  EXPECT_FALSE(Passed(kForward));
  EXPECT_TRUE(Passed(kReverse)) << "each table by itself";
  EXPECT_EQ(world.report.stopped, 1u);
  EXPECT_EQ(world.stops, 1);
}

TEST_F(TooMany, AHundredRowsOrATenthDoNotStopIt) {
  Make(1'000, 100);
  Start();
  Passes(40);
  EXPECT_TRUE(Passed(kForward));
  EXPECT_EQ(world.retries.size(), 100u);
  limits.rows = 2'000;
  world.places.clear();
  Make(2'000, 200);
  Start();
  Passes(40);
  EXPECT_TRUE(Passed(kForward)) << "a tenth of a larger page";
  EXPECT_EQ(world.retries.size(), 300u);
}

TEST_F(TooMany, AWipedShardOfManyStopsItToo) {
  limits.rows = 320;
  for (uint64_t src = 10; src < 2'010; ++src) world.Put(From(src, 10'000 + src));
  const EdgeShards shards{.reverse = ShardMap::Even(1), .forward = ShardMap::Even(16)};
  std::erase_if(world.forward,
                [&](const auto& row) { return shards.forward.ShardOf(row.first.src) == 3; });
  Start(shards);
  Passes(60);
  const std::string& why = world.places[kReverse].stopped;
  EXPECT_NE(why.find("rows differ from forward rows of shard 3"), std::string::npos) << why;
  EXPECT_LE(world.retries.size(), 100u);
}

TEST_F(TooMany, ALittleOfEachOfManyShardsStopsIt) {
  for (uint64_t src = 10; src < 1'010; ++src) {
    world.Put(From(src, 10'000 + src));
    if (src % 5 == 0) world.reverse.erase(From(src, 10'000 + src));
  }
  Start({.reverse = ShardMap::Even(16), .forward = ShardMap::Even(1)});
  Passes();
  EXPECT_EQ(world.places[kForward].stopped, "200 of 1000 rows differ from reverse rows");
  EXPECT_TRUE(world.retries.empty());
}

TEST_F(TooMany, RightPagesBeforeItExcuseNothing) {
  Make(6'000, 0);
  for (uint64_t src = 5'010; src < 5'210; ++src) world.reverse.erase(From(src));
  Start();
  Passes(60);
  EXPECT_EQ(world.places[kForward].stopped, "200 of 1000 rows differ from reverse rows of shard 0");
  EXPECT_TRUE(world.retries.empty());
}

TEST_F(TooMany, ItStaysStoppedUntilAnOperatorHasItGoOn) {
  Make(1'000, 101);
  Start();
  Passes();
  Start();
  Passes();
  EXPECT_EQ(world.stops, 1) << "nothing was read";
  world.places[kForward].stopped = "";
  Pass(seconds(10));
  Passes();
  EXPECT_EQ(world.stops, 2) << "still so many";
  world.places[kForward].stopped = "";
  world.places[kForward].allowed = true;
  Pass(seconds(10));
  Passes();
  EXPECT_TRUE(Passed(kForward));
  EXPECT_EQ(world.retries.size(), 101u);
  EXPECT_FALSE(world.places[kForward].allowed) << "to the end of this pass";
}

TEST_F(TooMany, ATableThatCannotBeReadInItsOrderStopsItAtOnce) {
  world.unreadable = "table follows has no key that begins with src, dst";
  Start();
  Passes();
  EXPECT_EQ(world.places[kForward].stopped, world.unreadable);
  EXPECT_EQ(world.stops, 2);
}

TEST_F(TooMany, DigestsThatCanNeverBeReadStopItToo) {
  world.Put(From(10));
  world.undigested = "no such column";
  Start();
  Passes();
  EXPECT_EQ(world.places[kForward].stopped, world.undigested);
  EXPECT_EQ(world.stops, 2);
}

// ---- pace -----------------------------------------------------------------------------------

TEST_F(FullScannerTest, SoManyRowsASecond) {
  limits = {.rows_per_second = 10, .rows = 50};
  for (uint64_t src = 10; src < 200; ++src) world.Put(From(src));
  Start();
  one->scanner.Own({0});
  Step(*one);
  EXPECT_EQ(world.places[kForward].compared, 50u);
  EXPECT_EQ(next, now.mono + seconds(5));
  Pass(milliseconds(4'900));
  EXPECT_EQ(world.places[kForward].compared, 50u);
  Pass(milliseconds(100));
  EXPECT_EQ(world.places[kForward].compared, 100u);
}

TEST_F(FullScannerTest, AServerThatIsSlowIsLeftAloneForAsLongAsItTook) {
  limits.rows = 50;
  for (uint64_t src = 10; src < 200; ++src) world.Put(From(src));
  Start();
  (void)one->scanner.Step({}, now);  // the places are read
  fakes::Inbox<FullScanInput> replies;
  replies.swap(one->inputs);
  (void)one->scanner.Step(replies, now);  // the pages are asked for
  now.mono += seconds(7);
  Step(*one);
  EXPECT_EQ(world.places[kForward].compared, 50u);
  EXPECT_EQ(next, now.mono + seconds(7));
}

TEST_F(FullScannerTest, ItSaysHowFarItIsAndWhenItLastPassed) {
  limits = {.rows_per_second = 10, .rows = 50};
  for (uint64_t src = 10; src < 110; ++src) world.Put(From(src));
  world.total = 200;
  Start();
  Step(*one);
  Pass(seconds(5));
  Pass(milliseconds(0));
  EXPECT_EQ(world.places[kForward].compared, 100u);
  EXPECT_DOUBLE_EQ(world.report.done, 0.5);
  EXPECT_EQ(world.report.left, seconds(5)) << "100 more rows, at 20 a second so far";
  Passes(30);
  EXPECT_TRUE(Passed(kForward) && Passed(kReverse));
  EXPECT_DOUBLE_EQ(world.report.done, 1);
  Pass(hours(2));
  EXPECT_GE(world.report.unpassed, hours(2));
  EXPECT_LT(world.report.unpassed, hours(3));
}

TEST_F(FullScannerTest, AStopFinishesWhatIsUnderWay) {
  world.Put(From(10));
  world.reverse.clear();
  Start();
  Step(*one);
  one->scanner.StopTaking();
  Step(*one);
  EXPECT_TRUE(one->scanner.drained());
  Pass(seconds(60));
  EXPECT_TRUE(world.retries.empty());
  EXPECT_FALSE(Passed(kForward));
}

TEST_F(FullScannerTest, AStopBeginsNoPage) {
  limits.rows = 10;
  for (uint64_t src = 10; src < 110; ++src) world.Put(From(src));
  Start();
  Step(*one);
  const size_t pages = world.pages.size();
  one->scanner.StopTaking();
  Passes();
  EXPECT_EQ(world.pages.size(), pages);
  EXPECT_TRUE(one->scanner.drained());
}

}  // namespace
}  // namespace fanline::reconciler
