#include "audit/watch.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace fanline::audit {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Result = WatchMetrics::Result;

const RangeLayout kLayout{16};
constexpr Item kPost{PostId{70}, 5}, kOther{PostId{71}, 6};

// Readers by their ranges, as many as wanted.
std::vector<UserId> ReadersOf(Range range, size_t count) {
  std::vector<UserId> readers;
  for (uint64_t id = 1; readers.size() < count; ++id) {
    if (kLayout.RangeOf(UserId{id}) == range) readers.push_back(UserId{id});
  }
  return readers;
}

struct Recorded : WatchMetrics {
  std::map<Result, int> judged;
  uint64_t items = 0, missing = 0, surplus = 0;
  int rounds = 0;
  double misses = -1;
  size_t wrong = 0;
  std::vector<std::string> failed;

  void RoundEnded() override { ++rounds; }
  void Judged(Result result, uint64_t its) override {
    ++judged[result];
    items += its;
  }
  void Found(const std::vector<Difference>& all) override {
    missing += MissingIn(all);
    surplus += SurplusIn(all);
  }
  void Holding(double misses_per_10000, size_t timelines) override {
    misses = misses_per_10000;
    wrong = timelines;
  }
  void Failed(const std::string& resource, const std::string&) override {
    failed.push_back(resource);
  }
};

// World: range 3 is ours, and its log holds ten hints, all applied. Ann reads there, and Bob; each
// has 99 items.
class WatchTest : public ::testing::Test {
 protected:
  WatchTest() { indexes_[3] = {ann_, bob_}; }

  Watch Made(WatchLimits limits) {
    return Watch({[this](UserId reader, Look* look) { return LookAt(reader, look); },
                  [this](Range range, std::string* cursor, std::vector<UserId>* readers) {
                    return Listed(range, cursor, readers);
                  },
                  [this] { return now_; }},
                 kLayout, limits, metrics_);
  }

  Status LookAt(UserId reader, Look* look) {
    if (!away_.done()) return away_;
    if (unreadable_.contains(reader)) return Status::Later("mysql_1", "away");
    now_ += look_takes_;
    looked_.push_back(reader);
    *look = {.judged = true, .items = 99};
    if (gone_.contains(reader)) *look = {.gone = true};
    if (busy_.contains(reader)) *look = {};
    if (hyper_.contains(reader)) *look = {.too_much = true};
    if (look->judged || look->too_much) look->differences = differences_[reader];
    return Status::Done();
  }

  // Two readers a page.
  Status Listed(Range range, std::string* cursor, std::vector<UserId>* readers) {
    const auto& all = indexes_[range];
    size_t at = cursor->empty() ? 0 : std::stoul(*cursor);
    for (; at < all.size() && readers->size() < 2; ++at) readers->push_back(all[at]);
    *cursor = at < all.size() ? std::to_string(at) : "";
    return Status::Done();
  }

  // The log's end is asked for at each step, unless a test says when it was.
  std::vector<UserId> LookedAtAfter(Duration passed) {
    looked_.clear();
    now_ += passed;
    for (auto& [range, progress] : progress_) {
      if (!end_asked_at_ || *end_asked_at_ <= now_)
        progress.end_asked_at = end_asked_at_.value_or(now_);
    }
    next_ = watch_->Step(progress_, now_);
    return looked_;
  }

  void Lacks(UserId reader, std::vector<Item> items) {
    differences_[reader].clear();
    for (const Item& item : items) {
      differences_[reader].push_back({.reader = reader, .kind = Kind::kMissing, .item = item});
    }
  }

  // She lacks a post at the first look, and at the second.
  void AnnIsSuspect() {
    Lacks(ann_, {kPost});
    LookedAtAfter(0s);
  }
  void AnnIsWrong() {
    AnnIsSuspect();
    LookedAtAfter(4s);
  }

  const UserId ann_ = ReadersOf(3, 2)[0], bob_ = ReadersOf(3, 2)[1];
  std::map<Range, std::vector<UserId>> indexes_;
  std::map<UserId, std::vector<Difference>> differences_;
  std::set<UserId> gone_, busy_, hyper_, unreadable_;
  Duration look_takes_{};
  Status away_ = Status::Done();
  Progress progress_{{3, {.applied = 10, .end = 10}}};
  Time now_{1h}, next_{};
  std::optional<Time> end_asked_at_;
  std::vector<UserId> looked_;
  Recorded metrics_;
  const WatchLimits limits_{.every = 10s, .readers = 2, .again_after = 4s, .longest_wait = 60s};
  std::optional<Watch> watch_{Made(limits_)};
};

TEST_F(WatchTest, WhatIsAsItShouldBeIsGoodAtTheFirstLook) {
  EXPECT_THAT(LookedAtAfter(0s), ElementsAre(ann_, bob_));
  EXPECT_EQ(next_, now_ + 10s);
  EXPECT_EQ(metrics_.judged[Result::kGood], 2);
  EXPECT_EQ(metrics_.items, 198u);
  EXPECT_EQ(metrics_.misses, 0);
  EXPECT_EQ(metrics_.rounds, 1);
}

TEST_F(WatchTest, WhatWasInFlightIsThereAtTheSecondLookAndNoMiss) {
  Lacks(ann_, {kPost});
  EXPECT_THAT(LookedAtAfter(0s), ElementsAre(ann_, bob_));
  EXPECT_EQ(next_, now_ + 4s);
  EXPECT_THAT(LookedAtAfter(0s), IsEmpty());
  EXPECT_THAT(LookedAtAfter(1s), IsEmpty()) << "too early for a second look";
  Lacks(ann_, {kOther});  // another one is in flight by then
  EXPECT_THAT(LookedAtAfter(3s), ElementsAre(ann_));
  EXPECT_EQ(metrics_.missing, 0u);
  EXPECT_EQ(metrics_.misses, 0);
  EXPECT_EQ(metrics_.judged[Result::kGood], 2);
}

TEST_F(WatchTest, WhatIsMissingBothTimesIsCountedOnceAndShownUntilItIsRepaired) {
  AnnIsSuspect();
  EXPECT_EQ(metrics_.misses, 0) << "not known yet";
  LookedAtAfter(4s);
  EXPECT_EQ(metrics_.missing, 1u);
  EXPECT_EQ(metrics_.judged[Result::kWrong], 1);
  EXPECT_DOUBLE_EQ(metrics_.misses, 10'000.0 / 199);
  EXPECT_EQ(metrics_.wrong, 1u);
  EXPECT_THAT(LookedAtAfter(6s), ElementsAre(ann_, bob_)) << "the wrong one first";
  EXPECT_EQ(metrics_.missing, 1u);
  Lacks(ann_, {});
  LookedAtAfter(10s);
  EXPECT_EQ(metrics_.misses, 0);
  EXPECT_EQ(metrics_.wrong, 0u);
}

TEST_F(WatchTest, TheSecondLookWaitsForTheHintsThatTheLogHoldsByThen) {
  AnnIsSuspect();
  progress_[3] = {.applied = 10, .end = 12};  // the first look's hint may be one of them
  EXPECT_THAT(LookedAtAfter(4s), IsEmpty());
  EXPECT_EQ(next_, now_ + 1s);
  progress_[3] = {.applied = 11, .end = 15};
  EXPECT_THAT(LookedAtAfter(1s), IsEmpty());
  progress_[3] = {.applied = 12, .end = 20};
  EXPECT_THAT(LookedAtAfter(1s), ElementsAre(ann_));
}

TEST_F(WatchTest, TheSecondLookWaitsForAnEndOfTheLogThatWasAskedForLateEnough) {
  AnnIsSuspect();
  const Time first = now_;
  end_asked_at_ = first - 1s;  // nothing of what was in flight is known to be in the log
  EXPECT_THAT(LookedAtAfter(4s), IsEmpty());
  EXPECT_EQ(next_, now_ + 1s);
  end_asked_at_ = first + 4s - 1ms;
  EXPECT_THAT(LookedAtAfter(1s), IsEmpty());
  end_asked_at_ = first + 4s;
  progress_[3] = {.applied = 10, .end = 12};
  EXPECT_THAT(LookedAtAfter(1s), IsEmpty());
  progress_[3] = {.applied = 12, .end = 12};
  EXPECT_THAT(LookedAtAfter(1s), ElementsAre(ann_));
}

// The log's end is as of a moment before the step: a look late in a slow one is newer.
TEST_F(WatchTest, TheSecondLookCountsItsTimeFromTheEndOfTheFirst) {
  watch_.emplace(Made({.every = 60s, .readers = 2, .again_after = 4s}));
  Lacks(bob_, {kPost});
  look_takes_ = 6s;
  EXPECT_THAT(LookedAtAfter(0s), ElementsAre(ann_, bob_));
  EXPECT_THAT(LookedAtAfter(0s), IsEmpty());
  EXPECT_THAT(LookedAtAfter(4s), ElementsAre(bob_));
}

TEST_F(WatchTest, ASuspectWhoCannotBeReadKeepsNobodyElseWaiting) {
  const UserId cid = ReadersOf(3, 3)[2];
  Lacks(ann_, {kPost});
  Lacks(bob_, {kPost});
  LookedAtAfter(0s);
  unreadable_ = {ann_};
  indexes_[3] = {cid};
  EXPECT_THAT(LookedAtAfter(4s), IsEmpty());
  EXPECT_THAT(LookedAtAfter(1s), ElementsAre(bob_));
  EXPECT_EQ(metrics_.missing, 1u);
  EXPECT_THAT(metrics_.failed, ElementsAre("mysql_1")) << "not asked again at once";
  EXPECT_THAT(LookedAtAfter(5s), ElementsAre(bob_, cid, cid)) << "a round";
  EXPECT_EQ(metrics_.rounds, 2);
  unreadable_.clear();
  LookedAtAfter(10s);
  EXPECT_EQ(metrics_.missing, 2u);
}

TEST_F(WatchTest, AWrongTimelineThatCannotBeReadKeepsNobodyElseWaiting) {
  AnnIsWrong();
  unreadable_ = {ann_};
  EXPECT_THAT(LookedAtAfter(6s), ElementsAre(bob_));
  EXPECT_EQ(metrics_.rounds, 1) << "but it was no whole round";
  EXPECT_EQ(metrics_.wrong, 1u);
}

TEST_F(WatchTest, WhoWaitsForHintsForTooLongIsForgotten) {
  AnnIsSuspect();
  progress_[3] = {.applied = 10, .end = 12};
  LookedAtAfter(4s);
  indexes_[3].clear();
  LookedAtAfter(56s);
  EXPECT_EQ(metrics_.judged[Result::kUnsettled], 1);
  progress_[3] = {.applied = 12, .end = 12};
  EXPECT_THAT(LookedAtAfter(4s), IsEmpty());
  EXPECT_EQ(metrics_.missing, 0u);
}

TEST_F(WatchTest, AnotherMissOfAWrongTimelineIsLookedAtTwiceToo) {
  AnnIsWrong();
  Lacks(ann_, {kPost, kOther});
  LookedAtAfter(6s);
  EXPECT_EQ(metrics_.missing, 1u);
  LookedAtAfter(4s);
  EXPECT_EQ(metrics_.missing, 2u);
  EXPECT_DOUBLE_EQ(metrics_.misses, 20'000.0 / 200);
}

TEST_F(WatchTest, ATimelineThatIsGoneIsWrongNoMore) {
  AnnIsWrong();
  EXPECT_GT(metrics_.misses, 0);
  gone_ = {ann_};
  LookedAtAfter(6s);
  EXPECT_EQ(metrics_.misses, 0);
}

TEST_F(WatchTest, OneThatIsBeingRebuiltIsNotJudgedAndStaysWhatItWas) {
  busy_ = {bob_};
  AnnIsSuspect();
  EXPECT_EQ(metrics_.judged[Result::kNotJudged], 1);
  LookedAtAfter(4s);
  busy_ = {ann_};
  LookedAtAfter(6s);
  EXPECT_GT(metrics_.misses, 0);
}

// A reader for whom only the index and the length are compared.
TEST_F(WatchTest, WhoFollowsMoreThanCanBeReadIsWrongWhileTheIndexIs) {
  hyper_ = {ann_, bob_};
  differences_[ann_] = {{.reader = ann_, .kind = Kind::kNotIndexed}};
  LookedAtAfter(0s);
  EXPECT_EQ(metrics_.judged[Result::kNotJudged], 1) << "bob, of whom nothing is known";
  LookedAtAfter(4s);
  EXPECT_EQ(metrics_.judged[Result::kWrong], 1);
  EXPECT_EQ(metrics_.wrong, 1u);
  LookedAtAfter(6s);
  EXPECT_EQ(metrics_.wrong, 1u) << "as long as it is";
  differences_[ann_].clear();
  EXPECT_THAT(LookedAtAfter(10s), ElementsAre(ann_, ann_, bob_));
  EXPECT_EQ(metrics_.wrong, 0u);
  EXPECT_EQ(metrics_.judged[Result::kGood], 0) << "no post was compared";
}

TEST_F(WatchTest, ARangeWhoseProgressIsNotKnownIsForgotten) {
  AnnIsWrong();
  EXPECT_GT(metrics_.misses, 0);
  progress_.clear();
  EXPECT_THAT(LookedAtAfter(10s), IsEmpty());
  EXPECT_TRUE(std::isnan(metrics_.misses)) << "and nothing is known";
}

TEST_F(WatchTest, WhereNothingWasComparedItDoesNotSayThatNothingIsMissing) {
  busy_ = {ann_, bob_};
  LookedAtAfter(0s);
  EXPECT_EQ(metrics_.judged[Result::kNotJudged], 2);
  EXPECT_TRUE(std::isnan(metrics_.misses));
}

TEST_F(WatchTest, ASuspectOfARangeThatIsLostIsForgotten) {
  AnnIsSuspect();
  progress_ = {{5, {}}};
  EXPECT_THAT(LookedAtAfter(4s), IsEmpty());
  EXPECT_EQ(metrics_.missing, 0u);
}

TEST_F(WatchTest, InTimeEverybodyOfEveryRangeIsLookedAtAFewAtATime) {
  std::set<UserId> all, met;
  for (const Range range : {3, 4, 9}) {
    progress_[range] = {};
    indexes_[range] = ReadersOf(range, 5);
    all.insert(indexes_[range].begin(), indexes_[range].end());
  }
  for (int round = 0; round < 8; ++round) {
    const auto looked = LookedAtAfter(10s);
    EXPECT_THAT(looked, SizeIs(2));
    met.insert(looked.begin(), looked.end());
  }
  EXPECT_EQ(met, all);
}

TEST_F(WatchTest, WhileAServiceIsAwayItOnlySaysSo) {
  away_ = Status::Later("redis", "away");
  EXPECT_THAT(LookedAtAfter(0s), IsEmpty());
  EXPECT_THAT(metrics_.failed, ElementsAre("redis"));
  EXPECT_EQ(metrics_.rounds, 0);
  EXPECT_EQ(next_, now_ + 10s);
  away_ = Status::Done();
  LookedAtAfter(10s);
  EXPECT_EQ(metrics_.rounds, 1);
}

TEST_F(WatchTest, OfManyItRemembersTheLast) {
  watch_.emplace(Made({.every = 10s, .readers = 2, .again_after = 4s, .remembered = 3}));
  AnnIsWrong();
  EXPECT_DOUBLE_EQ(metrics_.misses, 10'000.0 / (2 * 99 + 1));
  indexes_[3] = ReadersOf(3, 6);
  for (int round = 0; round < 4; ++round) LookedAtAfter(10s);
  EXPECT_DOUBLE_EQ(metrics_.misses, 10'000.0 / (3 * 99 + 1)) << "of three, the wrong one too";
}

TEST_F(WatchTest, WrongOnesBeyondARoundsShareTakeTurns) {
  watch_.emplace(Made({.every = 10s, .readers = 9, .again_after = 4s, .wrong_again = 2}));
  const std::vector<UserId> readers = ReadersOf(3, 5);
  indexes_[3] = readers;
  for (const UserId reader : readers) Lacks(reader, {kPost});
  for (int i = 0; i < 3; ++i) LookedAtAfter(10s);
  EXPECT_EQ(metrics_.wrong, 5u);
  indexes_[3].clear();
  LookedAtAfter(10s);  // what was listed before
  std::set<UserId> met;
  for (int round = 0; round < 3; ++round) {
    const auto looked = LookedAtAfter(10s);
    EXPECT_THAT(looked, SizeIs(2));
    met.insert(looked.begin(), looked.end());
  }
  EXPECT_THAT(met, SizeIs(5));
}

}  // namespace
}  // namespace fanline::audit
