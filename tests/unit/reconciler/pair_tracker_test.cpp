#include "reconciler/pair_tracker.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <variant>

#include "fanline/consuming/partitions.h"

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr EdgeKey kTracked{UserId{1}, UserId{2}};
constexpr EdgeKey kOther{UserId{3}, UserId{4}};
constexpr UnixMs kPos = 5;

struct Counted : Metrics {
  void Matched(Duration latency) override { matched.push_back(latency); }
  void Early() override { ++early; }
  void Duplicate() override { ++duplicate; }
  void Coalesced() override { ++coalesced; }
  void TimedOut() override { ++timed_out; }
  void EarlyExpired() override { ++early_expired; }
  void SentToRetry(RetryCause cause) override { retried.push_back(cause); }

  std::vector<Duration> matched;
  int early = 0, duplicate = 0, coalesced = 0, timed_out = 0, early_expired = 0;
  std::vector<RetryCause> retried;
};

struct Checked {
  CheckOrder check;
  bool resolved = false;
};
struct RetryAppended {
  Retry retry;
  bool acknowledged = false;
};
struct MirrorLag {
  Duration lag{};
};
using PairInput = std::variant<PartitionAssigned, PartitionRevoked, PairRecord, LogEndSeen, Checked,
                               RetryAppended, MirrorLag>;

// The trackers of a log, as PairReconciler has them.
class TrackedLog {
 public:
  TrackedLog(const Limits& limits, Metrics& metrics, const EdgeShards& shards)
      : common_{limits, metrics, shards},
        log_({.open = SIZE_MAX, .commit_every = limits.commit_every}, metrics) {}

  PairProgress Step(const std::vector<PairInput>& inputs, Now now) {
    for (const PairInput& input : inputs) {
      std::visit([&](const auto& what) { On(what, now.mono); }, input);
    }
    PairProgress progress{log_.Order({}, false, now), {}, {}};
    for (auto& [number, tracker] : trackers_) tracker.Advance(now.mono, mirror_lag_, progress);
    return progress;
  }
  uint64_t pending() const { return trackers_.empty() ? 0 : trackers_.at(0).pending(); }
  size_t timers() const { return trackers_.at(0).timers(); }

 private:
  void On(const PartitionAssigned& assigned, Time) {
    const int32_t partition = assigned.partition;
    log_.Assigned(assigned);
    trackers_.erase(partition);
    trackers_.try_emplace(partition, common_, partition, log_.ledger(partition));
  }
  void On(const PartitionRevoked& revoked, Time) {
    log_.Revoked(revoked);
    trackers_.erase(revoked.partition);
  }
  void On(const PairRecord& record, Time now) { trackers_.at(0).On(record, now); }
  void On(const LogEndSeen& seen, Time) { trackers_.at(0).On(seen); }
  void On(const Checked& checked, Time now) {
    trackers_.at(0).Checked(checked.check, checked.resolved, now);
  }
  void On(const RetryAppended& appended, Time now) {
    trackers_.at(0).RetryAppended(appended.retry, appended.acknowledged, now);
  }
  void On(const MirrorLag& mirror, Time) { mirror_lag_ = mirror.lag; }

  PairTracker::Common common_;
  Partitions log_;
  std::map<int32_t, PairTracker> trackers_;
  Duration mirror_lag_{};
};

class PairTrackerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    limits.commit_every = 0ms;
    Give(PartitionAssigned{0, 10, 0});
  }

  PairProgress Give(std::vector<PairInput> inputs) {
    if (!tracker) tracker.emplace(limits, metrics, shards);
    PairProgress progress = tracker->Step(inputs, {now, unix_ms()});
    for (const auto& commit : progress.orders.commit) committed = commit.offset;
    return progress;
  }
  template <class Input>
  PairProgress Give(const Input& input) {
    return Give(std::vector<PairInput>{input});
  }
  PairProgress Wait(Duration time) {
    now += time;
    return Give(std::vector<PairInput>{});
  }
  // Waits for the grace's end and says that nothing more is in the log.
  PairProgress CatchUp() {
    Wait(limits.grace);
    return Give(LogEndSeen{0, offset, now});
  }
  // A new tracker with other limits, or of other shards.
  void Restart(int64_t start = 10) {
    tracker.reset();
    offset = start;
    Give(PartitionAssigned{0, start, 0});
  }

  PairRecord Msg1(uint64_t ver, const EdgeKey& edge = kTracked) {
    return {offset++, unix_ms(), EdgeWritten{EdgeOf(edge, {ver, true, kPos}), 0}};
  }
  static uint64_t& LogIdOf(PairRecord& msg1) {
    return std::get<EdgeWritten>(std::get<RelationMessage>(msg1.message)).log_id;
  }
  PairRecord Msg2(uint64_t ver, const EdgeKey& edge = kTracked) {
    return {offset++, unix_ms(), EdgeMirrored{edge, ver}};
  }
  PairRecord Nothing(UnixMs appended) { return {offset++, appended, Rejection{}}; }
  static Checked Reply(const CheckOrder& check, bool resolved) { return {check, resolved}; }
  static RetryAppended Reply(const Retry& retry, bool acknowledged) {
    return {retry, acknowledged};
  }
  UnixMs unix_ms() const {
    return 1'700'000'000'000 +
           std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  }

  Limits limits;
  Counted metrics;
  EdgeShards shards;
  std::optional<TrackedLog> tracker;
  Time now{1h};
  int64_t offset = 10;
  int64_t committed = -1;
};

TEST_F(PairTrackerTest, TheStartIsCommittedSoThatALogCutBeforeTheFirstRecordIsNoticed) {
  Restart();
  EXPECT_EQ(committed, 10);
}

TEST_F(PairTrackerTest, AMsg2AnswersItsMsg1AndOnlyThenTheOffsetMayBeCommitted) {
  Give(Msg1(7));
  Give(Nothing(unix_ms()));
  EXPECT_EQ(committed, 10);
  now += 200ms;
  Give(Msg2(7));
  EXPECT_EQ(committed, 13);
  EXPECT_THAT(metrics.matched, ElementsAre(Duration(200ms)));
  EXPECT_THAT(CatchUp().checks, IsEmpty());
}

TEST_F(PairTrackerTest, ANewerMsg2AnswersAndAnOlderOneDoesNot) {
  Give(Msg1(7));
  Give(Msg2(6));
  EXPECT_EQ(tracker->pending(), 1u);
  Give(Msg2(9));
  EXPECT_EQ(metrics.matched.size(), 1u);
  EXPECT_EQ(committed, 12) << "the msg1 of the newer one is still to come";
  Give(Msg1(9));
  EXPECT_EQ(tracker->pending(), 0u);
}

TEST_F(PairTrackerTest, AMsg2ThatComesFirstAnswersTheMsg1WhenItComes) {
  Give(Msg2(7));
  Give(Msg1(7));
  EXPECT_EQ(tracker->pending(), 0u);
  EXPECT_EQ(metrics.early, 1);
  EXPECT_EQ(committed, 12);
  Wait(limits.remember);
  EXPECT_EQ(metrics.early_expired, 0);
}

TEST_F(PairTrackerTest, RepetitionsOpenNothing) {
  Give({Msg1(7), Msg1(7), Msg1(6), Msg2(7), Msg2(7), Msg1(7)});
  EXPECT_EQ(metrics.duplicate, 4);
  EXPECT_EQ(committed, 16);
  Wait(limits.remember);
  EXPECT_EQ(metrics.early_expired, 0) << "a repeated msg2 was taken for one without its msg1";
}

TEST_F(PairTrackerTest, ANewerMsg1StandsForTheOlderOneWithItsOwnTime) {
  Give(Msg1(7));
  Wait(2s);
  Give(Msg1(8));
  EXPECT_EQ(metrics.coalesced, 1);
  EXPECT_EQ(committed, 11);
  Wait(2s);
  EXPECT_THAT(Give(LogEndSeen{0, offset, now}).checks, IsEmpty());
  Wait(1s);
  const auto checks = Give(LogEndSeen{0, offset, now}).checks;
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].claim.state.ver, 8u);
}

TEST_F(PairTrackerTest, FiresOnlyWhenTheLogWasReadUpToTheEndOfItsTime) {
  Give(Msg1(7));
  EXPECT_THAT(Wait(limits.grace).checks, IsEmpty());
  EXPECT_THAT(Give(LogEndSeen{0, 11, now - 1us}).checks, IsEmpty()) << "read before its end";
  EXPECT_THAT(Give(LogEndSeen{0, 12, now}).checks, IsEmpty()) << "a record is still to come";
  const auto checks = Give(Nothing(unix_ms() - 3'000)).checks;
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].edge, kTracked);
  EXPECT_EQ(checks[0].claim, (EdgeClaim{{7, true, kPos}, true}));
  EXPECT_EQ(metrics.timed_out, 1);
}

TEST_F(PairTrackerTest, ALaterRecordOfTheLogShowsThatItWasReadFarEnough) {
  Give(Msg1(7));
  const UnixMs msg1 = unix_ms();
  Wait(limits.grace);
  EXPECT_THAT(Give(Nothing(msg1 + 3'000)).checks, IsEmpty());
  EXPECT_THAT(Give(Nothing(msg1 + 3'001)).checks, SizeIs(1));
}

TEST_F(PairTrackerTest, AMsg2ThatLayUnreadBehindTheDeadlineAnswersWithoutACheck) {
  Give(Msg1(7));
  Wait(limits.grace);
  const PairProgress progress = Give({LogEndSeen{0, 12, now}, Msg2(7)});
  EXPECT_THAT(progress.checks, IsEmpty());
  EXPECT_EQ(tracker->pending(), 0u);
}

TEST_F(PairTrackerTest, AResolvedCheckAnswersThePair) {
  Give(Msg1(7));
  const auto checks = CatchUp().checks;
  EXPECT_EQ(committed, 10);
  Give(Reply(checks.at(0), true));
  EXPECT_EQ(committed, 11);
  Give(Msg2(7));
  Wait(limits.remember);
  EXPECT_EQ(metrics.early_expired, 0);
}

TEST_F(PairTrackerTest, ACheckInVainIsRepeatedAfterTheGraceAndThenThePairGoesToTheRetries) {
  Give(Msg1(7));
  for (uint32_t attempt = 1; attempt <= limits.checks_before_retry; ++attempt) {
    const auto checks = CatchUp().checks;
    ASSERT_THAT(checks, SizeIs(1)) << attempt;
    EXPECT_THAT(Give(Reply(checks[0], false)).retries, IsEmpty());
  }
  const PairProgress progress = CatchUp();
  EXPECT_THAT(progress.checks, IsEmpty());
  const auto retries = Wait(0s).retries;
  EXPECT_THAT(metrics.retried, ElementsAre(RetryCause::kChecksFailed));
  EXPECT_THAT(retries, IsEmpty()) << "ordered twice";
  EXPECT_EQ(metrics.timed_out, 1);
}

// A pair that is on its way to the retries, after one check in vain.
class PairOnItsWay : public PairTrackerTest {
 protected:
  void SetUp() override {
    limits.checks_before_retry = 1;
    PairTrackerTest::SetUp();
    Give(Msg1(7));
    Give(Reply(CatchUp().checks.at(0), false));
    retry = Wait(limits.grace).retries.at(0);
    EXPECT_EQ(retry.edge, kTracked);
    EXPECT_EQ(retry.claim, (EdgeClaim{{7, true, kPos}, true}));
    EXPECT_EQ(committed, 10) << "before the retries have it";
  }
  Retry retry;
};

TEST_F(PairOnItsWay, IsReleasedByTheAcknowledgement) {
  Give(Reply(retry, true));
  EXPECT_EQ(committed, 11);
  EXPECT_EQ(tracker->pending(), 0u);
}

TEST_F(PairOnItsWay, StaysPendingWhenItCouldNotBeWrittenAndGoesAgain) {
  Give(Reply(retry, false));
  EXPECT_EQ(tracker->pending(), 1u);
  const auto again = Wait(limits.grace).retries;
  ASSERT_THAT(again, SizeIs(1));
  Give(Reply(retry, true));
  EXPECT_EQ(tracker->pending(), 1u) << "an answer to the first one";
  Give(Reply(again[0], true));
  EXPECT_EQ(tracker->pending(), 0u);
}

TEST_F(PairOnItsWay, IsAnsweredByAMsg2AllTheSame) {
  Give(Msg2(7));
  EXPECT_EQ(committed, 12);
  Give(Reply(retry, true));
  EXPECT_EQ(tracker->pending(), 0u);
}

TEST_F(PairOnItsWay, ANewerMsg1IsNotReleasedByTheAcknowledgementOfTheOlder) {
  Give(Msg1(8));
  Give(Reply(retry, true));
  EXPECT_EQ(tracker->pending(), 1u);
  EXPECT_EQ(committed, 11);
}

TEST_F(PairOnItsWay, IsNotTakenForLostWhenItsMsg2ComesAfterAll) {
  Give(Reply(retry, true));
  Give(Msg2(7));
  Wait(limits.remember);
  EXPECT_EQ(metrics.early_expired, 0);
}

TEST_F(PairOnItsWay, ANewerMsg1HasAllItsChecksBeforeIt) {
  Give(Msg1(8));
  const PairProgress progress = CatchUp();
  EXPECT_THAT(progress.retries, IsEmpty());
  ASSERT_THAT(progress.checks, SizeIs(1));
}

TEST_F(PairTrackerTest, ACheckOfAnOlderVersionDoesNotAnswerANewerOne) {
  Give(Msg1(7));
  const auto checks = CatchUp().checks;
  Give(Msg1(8));
  Give(Reply(checks.at(0), true));
  EXPECT_EQ(tracker->pending(), 1u);
}

TEST_F(PairTrackerTest, ACheckNamesTheRowOfLog1OfTheLatestMsg1) {
  PairRecord first = Msg1(7), second = Msg1(8);
  LogIdOf(first) = 100;
  LogIdOf(second) = 200;
  Give({first, second});
  EXPECT_EQ(CatchUp().checks.at(0).claim, (EdgeClaim{{8, true, kPos}, true, 200}));
}

TEST_F(PairTrackerTest, WhileTheMirrorLagsNothingIsChecked) {
  Give({Msg1(7), MirrorLag{limits.grace + 1us}});
  EXPECT_THAT(CatchUp().checks, IsEmpty());
  const PairProgress later = Wait(24h);
  EXPECT_THAT(later.checks, IsEmpty());
  EXPECT_THAT(later.retries, IsEmpty());
}

TEST_F(PairTrackerTest, ChecksBeginWhenTheMirrorHasCaughtUp) {
  Give({Msg1(7), MirrorLag{1h}});
  CatchUp();
  EXPECT_THAT(Give(MirrorLag{0s}).checks, SizeIs(1));
}

struct TwoShards : PairTrackerTest {
  TwoShards() { shards = {ShardMap::Even(2), ShardMap::Even(1)}; }
  EdgeKey EdgeTo(Shard shard, uint64_t nth) const {
    uint64_t id = 100;
    for (;; ++id) {
      if (shards.reverse.ShardOf(UserId{id}) == shard && nth-- == 1) return {UserId{1}, UserId{id}};
    }
  }
};

// Shard 1 is away: the mirror's offsets wait, so it lags.
TEST_F(TwoShards, OneThatTheMirrorCannotReachDoesNotHoldBackChecksOfTheOther) {
  const EdgeKey away = EdgeTo(1, 1), lost = EdgeTo(0, 1), next = EdgeTo(0, 2);
  Give({Msg1(7, away), Msg1(7, lost), MirrorLag{1h}});
  EXPECT_THAT(CatchUp().checks, IsEmpty()) << "nothing shows that the mirror has come further";
  Give({Msg1(8, next), Msg2(8, next)});
  EXPECT_THAT(CatchUp().checks, IsEmpty()) << "it was not younger by a grace";
  const EdgeKey later = EdgeTo(0, 3);
  const auto checks = Give({Msg1(9, later), Msg2(9, later)}).checks;
  ASSERT_THAT(checks, SizeIs(1)) << "the one of the shard that is away waits";
  EXPECT_EQ(checks[0].edge, lost);
}

TEST_F(TwoShards, ChecksThatHangLeaveTheOtherItsShare) {
  limits.checks_in_flight = 4;
  Restart();
  for (uint64_t nth = 1; nth <= 5; ++nth) Give(Msg1(7, EdgeTo(1, nth)));
  EXPECT_THAT(CatchUp().checks, SizeIs(2));  // and are never answered
  Give(Msg1(7, EdgeTo(0, 1)));
  EXPECT_THAT(CatchUp().checks, SizeIs(1));
}

TEST_F(TwoShards, ChecksThatWaitForAForwardShardLeaveTheOtherItsShare) {
  limits.checks_in_flight = 4;
  shards = {ShardMap::Even(1), ShardMap::Even(2)};
  Restart();
  const auto from = [this](Shard shard, uint64_t nth) {
    uint64_t id = 100;
    while (shards.forward.ShardOf(UserId{id}) != shard || nth-- > 0) ++id;
    return EdgeKey{UserId{id}, UserId{1}};
  };
  for (uint64_t nth = 0; nth < 5; ++nth) Give(Msg1(7, from(1, nth)));
  EXPECT_THAT(CatchUp().checks, SizeIs(2));  // and are never answered
  Give(Msg1(7, from(0, 0)));
  EXPECT_THAT(CatchUp().checks, SizeIs(1));
}

TEST_F(TwoShards, AboveTheCapTheOldestOfAllGoesToTheRetries) {
  limits.pending = 2;
  Restart();
  Give(Msg1(7, EdgeTo(1, 1)));
  Wait(1ms);
  Give(Msg1(7, EdgeTo(0, 1)));
  Wait(1ms);
  const auto retries = Give(Msg1(7, EdgeTo(0, 2))).retries;
  ASSERT_THAT(retries, SizeIs(1));
  EXPECT_EQ(retries[0].edge, EdgeTo(1, 1));
  EXPECT_THAT(metrics.retried, ElementsAre(RetryCause::kTooMany));
  Give(Reply(retries[0], true));
  EXPECT_EQ(committed, 11);
}

TEST_F(PairTrackerTest, PausesOnlyWhileTheRetriesCannotBeWritten) {
  limits.pending = 1;
  limits.retries_in_flight = 1;
  Restart();
  const PairProgress full = Give({Msg1(1), Msg1(2, kOther), Msg1(3, {UserId{5}, UserId{6}})});
  ASSERT_THAT(full.retries, SizeIs(1));
  EXPECT_THAT(full.orders.pause, ElementsAre(0));
  const PairProgress failed = Give(Reply(full.retries[0], false));
  EXPECT_THAT(failed.retries, IsEmpty()) << "at once again, in a circle";
  EXPECT_THAT(failed.orders.resume, IsEmpty());
  const PairProgress again = Wait(limits.grace);
  ASSERT_THAT(again.retries, SizeIs(1));
  const PairProgress roomy = Give(Reply(again.retries[0], true));
  EXPECT_THAT(roomy.orders.resume, ElementsAre(0));
}

TEST_F(PairTrackerTest, ChecksInFlightAreBounded) {
  limits.checks_in_flight = 1;
  Restart();
  Give({Msg1(1), Msg1(2, kOther)});
  const auto first = CatchUp().checks;
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(Give(Reply(first[0], true)).checks, SizeIs(1));
}

// Its forward shard may have lost the change, and nobody else would ever ask.
TEST_F(PairTrackerTest, EveryMsg2WhoseMsg1DoesNotComeIsChecked) {
  Give({Msg2(1), Msg2(2, kOther), Msg2(3, {UserId{5}, UserId{6}})});
  EXPECT_EQ(committed, 10) << "whoever takes over must find them";
  const auto checks = CatchUp().checks;
  ASSERT_THAT(checks, SizeIs(3));
  EXPECT_EQ(checks[1].claim, (EdgeClaim{{2, false, 0}, false}));
  EXPECT_EQ(metrics.early_expired, 3);
  EXPECT_EQ(metrics.timed_out, 0) << "of no msg1";
  for (const CheckOrder& check : checks) Give(Reply(check, true));
  EXPECT_EQ(committed, 13);
  Wait(limits.remember);
  EXPECT_THAT(CatchUp().checks, IsEmpty());
}

TEST_F(PairTrackerTest, AMsg2AloneGoesToTheRetriesAsAPairDoes) {
  limits.checks_before_retry = 1;
  Restart();
  Give(Msg2(7));
  Give(Reply(CatchUp().checks.at(0), false));
  const auto retries = Wait(limits.grace).retries;
  ASSERT_THAT(retries, SizeIs(1));
  EXPECT_EQ(retries[0].claim, (EdgeClaim{{7, false, 0}, false}));
  EXPECT_EQ(committed, 10);
  Give(Reply(retries[0], true));
  EXPECT_EQ(committed, 11);
}

TEST_F(PairTrackerTest, AMsg2AloneIsAnsweredByItsMsg1AlsoWhileItIsChecked) {
  Give(Msg2(7));
  const auto checks = CatchUp().checks;
  ASSERT_THAT(checks, SizeIs(1));
  Give(Msg1(7));
  EXPECT_EQ(tracker->pending(), 0u);
  EXPECT_EQ(committed, 12);
  Give(Reply(checks[0], false));
  EXPECT_THAT(CatchUp().checks, IsEmpty());
}

TEST_F(PairTrackerTest, ANewerMessageStandsForAMsg2Alone) {
  Give(Msg2(7));
  Give(Msg2(8));
  EXPECT_EQ(committed, 11);
  Give(Msg1(7));
  EXPECT_EQ(committed, 11) << "the msg1 of the newer is still to come";
  Give(Msg1(9));
  EXPECT_EQ(committed, 13);
  EXPECT_EQ(tracker->pending(), 1u);
  Give(Msg2(9));
  EXPECT_EQ(tracker->pending(), 0u);
  EXPECT_EQ(committed, 15);
  EXPECT_EQ(metrics.matched.size(), 1u);
}

// The pair is answered, and the newer change has no msg1 yet.
TEST_F(PairTrackerTest, AMsg2ThatAnswersAnOlderMsg1WaitsForItsOwn) {
  Give({Msg1(7), Msg2(8)});
  EXPECT_EQ(metrics.matched.size(), 1u);
  EXPECT_EQ(committed, 11);
  EXPECT_EQ(CatchUp().checks.at(0).claim, (EdgeClaim{{8, false, 0}, false}));
}

TEST_F(PairTrackerTest, WhatIsRememberedIsBounded) {
  limits.remembered = 1;
  Restart();
  Give({Msg1(1), Msg2(1), Msg1(2, kOther), Msg2(2, kOther)});
  Give({Msg1(1), Msg1(2, kOther)});
  EXPECT_EQ(tracker->pending(), 1u) << "the older one is forgotten, the newer is not";
}

TEST_F(PairTrackerTest, ARevocationDropsThePartitionWithoutALastCommit) {
  Give(Msg1(7));
  const auto checks = CatchUp().checks;
  const PairProgress revoked = Give({Msg1(8), PartitionRevoked{0}});
  EXPECT_THAT(revoked.orders.commit, IsEmpty());
  EXPECT_EQ(tracker->pending(), 0u);
  offset = 10;
  Give({PartitionAssigned{0, 10, 0}, Msg1(7)});
  Give(Reply(checks.at(0), true));
  EXPECT_EQ(tracker->pending(), 1u) << "answered by a check of the earlier assignment";
}

TEST_F(PairTrackerTest, AnAssignmentBeginsAnewEvenWithoutARevocation) {
  Give(Msg1(7));
  Give(PartitionAssigned{0, 20, 0});
  EXPECT_EQ(tracker->pending(), 0u);
  EXPECT_EQ(committed, 20);
}

TEST_F(PairTrackerTest, AReplayedRecordDoesNotReopenWhatIsFinished) {
  Give({Msg1(7), Msg2(7), Msg1(9)});
  offset = 10;
  Give(Msg1(7));
  EXPECT_EQ(committed, 12);
}

TEST_F(PairTrackerTest, SaysWhenItMustBeSteppedAgain) {
  EXPECT_EQ(Give(Msg1(7)).next_timer, now + limits.grace);
  EXPECT_EQ(Wait(limits.grace).next_timer, std::nullopt) << "it waits to see the log's end";
  EXPECT_EQ(Give(Msg2(7)).next_timer, now + limits.remember);
}

TEST_F(PairTrackerTest, TimersOutOfDateDoNotPileUpBehindOneThatIsHeldBack) {
  limits.remembered = 100;
  Restart();
  Give({Msg1(1, kOther), MirrorLag{1h}});
  CatchUp();
  for (uint64_t ver = 1; ver <= 10'000; ++ver) Give({Msg1(ver), Msg2(ver)});
  EXPECT_EQ(tracker->pending(), 1u);
  EXPECT_LT(tracker->timers(), 2'000u);
}

}  // namespace
}  // namespace fanline::reconciler
