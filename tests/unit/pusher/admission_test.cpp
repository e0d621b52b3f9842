#include "pusher/units/admission.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fanline::pusher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Ids = std::vector<uint64_t>;

constexpr Backoff kBackoff{milliseconds(100), seconds(1)};
constexpr Time kStart{seconds(100)};
constexpr uint64_t kLongest = UINT64_MAX;  // of the jitter
constexpr Way kWay{0, 0}, kOtherWay{0, 1};

Limits Places(uint32_t units) {
  return {.units_in_flight = units, .large_pages_in_flight = 2, .whole_ways = 2, .probe = kBackoff};
}

// Eight parked units of a queue may be tried at once.
struct AdmissionWorld {
  explicit AdmissionWorld(uint32_t units = 32) : limits(Places(units)) {}

  void Park(const std::string& resource, uint64_t unit, Time now, uint64_t random = 0,
            const Way& way = kWay) {
    admission.Park(unit, std::move(tried[unit]), {way, resource}, now, random);
  }
  void GotThrough(uint64_t unit) {
    admission.GotThrough(tried.at(unit));
    tried.erase(unit);
  }
  // The parked units that may be tried, in a row.
  Ids All(Time now) {
    Ids units;
    while (auto next = admission.TryNext(now)) {
      units.push_back(next->unit);
      tried[next->unit] = std::move(next->credit);
    }
    return units;
  }
  Time Due() const { return *admission.retry_timer(); }

  const Limits limits;
  Admission admission{limits};
  std::map<uint64_t, Admission::Credit> tried;
};

// ---- credits --------------------------------------------------------------------------------

TEST(Admission, EachWayHasCreditsOfItsOwn) {
  AdmissionWorld w(1);
  auto credit = w.admission.Admit(kWay, kStart);
  EXPECT_FALSE(w.admission.has_room(kWay));
  EXPECT_TRUE(w.admission.admits(kOtherWay));
  credit = {};
  EXPECT_TRUE(w.admission.has_room(kWay));
}

TEST(Admission, ManyWaysShareWhatAFewWouldHave) {
  AdmissionWorld w(8);
  w.admission.SetWays(2, {0, 1});  // four ways share what two would have
  std::vector<Admission::Credit> credits;
  while (w.admission.has_room(kWay)) credits.push_back(w.admission.Admit(kWay, kStart));
  EXPECT_EQ(credits.size(), 4u);
  EXPECT_TRUE(w.admission.Widen(credits[0]));
  EXPECT_FALSE(w.admission.Widen(credits[1]));
}

TEST(Admission, AWideCreditIsForLargePagesAndLeavesRoomForSmallUnits) {
  AdmissionWorld w(1);
  auto credit = w.admission.Admit(kWay, kStart);
  EXPECT_EQ(w.admission.PageFor(credit), w.limits.followers_on_first_page);
  EXPECT_FALSE(w.admission.has_room(kWay));
  EXPECT_TRUE(w.admission.Widen(credit));
  EXPECT_TRUE(w.admission.Widen(credit)) << "it is";
  EXPECT_EQ(w.admission.PageFor(credit), w.limits.followers_per_page);
  EXPECT_TRUE(w.admission.has_room(kWay));
}

TEST(Admission, LargeUnitsHaveWideCreditsInTurn) {
  AdmissionWorld w;
  std::map<uint64_t, Admission::Credit> wide;
  for (const uint64_t unit : {1, 2, 3, 4}) {
    auto credit = w.admission.Admit(kWay, kStart);
    EXPECT_EQ(w.admission.Widen(credit), unit <= 2) << "two are the most";
    if (unit <= 2) {
      wide[unit] = std::move(credit);
    } else {
      w.admission.AwaitTurn(unit, std::move(credit));
    }
  }
  EXPECT_EQ(w.admission.awaiting_turns(), 2u);
  EXPECT_FALSE(w.admission.NextTurn());
  w.admission.AwaitTurn(1, std::move(wide[1]));
  auto newcomer = w.admission.Admit(kWay, kStart);
  EXPECT_FALSE(w.admission.Widen(newcomer)) << "others wait";
  auto next = w.admission.NextTurn();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->unit, 3u);
  EXPECT_EQ(w.admission.PageFor(next->credit), w.limits.followers_per_page);
  EXPECT_FALSE(w.admission.NextTurn());
  w.admission.Forget([](uint64_t unit) { return unit == 4; });
  next.reset();
  EXPECT_EQ(w.admission.NextTurn()->unit, 1u);
  EXPECT_EQ(w.admission.awaiting_turns(), 0u);
}

TEST(Admission, UnitsThatHadNoTurnYetAndTheOldestOfTheOthersAlternate) {
  AdmissionWorld w;
  for (const uint64_t unit : {2, 1, 3}) {
    auto credit = w.admission.Admit(kWay, kStart);
    ASSERT_TRUE(w.admission.Widen(credit)) << "nobody holds one";
    w.admission.AwaitTurn(unit, std::move(credit));
    if (unit == 1) break;  // two wait for the two that are free
  }
  for (const uint64_t unit : {9, 8, 7}) {
    w.admission.AwaitTurn(unit, w.admission.Admit(kWay, kStart));
  }
  std::vector<uint64_t> turns;
  while (auto next = w.admission.NextTurn()) {
    turns.push_back(next->unit);
    if (turns.size() == 2) w.admission.AwaitTurn(next->unit, std::move(next->credit));
  }
  EXPECT_EQ(turns, (std::vector<uint64_t>{9, 1, 8, 1, 7, 2}));
}

TEST(Admission, AWideCreditThatWasGivenBackInTheSameStepIsFree) {
  AdmissionWorld w;
  auto one = w.admission.Admit(kWay, kStart), two = w.admission.Admit(kWay, kStart);
  ASSERT_TRUE(w.admission.Widen(one));
  w.admission.AwaitTurn(1, std::move(one));
  EXPECT_TRUE(w.admission.Widen(two)) << "there is one for each";
}

TEST(Admission, AWayIsNotForgottenWhileALargeUnitIsUnderWayOrWaits) {
  AdmissionWorld w;
  w.admission.AwaitTurn(7, w.admission.Admit(kWay, kStart));
  w.admission.Refill(kStart + seconds(1));
  auto next = w.admission.NextTurn();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->unit, 7u);
  w.admission.Refill(kStart + seconds(1));
  w.admission.AwaitTurn(7, std::move(next->credit));
  EXPECT_EQ(w.admission.NextTurn()->unit, 7u);
}

TEST(Admission, ANodeForWhichManyReadersWaitIsAdmittedNothing) {
  AdmissionWorld w;
  w.admission.waiting_readers(kWay.node) = w.limits.waiting_readers;
  EXPECT_FALSE(w.admission.admits(kWay));
  EXPECT_TRUE(w.admission.admits(kOtherWay));
  --w.admission.waiting_readers(kWay.node);
  EXPECT_TRUE(w.admission.admits(kWay));
}

TEST(Admission, ANodeIsSentSoManyBatchesAhead) {
  AdmissionWorld w;
  for (uint32_t i = 0; i < w.limits.batches_in_flight; ++i) w.admission.Sent(0);
  EXPECT_FALSE(w.admission.may_send(0));
  EXPECT_TRUE(w.admission.may_send(1));
  w.admission.SetWays(1, {1});  // it has no range of ours any more
  w.admission.Answered(0);
  EXPECT_TRUE(w.admission.may_send(0));
}

// ---- parked units ---------------------------------------------------------------------------

TEST(Admission, WhatIsAwayIsAskedByOneUnitAtATimeFurtherAndFurtherApart) {
  AdmissionWorld w;
  for (uint64_t unit = 1; unit <= 100; ++unit) w.Park("mysql_1", unit, kStart);
  EXPECT_EQ(w.All(kStart), Ids{});
  EXPECT_EQ(w.Due(), kStart + kBackoff.Delay(1, 0));

  Time now = kStart;
  std::vector<Duration> gaps;
  for (uint64_t unit = 1; unit <= 6; ++unit) {
    const Time due = w.Due();
    gaps.push_back(due - now);
    now = due;
    ASSERT_EQ(w.All(now), Ids{unit});  // who has waited longest
    EXPECT_EQ(w.admission.retry_timer(), std::nullopt) << "its answer comes first";
    w.Park("mysql_1", unit, now);
  }
  EXPECT_EQ(gaps.front(), milliseconds(50));
  EXPECT_EQ(gaps.back(), milliseconds(500));
  EXPECT_EQ(w.admission.parked(), 100u);
}

// Its failure says that the resource is away, not that it still is.
TEST(Admission, AUnitThatNeverWaitedHereDoesNotPutOffTheNextTry) {
  AdmissionWorld w;
  w.Park("mysql_1", 1, kStart);
  const Time due = w.Due();
  w.Park("mysql_1", 2, due);
  EXPECT_EQ(w.All(due), Ids{1});
}

TEST(Admission, TheWaitIsJittered) {
  AdmissionWorld one, other;
  one.Park("redis", 1, kStart, 1);
  other.Park("redis", 1, kStart, 12'345);
  EXPECT_NE(one.Due(), other.Due());
}

TEST(Admission, WhatComesBackIsNotMetByEverybodyAtOnce) {
  AdmissionWorld w;
  for (uint64_t unit = 1; unit <= 100; ++unit) w.Park("mysql_1", unit, kStart);
  const Time now = w.Due();
  std::vector<size_t> rounds;
  for (auto units = w.All(now); !units.empty(); units = w.All(now)) {
    rounds.push_back(units.size());
    for (const uint64_t unit : units) w.GotThrough(unit);
  }
  const std::vector<size_t> first(rounds.begin(), rounds.begin() + 5);
  EXPECT_EQ(first, (std::vector<size_t>{1, 2, 4, 8, 8}));
  EXPECT_EQ(w.admission.parked(), 0u);
}

TEST(Admission, AFailureOnTheWayBackClosesItAgain) {
  AdmissionWorld w;
  for (uint64_t unit = 1; unit <= 100; ++unit) w.Park("mysql_1", unit, kStart);
  const Time now = w.Due();
  for (int round = 0; round < 2; ++round) {
    for (const uint64_t unit : w.All(now)) w.GotThrough(unit);
  }
  const auto tried = w.All(now);
  ASSERT_EQ(tried.size(), 4u);
  for (const uint64_t unit : tried) w.Park("mysql_1", unit, now);
  EXPECT_EQ(w.All(now), Ids{});
  EXPECT_EQ(w.Due(), now + kBackoff.Delay(1, 0)) << "what fails together counts once";
  EXPECT_EQ(w.All(w.Due()).size(), 1u);
}

TEST(Admission, AUnitThatFailsByItsOwnFaultGoesBehindTheOthers) {
  AdmissionWorld w;
  for (uint64_t unit = 1; unit <= 3; ++unit) w.Park("redis", unit, kStart);
  Time now = w.Due();
  ASSERT_EQ(w.All(now), Ids{1});
  w.Park("redis", 1, now);
  now = w.Due();
  ASSERT_EQ(w.All(now), Ids{2});
  w.GotThrough(2);
  EXPECT_EQ(w.All(now), (Ids{3, 1}));
}

TEST(Admission, ResourcesDoNotWaitForEachOther) {
  AdmissionWorld w;
  w.Park("mysql_1", 1, kStart, kLongest);
  w.Park("redis", 2, kStart + milliseconds(10));
  Time now = kStart + seconds(1);
  ASSERT_EQ(w.All(now), (Ids{1, 2}));
  w.Park("mysql_1", 1, now, kLongest);
  w.Park("mysql_1", 2, now, kLongest);  // got past redis, and met the next
  w.Park("redis", 3, now, kLongest);
  EXPECT_EQ(w.admission.parked(), 3u);
  EXPECT_EQ(w.All(now + seconds(1)).size(), 2u) << "one for each";
}

TEST(Admission, AParkedUnitWithoutRoomWaitsAndNoOtherWayWithIt) {
  AdmissionWorld w(1);
  auto taken = w.admission.Admit(kWay, kStart);
  w.Park("mysql_1", 1, kStart);
  w.Park("mysql_1", 2, kStart, 0, kOtherWay);
  const Time now = kStart + seconds(1);
  EXPECT_EQ(w.All(now), Ids{2});
  EXPECT_EQ(w.admission.retry_timer(), std::nullopt) << "a credit that is given back comes first";
  taken = {};
  EXPECT_EQ(w.All(now), Ids{1});
}

TEST(Admission, AUnitThatEndsWhileItIsTriedGivesBackItsTurn) {
  AdmissionWorld w;
  for (uint64_t unit = 1; unit <= 2; ++unit) w.Park("mysql_1", unit, kStart);
  const Time now = w.Due();
  ASSERT_EQ(w.All(now), Ids{1});
  w.tried.clear();
  EXPECT_EQ(w.All(now), Ids{2});
}

TEST(Admission, ForgetsUnitsThatAreNoMore) {
  AdmissionWorld w;
  for (uint64_t unit = 1; unit <= 10; ++unit) w.Park("mysql_1", unit, kStart);
  const Time now = w.Due();
  ASSERT_EQ(w.All(now), Ids{1});
  w.tried.clear();
  w.admission.Forget([](uint64_t unit) { return unit < 10; });
  EXPECT_EQ(w.admission.parked(), 1u);
  EXPECT_EQ(w.All(now), Ids{10}) << "the one under way will not answer";
}

TEST(Admission, AUnitThatIsRefusedElsewhereMayHaveGotThroughToThere) {
  AdmissionWorld w;
  for (uint64_t unit = 1; unit <= 3; ++unit) w.Park("mysql_1", unit, kStart);
  const Time now = w.Due();
  ASSERT_EQ(w.All(now), Ids{1});
  const Admission::QueueName range{kWay, "redis", 7}, shard{kWay, "mysql_1"};
  w.admission.GotThroughTo(w.tried[1], shard);
  EXPECT_EQ(w.All(now), Ids{}) << "refused there";
  w.admission.GotThroughTo(w.tried[1], range);
  w.admission.Park(1, std::move(w.tried[1]), range, now, 0);
  EXPECT_EQ(w.All(now), (Ids{2, 3})) << "one more at the same time";
}

}  // namespace
}  // namespace fanline::pusher
