#include "dispatcher/mode_rule.h"

#include <gtest/gtest.h>

namespace fanline::dispatcher {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const ModeRule kRule{.pull_above = 1'000};

AuthorMode Pushed(uint64_t live, Duration lag = {}, Duration age = seconds(1)) {
  return {.weight = {live, lag, age}};
}

AuthorMode Pulled(uint64_t live, Duration since = hours(1), Duration lag = {},
                  Duration age = seconds(1)) {
  AuthorMode mode = Pushed(live, lag, age);
  mode.pull = mode.marked = true;
  mode.since = since;
  return mode;
}

bool Switches(const AuthorMode& mode, bool to_pull, SwitchCause cause,
              const ModeRule& rule = kRule) {
  const auto decided = Decide(rule, mode);
  return decided && decided->pull == to_pull && decided->cause == cause;
}
bool Stays(const AuthorMode& mode, const ModeRule& rule = kRule) { return !Decide(rule, mode); }

TEST(ModeRule, AnAuthorOfManyLiveFollowersIsPulled) {
  EXPECT_TRUE(Switches(Pushed(1'000), true, SwitchCause::kFollowers));
  EXPECT_TRUE(Stays(Pushed(999)));
  EXPECT_TRUE(Stays(Pulled(1'000)));
}

TEST(ModeRule, WhileTheFleetIsBehindFewerAreEnough) {
  EXPECT_TRUE(Stays(Pushed(500, seconds(5))));
  EXPECT_TRUE(Stays(Pushed(500, seconds(9))));
  EXPECT_TRUE(Switches(Pushed(500, seconds(10)), true, SwitchCause::kLag));
  EXPECT_TRUE(Switches(Pushed(1'000, seconds(10)), true, SwitchCause::kFollowers));
}

TEST(ModeRule, AnHourOfLagIsNoMoreThanAMinute) {
  EXPECT_TRUE(Switches(Pushed(100, hours(1)), true, SwitchCause::kLag));
  EXPECT_TRUE(Stays(Pushed(99, hours(1))));
}

TEST(ModeRule, ALagThatWasIsNoLagAndAnOldNumberIsNone) {
  EXPECT_TRUE(Switches(Pushed(500, seconds(10), minutes(1)), true, SwitchCause::kLag));
  EXPECT_TRUE(Stays(Pushed(500, seconds(10), seconds(61))));
  EXPECT_TRUE(Switches(Pushed(1'000, {}, hours(24)), true, SwitchCause::kFollowers));
  EXPECT_TRUE(Stays(Pushed(1'000, {}, hours(25))));
  EXPECT_TRUE(Stays(Pulled(0, hours(100), {}, hours(25))));
  EXPECT_TRUE(Stays(AuthorMode{})) << "never weighed";
}

TEST(ModeRule, BetweenTheTwoCostsAnAuthorStaysAsHeIs) {
  EXPECT_TRUE(Stays(Pushed(500)));
  EXPECT_TRUE(Stays(Pulled(500)));
  EXPECT_TRUE(Switches(Pulled(499), false, SwitchCause::kFell));
  EXPECT_TRUE(Stays(Pulled(499, hours(1), seconds(10)))) << "the fleet is behind";
  const ModeRule low{.pull_above = 1'000, .push_below = 10};
  EXPECT_TRUE(Stays(Pulled(10), low));
  EXPECT_TRUE(Switches(Pulled(9), false, SwitchCause::kFell, low));
}

TEST(ModeRule, NobodyIsPushedAgainSoon) {
  EXPECT_TRUE(Stays(Pulled(0, minutes(10) - seconds(1))));
  EXPECT_TRUE(Switches(Pulled(0, minutes(10)), false, SwitchCause::kFell));
}

TEST(ModeRule, WhatLedToASwitchDoesNotLeadBack) {
  EXPECT_TRUE(Stays(Pulled(0, hours(1), {}, hours(1))));
  EXPECT_TRUE(Switches(Pulled(0, hours(1), {}, minutes(59)), false, SwitchCause::kFell));
}

TEST(ModeRule, WhoWasSetByHandStays) {
  AuthorMode pushed = Pushed(1'000'000), pulled = Pulled(0);
  pushed.by_hand = pulled.by_hand = true;
  EXPECT_TRUE(Stays(pushed));
  EXPECT_TRUE(Stays(pulled));
  EXPECT_TRUE(Stays(pulled, ModeRule{}));
}

TEST(ModeRule, OffEverybodyIsPushedAgain) {
  EXPECT_TRUE(Stays(Pushed(1'000'000), ModeRule{}));
  EXPECT_TRUE(
      Switches(Pulled(1'000'000, hours(1), {}, hours(99)), false, SwitchCause::kOff, ModeRule{}));
  EXPECT_TRUE(Stays(Pulled(1'000'000, minutes(9)), ModeRule{}));
}

TEST(ModeRule, OnlyWhoMayGetAboveIsWeighed) {
  const AuthorMode never;
  EXPECT_TRUE(Weighs(kRule, never, 100));
  EXPECT_FALSE(Weighs(kRule, never, 99)) << "ten times as many are below";
  AuthorMode pulled{.pull = true};
  EXPECT_TRUE(Weighs(kRule, pulled, 0)) << "or nobody would be pushed again";
  pulled.by_hand = true;
  EXPECT_FALSE(Weighs(kRule, pulled, 1'000'000));
  EXPECT_FALSE(Weighs(ModeRule{}, never, 1'000'000));
}

TEST(ModeRule, IsTooFineWhereOneRangeCountsTooFewReaders) {
  EXPECT_FALSE(kRule.TooFine(10));
  EXPECT_TRUE(kRule.TooFine(11));
  EXPECT_FALSE(ModeRule{}.TooFine(1'024)) << "nobody is switched";
}

TEST(ModeRule, NobodyIsWeighedAllTheTime) {
  EXPECT_FALSE(Weighs(kRule, Pushed(5, {}, seconds(29)), 1'000));
  EXPECT_TRUE(Weighs(kRule, Pushed(5, {}, seconds(30)), 1'000));
}

}  // namespace
}  // namespace fanline::dispatcher
