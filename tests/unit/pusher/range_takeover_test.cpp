// Guard 4 as a truth table: pos: decides whether the timelines are dropped, where the replay of
// hints begins, and what Redis is said to have lost.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

constexpr int64_t kNotKnown = std::numeric_limits<int64_t>::max();

struct Case {
  const char* name;
  std::optional<AppliedPosition> position;  // of range 0
  int64_t committed;
  int64_t low;
  int64_t replay_from;
  bool dropped;
  std::optional<RedisLoss> loss = std::nullopt;
  int64_t end = 100;
};

class Takeover : public ::testing::TestWithParam<Case> {};

TEST_P(Takeover, DecidesByThePosition) {
  const Case& c = GetParam();
  World w;
  const UserId bob = ReaderIn(0);
  w.MakeLive(bob);
  if (c.position) {
    w.Owned(*c.position);
  } else {
    w.mysql.Do(RaiseEpoch{1, 0, 1});
  }
  w.Assign(0, c.committed, c.low, c.end);

  ASSERT_EQ(w.sought.size(), 1u);
  EXPECT_EQ(w.sought[0].offset, c.replay_from);
  EXPECT_EQ(w.IsLive(bob), !c.dropped);
  EXPECT_EQ(w.redis.position(0), (AppliedPosition{7, c.replay_from}));
  EXPECT_TRUE(w.redis.LiveMembers(0).contains("#complete"));
  EXPECT_EQ(w.metrics.losses, c.loss ? std::vector{*c.loss} : std::vector<RedisLoss>{});
}

INSTANTIATE_TEST_SUITE_P(
    Positions, Takeover,
    ::testing::Values(
        Case{"as_committed", AppliedPosition{7, 40}, 40, 0, 40, false},
        Case{"behind_is_a_rollback", AppliedPosition{7, 30}, 40, 0, 30, false, RedisLoss::kBehind},
        Case{"ahead_of_the_commit", AppliedPosition{7, 50}, 40, 0, 40, false},
        Case{"missing", std::nullopt, 40, 0, 100, true, RedisLoss::kMissing},
        Case{"missing_and_the_end_is_not_known", std::nullopt, 40, 0, 40, true, RedisLoss::kMissing,
             kNotKnown},
        Case{"missing_and_all_is_gone", std::nullopt, 40, 50, 50, true, RedisLoss::kMissing,
             kNotKnown},
        Case{"of_another_generation", AppliedPosition{6, 40}, 40, 0, 100, true,
             RedisLoss::kForeign},
        Case{"older_than_the_log", AppliedPosition{7, 10}, 40, 20, 100, true,
             RedisLoss::kOlderThanLog},
        Case{"both_are_older_than_the_log", AppliedPosition{7, 10}, 10, 20, 100, true,
             RedisLoss::kOlderThanLog},
        Case{"the_commit_is_older_than_the_log", AppliedPosition{7, 30}, 10, 20, 20, false},
        Case{"at_the_logs_end", AppliedPosition{7, 40}, 40, 0, 40, false, std::nullopt, 40},
        Case{"beyond_the_logs_end", AppliedPosition{7, 50}, 50, 20, 45, true, std::nullopt, 45},
        Case{"beyond_the_logs_end_unlike_the_commit", AppliedPosition{7, 50}, 40, 20, 45, true,
             std::nullopt, 45},
        Case{"the_commit_is_beyond_the_logs_end", AppliedPosition{7, 40}, 50, 20, 45, true,
             RedisLoss::kBehind, 45},
        Case{"beyond_the_end_in_another_generation", AppliedPosition{6, 50}, 40, 0, 45, true,
             RedisLoss::kForeign, 45}),
    [](const auto& tested) { return std::string(tested.param.name); });

// The range is assigned, and claimed of Redis.
ClaimRange Claiming(World& w, const PartitionAssigned& assigned = {0, 0, 0}) {
  w.inbox.emplace_back(assigned);
  for (int i = 0; i < 2; ++i) w.Step();
  return w.TakeCall<ClaimRange>();
}

// And its reset is under way.
ResetRange Resetting(World& w, const PartitionAssigned& assigned) {
  w.inbox.emplace_back(w.redis.Do(Claiming(w, assigned)));
  w.Step();
  return w.TakeCall<ResetRange>();
}

TEST(Takeover, AFirstStartFindsNoPositionAndLosesNothing) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0, 100, false});
  w.RunUntilIdle();
  EXPECT_TRUE(w.metrics.losses.empty());

  w.redis.FlushAll();  // before anything was committed
  w.RunFor(std::chrono::seconds(6));
  EXPECT_EQ(w.metrics.losses, std::vector{RedisLoss::kMissing});
}

TEST(Takeover, APositionOfAnotherNumberOfRangesIsForeign) {
  World w;
  RangeClaimed claimed = w.redis.Do(Claiming(w, {0, 40, 0, 100, false}));
  claimed.foreign = true;
  w.inbox.emplace_back(claimed);
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.losses, std::vector{RedisLoss::kForeign});
}

// What was lost shows once the range is right again, however many claims that took.
TEST(Takeover, ALossIsToldOfOnceThoughItsResetFails) {
  World w;
  const ResetRange reset = Resetting(w, {0, 40, 0, 100});
  w.redis.Do(reset);  // it is carried out, and its answer lost
  w.inbox.emplace_back(RangeReset{.id = reset.id, .status = Status::Later("redis", "away")});
  w.Step();
  EXPECT_TRUE(w.metrics.losses.empty());
  w.RunFor(std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.losses, std::vector{RedisLoss::kMissing});

  w.redis.Do(ClaimRange{1, 0, 90});  // fenced: taken over once more
  for (int i = 0; i < 3; ++i) w.RunFor(std::chrono::seconds(10));
  ASSERT_EQ(w.sought.size(), 2u);
  EXPECT_EQ(w.metrics.losses.size(), 1u);
}

// Flushed again while the first loss is being set right.
TEST(Takeover, ASecondLossDuringTheFirstIsSetRightToo) {
  World w;
  const UserId bob = ReaderIn(0);
  w.Assign(0, 40);
  w.metrics.losses.clear();
  w.redis.FlushAll();
  w.Pass(std::chrono::seconds(6));
  const auto resets = [&w] {
    return !w.timeline_calls.empty() &&
           std::holds_alternative<ResetRange>(w.timeline_calls.front());
  };
  for (int steps = 0; steps < 10 && !resets(); ++steps) {
    w.AnswerTimelines();
    w.Step();
  }
  ASSERT_TRUE(resets());
  w.redis.FlushAll();
  w.MakeLive(bob);  // a reader was faster than the owner
  w.RunUntilIdle();
  w.RunFor(std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_EQ(w.metrics.losses, std::vector{RedisLoss::kMissing});
  EXPECT_FALSE(w.IsLive(bob));
  EXPECT_EQ(w.redis.position(0), (AppliedPosition{7, 40}));
}

// The same owner, the same connection, an older pos: (a snapshot restored in place). No fence sees
// it; the compare-and-set does.
TEST(Takeover, APositionThatIsNotWhatWasWrittenIsARollback) {
  World w;
  const UserId bob = ReaderIn(0);
  w.Follow(bob, kAnn);
  w.Assign(0);
  w.MakeLive(bob);
  const fakes::FakeRedis snapshot = w.redis;
  w.Publish(kAnn, PostId{77}, 1'000);
  w.Push(0, Hint::OfPost(kAnn, PostId{77}));
  w.RunFor(std::chrono::seconds(1));
  ASSERT_EQ(w.redis.position(0), (AppliedPosition{7, 1}));

  w.redis = snapshot;
  w.sought.clear();
  w.committed.clear();
  w.RunFor(std::chrono::seconds(6));
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kRolledBack);
  ASSERT_EQ(w.sought.size(), 1u);
  EXPECT_EQ(w.sought[0].offset, 0);
  EXPECT_EQ(w.metrics.replayed, 1);
  EXPECT_EQ(w.metrics.losses.back(), RedisLoss::kBehind);

  w.next_offset[0] = 0;
  w.Push(0, Hint::OfPost(kAnn, PostId{77}));
  EXPECT_EQ(w.Items(bob), std::vector<PostId>{PostId{77}});
}

// The pusher knows the log's end as of the assignment, and hints are written all the time.
TEST(Takeover, APositionBeyondAnEndThatIsLongPassedIsNoLoss) {
  World w;
  w.Assign(0, 0, 0, 0);
  const UserId bob = ReaderIn(0);
  w.MakeLive(bob);
  w.Push(0, Hint::OfPost(UserId{1}, PostId{5}));
  w.RunFor(std::chrono::minutes(1));
  ASSERT_EQ(w.redis.position(0), (AppliedPosition{7, 1}));

  w.redis.Do(ClaimRange{1, 0, 90});  // fenced: taken over again, after a wait
  w.RunFor(std::chrono::minutes(1));
  w.RunFor(std::chrono::seconds(2));

  EXPECT_EQ(w.sought.size(), 2u);
  EXPECT_EQ(w.sought.back().offset, 1);
  EXPECT_TRUE(w.IsLive(bob));
}

// The topic was deleted, and made anew by the same name: its hints went with it.
TEST(Takeover, APositionWithoutACommitIsOfALogThatMayBeGone) {
  World w;
  const UserId bob = ReaderIn(0);
  for (const bool committed : {true, false}) {
    w.MakeLive(bob);
    w.redis.Do(ClaimRange{1, 0, 1'000});
    w.redis.Do(ResetRange{2, 0, 1'000, ResetRange::Timelines::kLeave, AppliedPosition{7, 3}});
    w.inbox.emplace_back(PartitionAssigned{0, committed ? 3 : 0, 0, 9, committed});
    w.RunUntilIdle();
    EXPECT_EQ(w.IsLive(bob), committed);
    EXPECT_EQ(w.sought.back().offset, committed ? 3 : 9);
    w.Revoke(0);
  }
}

// Two consumer groups take turns on a range, each from what it has committed.
TEST(Takeover, APositionThatAnotherOwnerMovedBackIsNoLoss) {
  World w;
  w.Assign(0, 40);
  w.metrics.losses.clear();
  w.redis.Do(ClaimRange{1, 0, 90});
  w.redis.Do(ResetRange{2, 0, 90, ResetRange::Timelines::kLeave, AppliedPosition{7, 30}});
  w.RunFor(std::chrono::seconds(6));
  w.RunFor(std::chrono::seconds(30));
  ASSERT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_EQ(w.sought.back().offset, 30);
  EXPECT_TRUE(w.metrics.losses.empty());
}

// Another owner has read further since the log's end was looked up.
TEST(Takeover, APositionThatAnotherOwnerWroteMeanwhileIsNoLoss) {
  World w;
  const UserId bob = ReaderIn(0);
  w.MakeLive(bob);
  w.inbox.emplace_back(PartitionAssigned{0, 40, 20, 45});
  w.Step();
  uint64_t epoch = 0;
  for (int claim = 0; claim < 2; ++claim) {
    w.redis.Do(ClaimRange{1, 0, epoch += 100});
    w.redis.Do(ResetRange{2, 0, epoch, ResetRange::Timelines::kLeave, AppliedPosition{7, 50}});
    w.Step();
    w.AnswerTimelines();
    w.Step();
  }
  ASSERT_EQ(w.metrics.contests.size(), 1u);
  w.RunFor(std::chrono::seconds(2));

  ASSERT_EQ(w.sought.size(), 1u);
  EXPECT_EQ(w.sought.back().offset, 40);
  EXPECT_TRUE(w.IsLive(bob));
}

// The post at 47 was on its way to many followers; what stood before it, unfinished, is lost as
// well.
TEST(Takeover, AHintThatWasBegunBeyondTheLogsEndProvesALostTail) {
  for (const int64_t end : {45, 48}) {
    World w;
    const UserId bob = ReaderIn(0);
    w.MakeLive(bob);
    w.Owned({7, 40, {{47, 1, 5, bob, true}}});
    w.Assign(0, 40, 20, end);
    const bool lost = end == 45;
    EXPECT_EQ(w.metrics.tails_lost.size(), lost ? 1u : 0u);
    EXPECT_EQ(w.sought.back().offset, lost ? 45 : 40);
    EXPECT_EQ(w.IsLive(bob), !lost);
    EXPECT_EQ(w.redis.position(0)->begun.empty(), lost);
  }
}

TEST(Takeover, ALostTailIsToldOfOnce) {
  World w;
  w.Assign(0, 50, 20, 45);
  const std::vector<std::pair<int64_t, int64_t>> once{{50, 45}};
  EXPECT_EQ(w.metrics.tails_lost, once);

  w.redis.Do(ClaimRange{1, 0, 90});
  w.RunFor(std::chrono::minutes(1));
  w.RunFor(std::chrono::seconds(2));
  EXPECT_EQ(w.sought.size(), 2u);
  EXPECT_EQ(w.metrics.tails_lost, once);
}

// A former owner comes back before the drop has begun, and moves nothing.
TEST(Takeover, ALostTailThatWasFoundIsNotForgottenInAContest) {
  World w;
  const UserId bob = ReaderIn(0);
  w.MakeLive(bob);
  w.redis.Do(ClaimRange{1, 0, 1});
  w.redis.Do(ResetRange{2, 0, 1, ResetRange::Timelines::kIndex, AppliedPosition{7, 50}});
  w.mysql.Do(RaiseEpoch{1, 0, 1});
  w.inbox.emplace_back(PartitionAssigned{0, 40, 0, 45});
  for (int i = 0; i < 2; ++i) w.Step();
  w.AnswerTimelines();
  w.Step();
  ASSERT_EQ(w.timeline_calls.size(), 1u);
  w.redis.Do(ClaimRange{1, 0, 90});
  w.AnswerTimelines();
  w.Step();
  ASSERT_EQ(w.metrics.contests.size(), 1u);
  ASSERT_TRUE(w.IsLive(bob));
  w.Pass(std::chrono::seconds(2));
  w.RunUntilIdle();

  ASSERT_EQ(w.sought.size(), 1u);
  EXPECT_EQ(w.sought.back().offset, 45);
  EXPECT_FALSE(w.IsLive(bob));
}

// The log has grown past the loss before another owner sees it. Only Redis can tell it.
TEST(Takeover, ALostTailIsRememberedThoughItsFinderDoesNotFinishTheWalk) {
  World w;
  const UserId bob = ReaderIn(0);
  w.MakeLive(bob);
  w.Owned({7, 50}, ResetRange::Timelines::kIndex);
  const ResetRange reset = Resetting(w, {0, 50, 0, 45});
  EXPECT_EQ(w.metrics.tails_lost, (std::vector<std::pair<int64_t, int64_t>>{{50, 45}}));
  ASSERT_TRUE(w.redis.ResetBegin(reset).status.done());  // and the walk comes to nobody

  World next(Limits{}, w.stores);
  next.Assign(0, 50, 0, 60);
  EXPECT_FALSE(next.IsLive(bob));
  EXPECT_EQ(next.sought.back().offset, 60);
}

// The former owner comes back during that walk, and has not heard that the log was cut to 45.
TEST(Takeover, ALostTailIsRememberedThoughAFormerOwnerDropsInBetween) {
  World w;
  w.redis.Do(ClaimRange{1, 0, 1});
  w.redis.Do(ResetRange{2, 0, 1, ResetRange::Timelines::kIndex, AppliedPosition{7, 50}});
  w.mysql.Do(RaiseEpoch{1, 0, 1});
  w.Assign(0, 50, 20, 50);
  ASSERT_EQ(w.sought.back().offset, 50);
  w.redis.Do(ClaimRange{1, 0, 90});
  w.redis.ResetBegin({2, 0, 90, ResetRange::Timelines::kDrop, AppliedPosition{7, 45}});
  w.Pass(std::chrono::seconds(6));
  w.RunUntilIdle();
  w.Pass(std::chrono::seconds(30));
  w.RunUntilIdle();
  ASSERT_EQ(w.sought.size(), 2u);
  EXPECT_EQ(w.sought.back().offset, 20) << "nobody has read what stands before 50 now";

  World next(Limits{}, w.stores);
  next.Assign(0, 50, 20, 60);
  EXPECT_EQ(next.sought.back().offset, 20);
}

// Its owner deleted pos: itself, for the loss of a tail.
TEST(Takeover, APositionThatADropDeletedIsNoLossOfRedis) {
  World w;
  w.Owned({7, 50}, ResetRange::Timelines::kIndex);
  const ResetRange reset = Resetting(w, {0, 50, 0, 45});
  w.redis.ResetBegin(reset);
  w.inbox.emplace_back(RangeReset{.id = reset.id, .status = Status::Later("redis", "away")});
  w.Step();
  w.RunFor(std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_EQ(w.metrics.tails_lost.size(), 1u);
  EXPECT_TRUE(w.metrics.losses.empty());
  EXPECT_EQ(w.redis.position(0), (AppliedPosition{7, 45}));
}

// The save may have been applied, so the same value is saved again, not a newer one.
TEST(Takeover, APositionThatMayNotHaveBeenSavedIsSavedAgainAndNotCommitted) {
  World w;
  w.Assign(0);
  w.Push(0, Hint::OfPost(kAnn, PostId{77}));
  w.Pass(std::chrono::seconds(1));
  w.Step();
  const auto save = w.TakeCall<SavePosition>();
  w.committed.clear();
  w.inbox.emplace_back(PositionSaved{.id = save.id, .status = Status::Later("redis", "away")});
  w.Push(0, Hint::OfPost(kAnn, PostId{78}));
  EXPECT_TRUE(w.committed.empty());
  w.Pass(std::chrono::seconds(1));
  w.Step();
  const auto again = w.TakeCall<SavePosition>();
  EXPECT_EQ(again.expected, save.expected);
  EXPECT_EQ(again.next, save.next);
}

TEST(Takeover, TellsWhatItWaitsFor) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  for (int i = 0; i < 2; ++i) w.Step();
  const Status away = Status::Later("redis_2", "away");
  const auto again = [&w] {
    w.Step();
    w.Pass(std::chrono::seconds(10));
    for (int i = 0; i < 2; ++i) w.Step();
    ASSERT_EQ(w.timeline_calls.size(), 1u);
  };
  w.FailCall<ClaimRange>(away);
  again();
  EXPECT_EQ(w.metrics.parked["redis_2"], 1);
  w.AnswerTimelines();
  w.Step();
  w.FailCall<ResetRange>(away);
  again();
  EXPECT_EQ(w.metrics.parked["redis_2"], 2);
}

// While a node fails over nobody can say how long it will take. The ranges that wait must not cost
// MariaDB an epoch each time.
TEST(Takeover, AClaimThatFailsIsMadeAgainSoonAndWithTheEpochItHad) {
  World w;
  const ClaimRange first = Claiming(w);
  ClaimRange again = first;
  for (int attempt = 0; attempt < 20; ++attempt) {
    w.inbox.emplace_back(RangeClaimed{again.id, Status::Later("redis", "away"), 0, false, {}});
    w.Step();
    ASSERT_TRUE(w.timeline_calls.empty()) << "no pause";
    w.Pass(std::chrono::milliseconds(500));
    w.Step();
    again = w.TakeCall<ClaimRange>();
    EXPECT_EQ(again.epoch, first.epoch);
  }
  w.inbox.emplace_back(w.redis.Do(again));
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
}

TEST(Takeover, AClaimThatWasCarriedOutAlthoughItFailedIsMadeWithAHigherEpoch) {
  World w;
  const ClaimRange claim = Claiming(w);
  w.redis.Do(claim);
  w.inbox.emplace_back(RangeClaimed{claim.id, Status::Later("redis", "timed out"), 0, false, {}});
  w.Step();
  w.RunFor(std::chrono::milliseconds(500));
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_GT(*w.redis.own(0), claim.epoch);
  EXPECT_TRUE(w.metrics.contests.empty());
}

// A node that carries out every claim and answers none in time is no second owner.
TEST(Takeover, ClaimsThatWereCarriedOutAlthoughTheyFailedAreNoContest) {
  World w;
  w.redis.Do(ClaimRange{1, 0, 90});  // the first claim is refused, and the row raised above it
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  for (int failed = 0; failed < 3;) {
    for (int steps = 0; steps < 4 && w.timeline_calls.empty(); ++steps) w.Step();
    const auto claim = w.TakeCall<ClaimRange>();
    const RangeClaimed claimed = w.redis.Do(claim);
    w.inbox.emplace_back(claimed);
    if (claimed.refused_by != 0) continue;
    w.inbox.clear();
    w.inbox.emplace_back(RangeClaimed{claim.id, Status::Later("redis", "timed out"), 0, false, {}});
    w.Step();
    w.Pass(std::chrono::milliseconds(500));
    ++failed;
  }
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_TRUE(w.metrics.contests.empty());
}

// MariaDB and Redis both lost what they knew of the range. An earlier write that is still on its
// way would pass the fence of a lower epoch.
TEST(Takeover, AnEpochIsNeverBelowThatOfBefore) {
  World w;
  w.redis.Do(ClaimRange{1, 0, 90});
  w.Assign(0);
  const uint64_t before = *w.redis.own(0);
  w.mysql.LoseOwner(0);
  w.redis.FlushAll();
  w.RunFor(std::chrono::seconds(6));
  ASSERT_EQ(w.metrics.held.ranges_ready, 1u);
  EXPECT_GT(*w.redis.own(0), before);
}

}  // namespace
}  // namespace fanline::pusher
