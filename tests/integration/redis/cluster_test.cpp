// A real Redis Cluster of three masters (stack/with-stack --cluster): ranges go to the node of
// their slot, and what happens to one node or slot is no other range's business.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "backends/redis/cluster/masters.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/keys.h"
#include "backends/redis/reset_walk.h"
#include "tests/integration/redis/blocking_timelines.h"
#include "tests/integration/redis/redis_world.h"
#include "tests/integration/soon.h"

namespace fanline::redis::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Item kPost{PostId{77}, 1'700'000'000'000, UserId{500}};

std::string Name(std::string_view key) { return std::string(key); }

// The calls of a reset to one node, each when the test says so.
class Calls : public CommandChannel {
 public:
  explicit Calls(const Options& node) : connection_(node.At(node.seeds.front())) {}
  void Call(CommandBuffer command, Done done) override { waiting_.emplace_back(command, done); }
  // False: there is none.
  bool Next() {
    if (waiting_.empty()) return false;
    const auto [command, done] = waiting_.front();
    waiting_.pop_front();
    bool answered = false;
    const Status status = connection_.Call(command, [&, &done = done](const redisReply& reply) {
      answered = true;
      done({Status::Done(), false, &reply});
      return Status::Done();
    });
    if (!answered) done({status, false, nullptr});
    return true;
  }

 private:
  BlockingConnection connection_;
  std::deque<std::pair<CommandBuffer, Done>> waiting_;
};

class RedisCluster : public ::testing::Test {
 protected:
  RedisCluster() : options_(Quick()), keys_(options_), masters_(options_), reader_(options_) {
    Clean();
    driver_ = std::make_unique<Driver>(options_);
    driver_->WaitUntilConnected();
  }

  static Options Quick() {
    Options options = OptionsFromEnvironment();
    options.heartbeat = 20ms;
    options.map_every = 200ms;
    options.slot_left_after = 300ms;
    return options;
  }

  // Also after a test that failed in the middle of a move.
  void Clean() {
    EXPECT_TRUE(masters_.Refresh(Masters::Ask::kAll).done());
    const auto nodes = masters_.map().masters();
    for (const Endpoint& node : nodes) {
      At(node).Run({"FLUSHALL"});
      At(node).Run({"CLUSTER", "SETSLOT", SlotText(first()), "STABLE"});
    }
    const Endpoint home = HomeOf(beside());
    EXPECT_TRUE(Soon([&] {
      if (AllSend(first(), home)) return true;
      // Gossip believes the node of the newest epoch.
      At(home).Run({"CLUSTER", "BUMPEPOCH"});
      EndMove(first(), home);
      return false;
    }));
  }
  bool AllSend(Range range, const Endpoint& home) {
    const auto nodes = masters_.map().masters();
    return std::all_of(nodes.begin(), nodes.end(), [&](const Endpoint& node) {
      const std::string answer = At(node).Run({"EXISTS", Pos(range)});
      return node == home ? answer == "0" : answer.ends_with(ToString(home));
    });
  }

  // ---- the cluster as an operator moves its slots
  static Console At(const Endpoint& node) {
    Options options = OptionsFromEnvironment();
    options.seeds = {node};
    return Console(options);
  }
  Endpoint HomeOf(Range range) {
    EXPECT_TRUE(masters_.Refresh(Masters::Ask::kAll).done());
    return *masters_.map().MasterOf(keys_.layout().First(range));
  }
  std::string SlotText(Range range) { return std::to_string(SlotOf(keys_.layout().First(range))); }
  void BeginMove(Range range, const Endpoint& to) {
    const Endpoint from = HomeOf(range);
    const std::string slot = SlotText(range);
    const auto set = [&](const Endpoint& at, const char* state, const Endpoint& other) {
      return At(at).Run({"CLUSTER", "SETSLOT", slot, state, At(other).Run({"CLUSTER", "MYID"})});
    };
    // A node may not have heard yet that the other is a master.
    EXPECT_TRUE(Soon([&] { return set(to, "IMPORTING", from) == "OK"; }));
    EXPECT_TRUE(Soon([&] { return set(from, "MIGRATING", to) == "OK"; }));
  }
  void MoveKey(Range range, const std::string& key, const Endpoint& to) {
    EXPECT_EQ(
        At(HomeOf(range)).Run({"MIGRATE", to.host, std::to_string(to.port), key, "0", "1000"}),
        "OK");
  }
  void MoveKeys(Range range, const Endpoint& to) {
    for (const auto& key :
         At(HomeOf(range)).List({"CLUSTER", "GETKEYSINSLOT", SlotText(range), "1000"})) {
      MoveKey(range, key, to);
    }
  }
  void EndMove(Range range, const Endpoint& to) {
    const std::string id = At(to).Run({"CLUSTER", "MYID"});
    const auto all = masters_.map().masters();
    At(to).Run({"CLUSTER", "SETSLOT", SlotText(range), "NODE", id});
    for (const Endpoint& node : all) {
      At(node).Run({"CLUSTER", "SETSLOT", SlotText(range), "NODE", id});
    }
  }
  void Stay(Range range, const Endpoint& with) {  // an operator gives up
    for (const Endpoint& node : {HomeOf(range), with}) {
      At(node).Run({"CLUSTER", "SETSLOT", SlotText(range), "STABLE"});
    }
  }

  // ---- ranges
  UserId ReaderIn(Range range) {
    for (uint64_t id = 1;; ++id) {
      if (keys_.layout().RangeOf(UserId{id}) == range) return UserId{id};
    }
  }
  // Two ranges of the first master, one of the last.
  Range first() const { return 0; }
  Range beside() const { return 1; }
  Range elsewhere() const { return static_cast<Range>(keys_.layout().partitions()) - 1; }

  RangeClaimed Claim(Range range, uint64_t epoch) {
    return driver_->Do(ClaimRange{0, range, epoch});
  }
  void Own(Range range, uint64_t epoch, AppliedPosition position) {
    ASSERT_TRUE(Soon([&] {
      const RangeClaimed claimed = Claim(range, epoch);
      return claimed.status.done() && claimed.refused_by == 0;
    }));
    ASSERT_TRUE(Reset(range, epoch, position).status.done());
  }
  BatchWritten Push(Range range, uint64_t epoch) {
    return driver_->Do(BatchOf(range, epoch).Write(ReaderIn(range), {kPost}).Take());
  }
  RangeReset Reset(Range range, uint64_t epoch, AppliedPosition position) {
    return driver_->Do(ResetRange{0, range, epoch, ResetRange::Timelines::kDrop, position});
  }
  void Build(Range range) {
    ASSERT_TRUE(reader_.Begin(ReaderIn(range), "t").status.done());
    ASSERT_TRUE(reader_.Finish(ReaderIn(range), "t").applied);
  }
  void Hold(std::initializer_list<Range> ranges) {
    for (const Range range : ranges) {
      Own(range, 5, {1, 400});
      Build(range);
    }
  }
  std::string Timeline(Range range) { return Name(keys_.Timeline(ReaderIn(range))); }
  std::string Pos(Range range) { return Name(keys_.Pos(range)); }

  const Options options_;
  const Keys keys_;
  Masters masters_;
  BlockingTimelines reader_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(RedisCluster, EachRangeIsWrittenOnTheMasterOfItsSlot) {
  ASSERT_THAT(masters_.map().masters(), SizeIs(3));
  ASSERT_EQ(HomeOf(first()), HomeOf(beside()));
  ASSERT_NE(HomeOf(first()), HomeOf(elsewhere()));
  for (const Range range : {first(), beside(), elsewhere()}) {
    Own(range, 5, {1, 400});
    Build(range);
    EXPECT_EQ(Push(range, 5).results, std::vector<int8_t>{1});
    EXPECT_EQ(At(HomeOf(range)).Run({"ZCARD", Timeline(range)}), "3");
    EXPECT_EQ(At(HomeOf(range)).Run({"GET", Pos(range)}), "1.16:400");
  }
}

TEST_F(RedisCluster, AnyOfItsNodesTellsOfTheOthers) {
  Options one = options_;
  for (const Endpoint& seed : options_.seeds) {  // a replica, too
    one.seeds = {seed};
    Masters masters(one);
    ASSERT_TRUE(masters.Refresh(Masters::Ask::kOne).done());
    EXPECT_THAT(masters.map().masters(), SizeIs(3));
  }
  one.seeds = {{"127.0.0.1", 1}, options_.seeds.back()};
  EXPECT_TRUE(Masters(one).Refresh(Masters::Ask::kOne).done()) << "a seed that is away";
}

TEST_F(RedisCluster, WhileASlotMovesItsRangeAloneWaitsAndIsClaimedWhereItCame) {
  Hold({first(), beside(), elsewhere()});
  const Endpoint from = HomeOf(first()), to = HomeOf(elsewhere());
  BeginMove(first(), to);
  MoveKey(first(), Timeline(first()), to);
  const BatchWritten held = Push(first(), 5);
  EXPECT_TRUE(held.status.later());
  EXPECT_THAT(held.status.message, HasSubstr("TRYAGAIN"));
  EXPECT_FALSE(held.needs_claim) << "nothing is lost: it waits";
  EXPECT_EQ(Push(beside(), 5).results, std::vector<int8_t>{1});

  MoveKeys(first(), to);
  EXPECT_THAT(Push(first(), 5).status.message, HasSubstr("ASK"));
  EndMove(first(), to);
  const BatchWritten moved = Push(first(), 5);
  EXPECT_TRUE(moved.needs_claim);
  EXPECT_EQ(Push(beside(), 5).results, std::vector<int8_t>{0}) << "its session went on";
  EXPECT_FALSE(Push(elsewhere(), 5).needs_claim);

  ASSERT_TRUE(Soon([&] { return Claim(first(), 6).status.done(); }));
  EXPECT_EQ(HomeOf(first()), to);
  EXPECT_EQ(At(to).Run({"GET", Pos(first())}), "1.16:400");
  EXPECT_EQ(Push(first(), 6).results, std::vector<int8_t>{1});
  BeginMove(first(), from);
  MoveKeys(first(), from);
  EndMove(first(), from);
}

TEST_F(RedisCluster, ARangeThatWasElsewhereMeanwhileIsClaimedAnewThoughItIsBack) {
  Hold({first()});
  const Endpoint from = HomeOf(first()), to = HomeOf(elsewhere());
  for (const auto& [source, target] : {std::pair{from, to}, std::pair{to, from}}) {
    BeginMove(first(), target);
    MoveKeys(first(), target);
    EndMove(first(), target);
    ASSERT_TRUE(Soon([&, target = target] { return HomeOf(first()) == target; }));
    std::this_thread::sleep_for(2 * options_.map_every);  // the adapter looks, nobody writes
  }
  EXPECT_TRUE(Push(first(), 5).needs_claim);
}

TEST_F(RedisCluster, AfterAFailoverOnlyTheRangesOfThatMasterAreClaimedAnew) {
  Hold({first(), beside(), elsewhere()});
  const Endpoint before = HomeOf(elsewhere());
  Endpoint replica;
  for (const Endpoint& seed : options_.seeds) {
    const std::string role = At(seed).Run({"ROLE"});
    if (role.starts_with("slave") && role.find(std::to_string(before.port)) != std::string::npos) {
      replica = seed;
    }
  }
  ASSERT_TRUE(Soon([&] { return At(replica).Run({"CLUSTER", "FAILOVER"}) == "OK"; }));
  ASSERT_TRUE(Soon([&] { return HomeOf(elsewhere()) == replica; }));
  ASSERT_TRUE(Soon([&] { return Push(elsewhere(), 5).needs_claim; }));
  EXPECT_FALSE(Push(first(), 5).needs_claim);
  EXPECT_FALSE(Push(beside(), 5).needs_claim);
  ASSERT_TRUE(Soon([&] { return Claim(elsewhere(), 6).status.done(); }));
  EXPECT_TRUE(Soon([&] { return Push(elsewhere(), 6).status.done(); }));
}

TEST_F(RedisCluster, ASlotThatNobodyServesIsWaitedForByItsRangeAlone) {
  Hold({first(), beside()});
  const Endpoint home = HomeOf(first());
  EXPECT_EQ(At(home).Run({"CLUSTER", "DELSLOTS", SlotText(first())}), "OK");
  const BatchWritten pushed = Push(first(), 5);
  const Status read = reader_.Read(ReaderIn(first())).status;
  const BatchWritten other = Push(beside(), 5);
  EXPECT_EQ(At(home).Run({"CLUSTER", "ADDSLOTS", SlotText(first())}), "OK");
  EXPECT_TRUE(pushed.status.later());
  EXPECT_FALSE(pushed.needs_claim);
  EXPECT_THAT(pushed.status.message, HasSubstr("CLUSTERDOWN"));
  EXPECT_TRUE(read.later());
  EXPECT_THAT(read.message, HasSubstr("CLUSTERDOWN"));
  EXPECT_EQ(other.results, std::vector<int8_t>{1});
  EXPECT_TRUE(Soon([&] { return Push(first(), 5).status.done(); })) << "nothing was lost";
}

TEST_F(RedisCluster, KeysOfTwoSlotsInOneCallAreAFaultOfOursAndLoseNoHint) {
  CommandBuffer both;
  both.Command("MGET", Pos(first()), Pos(beside()));
  const Status status = masters_.Call(keys_.layout().First(first()), both,
                                      [](const redisReply&) { return Status::Done(); });
  EXPECT_TRUE(status.later());
  EXPECT_THAT(status.message, HasSubstr("CROSSSLOT"));
}

// A slot that begins to move before one of a reset's calls. Two keys move, one before that call and
// one before the next.
class ResetOfASlotThatMoves : public RedisCluster {
 protected:
  using Timelines = ResetRange::Timelines;

  // Where the key is, by now.
  std::string Ask(const std::vector<std::string>& words) {
    const std::string answer = At(from).Run(words);
    if (!answer.starts_with("(error) ASK")) return answer;
    Console console = At(to);
    console.Run({"ASKING"});
    return console.Run(words);
  }
  // Bob is not listed: whatever lost its index entry, only the walk finds him.
  void Lay() {
    for (const std::string& key : keys) Ask({"DEL", key});
    Stay(first(), to);
    Console console = At(from);
    console.Run({"SET", own, "5"});
    console.Run({"SET", Pos(first()), "1.16:50"});
    console.Run({"SET", max_floor, "7"});
    console.Run({"ZADD", live, "1", ToString(eve)});
    for (const std::string& key : {bobs, eves}) {
      console.Run({"ZADD", key, "-inf", "T", "+inf", "F"});
    }
  }
  std::optional<RangeReset> Run(Timelines timelines, int moves_at,
                                const std::vector<std::string>& moved) {
    Options options = options_;
    options.seeds = {from};
    Calls calls(options);
    ResetWalk walk(calls, options, keys_);
    std::optional<RangeReset> answered;
    walk.Add(ResetRange{1, first(), 5, timelines, AppliedPosition{1, 60}},
             [&](RangeReset reply) { answered = std::move(reply); });
    for (int call = 0;; ++call) {
      if (call == moves_at) BeginMove(first(), to);
      const auto nth = static_cast<size_t>(call - moves_at);
      if (call >= moves_at && nth < moved.size()) {
        At(from).Run({"MIGRATE", to.host, std::to_string(to.port), moved[nth], "0", "1000"});
      }
      if (!calls.Next()) return answered;
    }
  }
  // A reader with a timeline is listed, or pushes would leave him out.
  void ExpectNobodyForgotten() {
    if (Ask({"ZSCORE", live, "#complete"}) == "(nil)") return;
    for (const auto& [reader, key] : {std::pair{bob, bobs}, std::pair{eve, eves}}) {
      const bool listed = Ask({"ZSCORE", live, ToString(reader)}) != "(nil)";
      EXPECT_TRUE(listed || Ask({"EXISTS", key}) == "0");
    }
  }
  void Try(Timelines timelines, int moves_at, const std::vector<std::string>& moved) {
    SCOPED_TRACE("before call " + std::to_string(moves_at) + " " + moved[0] + ", then " + moved[1]);
    Lay();
    const auto answered = Run(timelines, moves_at, moved);
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->status.done(), moves_at == kCalls) << answered->status.message;
    ExpectNobodyForgotten();
    const bool begun = moves_at > 0 && timelines == Timelines::kDrop;
    EXPECT_EQ(Ask({"GET", Pos(first())}), moves_at == kCalls ? "1.16:60"
                                          : begun            ? "(nil)"
                                                             : "1.16:50");
  }
  void TryEach(Timelines timelines) {
    for (int moves_at = 0; moves_at <= kCalls; ++moves_at) {
      for (const std::string& one : keys) {
        for (const std::string& other : keys) {
          if (one != other) Try(timelines, moves_at, {one, other});
          if (HasFailure()) return;
        }
      }
    }
  }

  static constexpr int kCalls = 4;  // begin, SCAN, the page, the end
  const UserId bob = ReaderIn(first());
  const UserId eve = [this] {
    UserId next{Raw(bob) + 1};
    while (keys_.layout().RangeOf(next) != first()) next = UserId{Raw(next) + 1};
    return next;
  }();
  const std::string bobs = Name(keys_.Timeline(bob)), eves = Name(keys_.Timeline(eve));
  const std::string own = Name(keys_.Own(first())), live = Name(keys_.Live(first()));
  const std::string max_floor = Name(keys_.MaxFloor(first()));
  const std::vector<std::string> keys{own, Pos(first()), live, max_floor, bobs, eves};
  const Endpoint from = HomeOf(first()), to = HomeOf(elsewhere());
};

TEST_F(ResetOfASlotThatMoves, NeverEndsWithATimelineThatTheIndexLacks) {
  TryEach(Timelines::kIndex);
}

TEST_F(ResetOfASlotThatMoves, DropsAllOrForgetsThePosition) { TryEach(Timelines::kDrop); }

TEST_F(RedisCluster, ASlotLeftHalfWayIsTold) {
  const Endpoint to = HomeOf(elsewhere());
  BeginMove(first(), to);
  EXPECT_TRUE(Soon([&] { return driver_->left_migrating() == 1; }));
  Stay(first(), to);
  EXPECT_TRUE(Soon([&] { return driver_->left_migrating() == 0; }));
  EXPECT_THAT(driver_->log(), HasSubstr("slot 0 of range 0"));
  EXPECT_THAT(driver_->log(), HasSubstr("redis-cli --cluster fix"));
}

TEST_F(RedisCluster, AReaderFollowsASlotThatMovesWithItsOneKeyAndWaitsWithTheRest) {
  Hold({first()});
  Push(first(), 5);
  const Endpoint from = HomeOf(first()), to = HomeOf(elsewhere());
  BeginMove(first(), to);
  MoveKey(first(), Timeline(first()), to);
  EXPECT_THAT(reader_.Read(ReaderIn(first())).page.items, SizeIs(1));
  EXPECT_THAT(reader_.Begin(ReaderIn(first()), "t").status.message, HasSubstr("TRYAGAIN"));
  MoveKeys(first(), to);
  EXPECT_THAT(reader_.Begin(ReaderIn(first()), "t").status.message, HasSubstr("ASK"));
  EndMove(first(), to);
  EXPECT_THAT(reader_.Read(ReaderIn(first())).page.items, SizeIs(1)) << "MOVED";
  BeginMove(first(), from);
  MoveKeys(first(), from);
  EndMove(first(), from);
}

TEST_F(RedisCluster, EveryMasterIsScanned) {
  Hold({first(), beside(), elsewhere()});
  TimelineScanner scanner(options_);
  std::vector<UserId> readers;
  ASSERT_TRUE(scanner.Readers(&readers).done());
  EXPECT_THAT(readers, SizeIs(3));
  std::vector<UserId> seen;
  ASSERT_TRUE(scanner
                  .Read(readers,
                        [&](const RawTimeline& timeline) {
                          EXPECT_EQ(timeline.problem, "");
                          seen.push_back(timeline.reader);
                        })
                  .done());
  EXPECT_EQ(seen, readers);
}

// A node keeps the owner of a slot that it is told to import, whatever it hears from others.
TEST_F(RedisCluster, TimelinesAreReadWhereTheyCameWhenOneNodeKnowsAnOldMap) {
  Hold({first()});
  const Endpoint from = HomeOf(first()), to = HomeOf(elsewhere());
  Options behind = options_;
  for (const Endpoint& node : masters_.map().masters()) {
    if (node != from && node != to) behind.seeds = {node};
  }
  const std::string slot = SlotText(first());
  At(behind.seeds.front())
      .Run({"CLUSTER", "SETSLOT", slot, "IMPORTING", At(from).Run({"CLUSTER", "MYID"})});
  BeginMove(first(), to);
  MoveKeys(first(), to);
  for (const Endpoint& node : {to, from}) {
    At(node).Run({"CLUSTER", "SETSLOT", slot, "NODE", At(to).Run({"CLUSTER", "MYID"})});
  }
  TimelineScanner scanner(behind);
  std::vector<RawTimeline> found;
  const Status status =
      scanner.Read(std::vector{ReaderIn(first())},
                   [&](const RawTimeline& timeline) { found.push_back(timeline); });
  EXPECT_TRUE(status.done()) << status.message;
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].state, TimelineState::kReady);
}

TEST_F(RedisCluster, OneThatStopsAsAWholeIsRefused) {
  ServerCheck check;
  ASSERT_TRUE(CheckServer(options_, &check).done());
  EXPECT_THAT(check.refusals, IsEmpty());
  EXPECT_THAT(check.warnings, IsEmpty());
  const Endpoint node = HomeOf(elsewhere());
  At(node).Run({"CONFIG", "SET", "cluster-require-full-coverage", "yes"});
  check = {};
  ASSERT_TRUE(CheckServer(options_, &check).done());
  At(node).Run({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
  ASSERT_THAT(check.refusals, SizeIs(1));
  EXPECT_THAT(check.refusals[0], HasSubstr(ToString(node)));
}

}  // namespace
}  // namespace fanline::redis::testing
