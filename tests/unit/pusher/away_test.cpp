// What a shard that is away may cost the authors of the others: nothing but the bounds of limits.h.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kFirstAway = 1'000'000;  // authors from here on lie on the shard that is away

struct AwayWorld : BobsWorld {
  explicit AwayWorld(const Limits& limits = {}) : BobsWorld(limits) { Publish(kAnn, kPost, 1'000); }

  static UserId Absent(uint64_t n) { return UserId{kFirstAway + n}; }
  void GiveAbsent(uint64_t lanes) {
    for (uint64_t n = 0; n < lanes; ++n) Give(0, Hint::OfPost(Absent(n), PostId{n + 1}));
  }
  void Answer() {
    asked = 0;
    for (const auto& call : std::exchange(truth_calls, {})) {
      const auto& page = std::get<ReadFollowerPage>(call);
      const bool fails = away && Raw(page.author) >= kFirstAway;
      asked += Raw(page.author) >= kFirstAway;
      inbox.emplace_back(
          fails ? FollowerPage{.id = page.id, .status = Status::Later("mysql_1", "away")}
                : mysql.Do(page));
    }
    AnswerTimelines();
  }
  // Steps until nothing is left to do now.
  void Settle() {
    int rounds = 0;
    do {
      ASSERT_LT(++rounds, 100'000) << "it goes on for ever";
      Step();
      Answer();
    } while (!inbox.empty() || !news_calls.empty() || !state_calls.empty());
    Step();
  }

  bool away = true;
  uint64_t asked = 0;  // of the shard that is away, in the last round
};

class LanesAway : public ::testing::TestWithParam<uint64_t> {};

TEST_P(LanesAway, AHealthyPostIsWrittenWithinAFewSteps) {
  AwayWorld w;
  for (uint64_t lanes = 0; lanes < GetParam(); ++lanes) {
    w.Give(0, Hint::OfPost(AwayWorld::Absent(lanes), PostId{1}));
    if (lanes % 1'000 == 0) w.Settle();
  }
  w.Settle();
  EXPECT_EQ(w.metrics.held.units_parked, GetParam());
  EXPECT_TRUE(w.paused.empty());

  w.Give(0, Hint::OfPost(kAnn, kPost));
  for (int step = 0; step < 4 && w.Items(w.bob).empty(); ++step) {
    w.Step();
    w.Answer();
  }
  EXPECT_EQ(w.Items(w.bob), std::vector<PostId>{kPost});
}

INSTANTIATE_TEST_SUITE_P(Away, LanesAway, ::testing::Values(1'023, 1'024, 5'000));

TEST(Away, TheShardIsAskedNowAndThenAndMetByAFewWhenItIsBack) {
  AwayWorld w;
  w.GiveAbsent(3'000);
  w.Settle();
  uint64_t asked = 0;
  for (int step = 0; step < 1'000; ++step) {
    w.Pass(milliseconds(10));
    w.Step();
    w.Answer();
    asked += w.asked;
  }
  EXPECT_GE(asked, 9u);
  EXPECT_LE(asked, 30u) << "in ten seconds, once a second when it has been away for a while";

  w.away = false;
  w.Pass(seconds(1));
  uint64_t before = 1;
  do {
    w.Step();
    w.Answer();
    EXPECT_LE(w.asked, std::min<uint64_t>(2 * before, Limits{}.units_in_flight / 4));
    before = std::max<uint64_t>(w.asked, 1);
  } while (!w.inbox.empty());
  w.Step();
  EXPECT_EQ(w.metrics.done, 3'000);
  EXPECT_EQ(w.metrics.held.units_parked, 0u);
  EXPECT_EQ(w.metrics.held.hints_parked, 0u);
}

// The first of them needs what is away.
TEST(Away, HintsThatAreTriedOneByOneAreHeldUpNoLongerThanUntilAStartHasLasted) {
  AwayWorld w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);
  w.GiveAbsent(1);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Settle();
  EXPECT_TRUE(w.Items(w.bob).empty()) << "one at a time";
  w.Pass(Limits{}.settle_after);
  w.Settle();
  EXPECT_EQ(w.Items(w.bob), std::vector<PostId>{kPost});
}

// A slot that migrates: what is written to range 0 is put off; range 1 had a bad moment.
struct HeldWorld : World {
  static constexpr uint64_t kLanes = 50;

  HeldWorld() {
    AssignAll();
    for (uint64_t n = 0; n < kLanes; ++n) {
      Follow(bob, UserId{2'000 + n});
      Publish(UserId{2'000 + n}, PostId{100 + n}, 1'000);
    }
    Follow(cid, kAnn);
    Publish(kAnn, kPost, 1'000);
    MakeLive(bob);
    MakeLive(cid);
  }
  void Answer() {
    AnswerTruth();
    for (const auto& call : std::exchange(timeline_calls, {})) {
      const auto* batch = std::get_if<TimelineBatch>(&call);
      if (batch != nullptr && (batch->range == 0 || bad_moment)) {
        bad_moment = bad_moment && batch->range == 0;
        inbox.emplace_back(
            BatchWritten{.id = batch->id, .status = Status::Later("redis", "TRYAGAIN")});
      } else {
        std::visit([this](const auto& asked) { inbox.emplace_back(redis.Do(asked)); }, call);
      }
    }
  }
  void Go(Duration time) {
    for (Duration passed{}; passed < time; passed += milliseconds(10)) {
      Pass(milliseconds(10));
      Step();
      Answer();
    }
  }

  const UserId bob = ReaderIn(0), cid = ReaderIn(1);
  bool bad_moment = true;
};

TEST(Away, ARangeThatRedisHoldsBackKeepsNoOtherWaiting) {
  HeldWorld w;
  for (uint64_t n = 0; n < HeldWorld::kLanes; ++n) {
    w.Give(0, Hint::OfPost(UserId{2'000 + n}, PostId{100 + n}));
  }
  w.Go(seconds(5));
  EXPECT_EQ(w.metrics.held.units_parked, HeldWorld::kLanes);
  w.Give(1, Hint::OfPost(kAnn, kPost));
  w.Go(milliseconds(300));
  EXPECT_FALSE(w.bad_moment) << "it failed once";
  EXPECT_EQ(w.Items(w.cid), std::vector<PostId>{kPost});
  EXPECT_TRUE(w.Items(w.bob).empty());
}

// Each range on a node of its own; that of range 0 does not answer.
struct TwoNodes : BobsWorld {
  explicit TwoNodes(const Limits& limits = {}) : BobsWorld(limits) {
    Follow(cid, kAnn);
    MakeLive(cid);
    for (const Range range : {0, 1}) inbox.emplace_back(PartitionRevoked{range});
    for (const Range range : {0, 1}) {
      inbox.emplace_back(PartitionAssigned{range, 0, 0, 1'000'000});
    }
    Go();
  }
  void Answer() {
    AnswerTruth();
    for (const auto& call : std::exchange(timeline_calls, {})) {
      const auto* batch = std::get_if<TimelineBatch>(&call);
      if (const auto* claim = std::get_if<ClaimRange>(&call)) {
        RangeClaimed claimed = redis.Do(*claim);
        claimed.node = static_cast<uint32_t>(claim->range);
        inbox.emplace_back(claimed);
      } else if (batch != nullptr && batch->range == 0) {
        ++unanswered;
      } else {
        std::visit([this](const auto& asked) { inbox.emplace_back(redis.Do(asked)); }, call);
      }
    }
  }
  void Go() {
    do {
      Step();
      Answer();
    } while (!inbox.empty());
    Step();
  }

  const UserId cid = ReaderIn(1);
  uint32_t unanswered = 0;
};

TEST(Away, ANodeThatDoesNotAnswerTakesNoBatchFromAnother) {
  TwoNodes w;
  for (uint64_t post = 1; post <= 5; ++post) {
    w.Publish(kAnn, PostId{post}, 1'000);
    w.Give(0, Hint::OfPost(kAnn, PostId{post}));
    w.Go();
    w.Publish(UserId{3'000 + post}, PostId{10 * post}, 1'000);
    w.Follow(w.bob, UserId{3'000 + post});
    w.Give(0, Hint::OfPost(UserId{3'000 + post}, PostId{10 * post}));
    w.Go();
  }
  EXPECT_EQ(w.unanswered, Limits{}.batches_in_flight);
  w.Give(1, Hint::OfPost(kAnn, PostId{1}));
  w.Go();
  EXPECT_EQ(w.Items(w.cid), std::vector<PostId>{PostId{1}});
}

// What hangs keeps its connections and answers nothing, for seconds.
TEST(Away, ANodeThatHangsTakesNoPlaceFromAnother) {
  TwoNodes w({.units_in_flight = 4});
  for (uint64_t author = 3'000; author < 3'020; ++author) {
    w.Follow(w.bob, UserId{author});
    w.Publish(UserId{author}, PostId{author}, 1'000);
    w.Give(0, Hint::OfPost(UserId{author}, PostId{author}));
  }
  w.Go();
  EXPECT_EQ(w.metrics.held.units, 4u);
  w.Publish(kAnn, kPost, 1'000);
  w.Give(1, Hint::OfPost(kAnn, kPost));
  w.Go();
  EXPECT_EQ(w.Items(w.cid), std::vector<PostId>{kPost});
}

TEST(Away, TheNodesOfRangesThatWereRevokedTakeNoShare) {
  TwoNodes w({.units_in_flight = 4, .whole_ways = 1});
  w.inbox.emplace_back(PartitionRevoked{1});
  w.Go();
  for (uint64_t author = 3'000; author < 3'020; ++author) {
    w.Publish(UserId{author}, PostId{author}, 1'000);
    w.Give(0, Hint::OfPost(UserId{author}, PostId{author}));
  }
  w.Step();
  EXPECT_EQ(w.metrics.held.units, 4u);
}

TEST(Away, ReadersWhoWaitForANodeThatHangsKeepNoOthersWaiting) {
  TwoNodes w({.waiting_readers = 3});
  for (uint64_t author = 3'000; author < 3'020; ++author) {
    w.Follow(w.bob, UserId{author});
    w.Publish(UserId{author}, PostId{author}, 1'000);
    w.Give(0, Hint::OfPost(UserId{author}, PostId{author}));
    w.Go();
  }
  EXPECT_EQ(w.metrics.held.units, 2 + 3u) << "in two batches, and waiting";
  w.Publish(kAnn, kPost, 1'000);
  w.Give(1, Hint::OfPost(kAnn, kPost));
  w.Go();
  EXPECT_EQ(w.Items(w.cid), std::vector<PostId>{kPost});
}

TEST(Away, WhoWaitsForAShardThatIsBackDoesNotWaitForANodeThatHangs) {
  TwoNodes w;
  w.Publish(kAnn, kPost, 1'000);
  for (const Range range : {0, 1}) w.Give(range, Hint::OfPost(kAnn, kPost));
  w.Step();
  const auto calls = std::exchange(w.truth_calls, {});
  for (const Range range : {0, 1}) {  // who needs the node that hangs is parked first
    for (const auto& call : calls) {
      const auto& page = std::get<ReadFollowerPage>(call);
      if (page.range != range) continue;
      w.inbox.emplace_back(FollowerPage{.id = page.id, .status = Status::Later("mysql_0", "away")});
    }
  }
  w.Step();
  ASSERT_EQ(w.metrics.held.units_parked, 2u);
  w.Pass(seconds(1));
  w.Go();
  EXPECT_EQ(w.unanswered, 1u);
  EXPECT_EQ(w.Items(w.cid), std::vector<PostId>{kPost});
}

// Of two shards, or of more; what is not Ann's answers nothing.
struct HangingShard : BobsWorld {
  explicit HangingShard(const Limits& limits, uint32_t shards = 2)
      : BobsWorld(limits, shards), map(ShardMap::Even(shards)) {
    Publish(kAnn, kPost, 1'000);
  }
  bool Hangs(UserId author) const { return map.ShardOf(author) != map.ShardOf(kAnn); }
  void GiveHanging(uint64_t lanes) {
    for (uint64_t id = kFirstAway; lanes > 0; ++id) {
      if (!Hangs(UserId{id})) continue;
      Give(0, Hint::OfPost(UserId{id}, PostId{id}));
      --lanes;
    }
  }
  void Go() {
    do {
      Step();
      std::vector<TruthRequest> hanging;
      for (const auto& call : std::exchange(truth_calls, {})) {
        const auto& page = std::get<ReadFollowerPage>(call);
        if (Hangs(page.author)) {
          hanging.push_back(call);
        } else {
          inbox.emplace_back(mysql.Do(page));
        }
      }
      truth_calls = std::move(hanging);
      AnswerTimelines();
    } while (!inbox.empty());
    Step();
  }

  const ShardMap map;
};

TEST(Away, AShardThatHangsHoldsItsOwnShareOfPlacesAndHints) {
  HangingShard w(
      {.units_in_flight = 8, .buffered_hints_per_range = 40, .parked_hints_per_range = 100});
  w.GiveHanging(119);
  w.Go();
  EXPECT_EQ(w.truth_calls.size(), 8u);
  EXPECT_TRUE(w.paused.empty());
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Go();
  EXPECT_EQ(w.Items(w.bob), std::vector<PostId>{kPost});

  w.GiveHanging(1);
  w.Go();
  EXPECT_EQ(w.paused, std::vector<int32_t>{0}) << "its share of 20, and 100";
  w.AnswerTruth();
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, std::vector<int32_t>{0});
  EXPECT_EQ(w.metrics.done, 121);
}

TEST(Away, WhatIsParkedHasABoundAtWhichTheRangeIsPaused) {
  AwayWorld w({.buffered_hints_per_range = 2, .parked_hints_per_range = 8});
  for (uint64_t n = 0; n < 7; ++n) {
    w.Give(0, Hint::OfPost(AwayWorld::Absent(n), PostId{1}));
    w.Settle();
  }
  EXPECT_TRUE(w.paused.empty());
  w.Give(0, Hint::OfPost(AwayWorld::Absent(0), PostId{2}));  // behind a parked head
  w.Settle();
  EXPECT_EQ(w.paused, std::vector<int32_t>{0});
  EXPECT_EQ(w.metrics.held.ranges_paused, (std::array<uint64_t, kPauseCauses>{0, 1, 0}));

  w.away = false;
  w.Pass(seconds(1));
  w.Settle();
  EXPECT_EQ(w.resumed, std::vector<int32_t>{0});
  EXPECT_EQ(w.metrics.done, 8);
}

// Of two ranges: twenty hints are anybody's, and each range has ten of its own.
TEST(Away, WhatAllRangesHoldHasABoundAndEachItsShareOfIt) {
  AwayWorld w({.held_hints = 40});
  const UserId cid = ReaderIn(1);
  w.Follow(cid, kAnn);
  w.MakeLive(cid);
  w.GiveAbsent(19);
  w.Settle();
  EXPECT_TRUE(w.paused.empty());
  w.GiveAbsent(1);
  w.Settle();
  EXPECT_EQ(w.paused, std::vector<int32_t>{0}) << "it has all that is anybody's";
  EXPECT_EQ(w.metrics.held.ranges_paused, (std::array<uint64_t, kPauseCauses>{0, 1, 0}));

  for (uint64_t n = 0; n < 9; ++n) w.Give(1, Hint::OfPost(AwayWorld::Absent(n), PostId{1}));
  w.Settle();
  w.Give(1, Hint::OfPost(kAnn, kPost));
  w.Step();
  EXPECT_EQ(w.paused, (std::vector<int32_t>{0, 1})) << "thirty are held";
  w.Settle();
  EXPECT_EQ(w.Items(cid), std::vector<PostId>{kPost}) << "what is held is worked on";
  EXPECT_TRUE(w.resumed.empty());

  w.away = false;
  w.Pass(seconds(1));
  w.Settle();
  EXPECT_EQ(w.resumed, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(w.metrics.done, 30);
}

TEST(Away, ARangeGoesOnWhileAnotherHoldsAllThatIsAnybodys) {
  AwayWorld w({.held_hints = 40});
  const UserId cid = ReaderIn(1);
  w.Follow(cid, kAnn);
  w.MakeLive(cid);
  w.GiveAbsent(30);
  w.Settle();
  ASSERT_EQ(w.paused, std::vector<int32_t>{0});
  for (uint64_t post = 1; post <= 50; ++post) {
    w.Publish(kAnn, PostId{post}, 1'000);
    w.Give(1, Hint::OfPost(kAnn, PostId{post}));
    w.Settle();
  }
  EXPECT_EQ(w.metrics.done, 50);
  EXPECT_EQ(w.paused, std::vector<int32_t>{0});
}

TEST(Away, ASpanThatOneParkedLaneKeepsOpenHasABoundToo) {
  AwayWorld w({.span_per_range = 8});
  w.GiveAbsent(1);
  for (int i = 0; i < 6; ++i) w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Settle();
  EXPECT_EQ(w.metrics.held.longest_span, 7u);
  EXPECT_TRUE(w.paused.empty());
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Settle();
  EXPECT_EQ(w.metrics.done, 7);  // all but one: hardly anything is held
  EXPECT_EQ(w.paused, std::vector<int32_t>{0});
  EXPECT_EQ(w.metrics.held.ranges_paused, (std::array<uint64_t, kPauseCauses>{0, 0, 1}));

  w.away = false;
  w.Pass(seconds(1));
  w.Settle();
  EXPECT_EQ(w.resumed, std::vector<int32_t>{0});
}

TEST(Away, WorkOfARevokedRangeIsNotParkedAnyMore) {
  AwayWorld w;
  w.GiveAbsent(10);
  w.Settle();
  w.Pass(seconds(1));
  w.Step();  // one of them is being tried
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Settle();
  EXPECT_EQ(w.metrics.held.units_parked, 0u);
  w.Pass(seconds(5));
  w.Settle();
  EXPECT_EQ(w.asked, 0u);
}

}  // namespace
}  // namespace fanline::pusher
