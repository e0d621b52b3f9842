#include "mirror/heard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::mirror {
namespace {

using std::chrono::milliseconds;
using Ids = std::vector<uint64_t>;

struct Bell {
  explicit Bell(Duration gather = Duration::zero()) : heard(limits, gather) {}

  void Add(const Ids& ids) { heard.Add(ids, now); }
  bool IsSilent(const Ids& read) { return heard.IsSilent(read, now); }
  // What is asked for now.
  Ids Asked() { return heard.Next(now).value_or(Ids{}); }
  uint64_t Found(const Ids& ids) {
    std::vector<LoggedChange> found;
    for (const uint64_t id : ids) found.push_back({.id = id});
    return heard.Done(found);
  }

  Limits limits{.most_heard = 5, .rows_per_question = 3};
  Heard heard;
  Time now{std::chrono::seconds(100)};
};

TEST(Heard, RowsAreAskedForAtOnceAndWhatComesMeanwhileGoesTogether) {
  Bell bell;
  EXPECT_TRUE(bell.heard.listens(bell.now));
  bell.Add({7});
  EXPECT_EQ(bell.Asked(), Ids{7});
  bell.Add({8});
  bell.Add({9});
  EXPECT_EQ(bell.Asked(), Ids{}) << "one question at a time";
  EXPECT_FALSE(bell.heard.timer());
  EXPECT_EQ(bell.Found({7}), 0u);
  EXPECT_EQ(bell.Asked(), (Ids{8, 9}));
  EXPECT_EQ(bell.Found({8, 9}), 0u);
  EXPECT_EQ(bell.Asked(), Ids{});
}

TEST(Heard, ARowThatIsNotThereYetIsAskedForOnceMore) {
  Bell bell;
  bell.Add({7, 8});
  EXPECT_EQ(bell.Asked(), (Ids{7, 8}));
  EXPECT_EQ(bell.Found({8}), 0u);
  bell.Add({9});
  EXPECT_EQ(bell.Asked(), (Ids{7, 9}));
  EXPECT_EQ(bell.Found({9}), 1u);
  EXPECT_EQ(bell.Asked(), Ids{}) << "then it is left to the polls";
}

TEST(Heard, ABellIsSilentIfItHasNotToldWithinASecondOfWhatAReadFound) {
  Bell bell;
  EXPECT_FALSE(bell.IsSilent({1})) << "row 1 may be older than the bell";
  EXPECT_FALSE(bell.IsSilent({2}));
  bell.Add({2});
  EXPECT_FALSE(bell.IsSilent({3}));
  EXPECT_FALSE(bell.IsSilent({})) << "it may still tell";
  bell.now += bell.limits.belled_poll_every;
  EXPECT_TRUE(bell.IsSilent({}));
  bell.heard.Begin();
  EXPECT_FALSE(bell.IsSilent({}));
}

TEST(Heard, WhatABellToldOfWasToldWhateverBecameOfIt) {
  Bell bell;
  EXPECT_FALSE(bell.IsSilent({}));
  bell.Add({7, 8});
  EXPECT_EQ(bell.Asked(), (Ids{7, 8}));
  EXPECT_EQ(bell.Found({7}), 0u) << "but it found no room";
  bell.heard.Failed();
  bell.heard.Forget();
  for (int second = 0; second < 3; ++second) {
    EXPECT_FALSE(bell.IsSilent({7, 8}));
    bell.now += bell.limits.belled_poll_every;
    bell.Add({});
  }
}

TEST(Heard, ReadsAreATenthOfPollsApart) {
  Bell bell(milliseconds(100));
  bell.Add({7});
  EXPECT_EQ(bell.Asked(), Ids{7});
  const Time next = bell.now + milliseconds(10);
  EXPECT_FALSE(bell.heard.listens(next)) << "one is under way";
  bell.Found({});
  EXPECT_EQ(bell.heard.timer(), next);
  bell.now = next - milliseconds(1);
  EXPECT_FALSE(bell.heard.listens(bell.now));
  EXPECT_EQ(bell.Asked(), Ids{}) << "nor what is asked for once more";
  bell.now = next;
  EXPECT_TRUE(bell.heard.listens(bell.now));
  EXPECT_EQ(bell.Asked(), Ids{7});
}

TEST(Heard, TooManyRowsAreLeftToThePolls) {
  Bell bell;
  bell.limits.most_told = 5;
  bell.limits.told_within = milliseconds(100);
  bell.Add({1});
  EXPECT_EQ(bell.Asked(), Ids{1});
  bell.Found({});
  bell.Add({2, 3});
  bell.now += milliseconds(99);
  bell.Add({4, 5});
  EXPECT_FALSE(bell.heard.crowded());
  bell.Add({6});
  EXPECT_TRUE(bell.heard.crowded());
  bell.heard.Forget();
  EXPECT_FALSE(bell.heard.crowded());
  EXPECT_EQ(bell.Asked(), Ids{});
}

TEST(Heard, RowsAreCountedWithinAMoment) {
  Bell bell;
  bell.limits.most_told = 5;
  bell.limits.told_within = milliseconds(100);
  for (uint64_t row = 0; row < 50; row += 5, bell.now += milliseconds(100)) {
    bell.Add({row, row + 1, row + 2, row + 3, row + 4});
    EXPECT_FALSE(bell.heard.crowded()) << row;
  }
}

TEST(Heard, AFewRowsAreEarly) {
  Bell bell(milliseconds(100));
  for (uint64_t row = 1; row < 50; ++row, bell.now += milliseconds(10)) {
    ASSERT_TRUE(bell.heard.listens(bell.now)) << row;
    bell.Add({row});
    bell.Found(bell.Asked());
  }
}

TEST(Heard, AQuestionAndWhatIsKeptAreBounded) {
  Bell bell;
  bell.Add({1, 2, 3, 4});
  bell.Add({5, 6, 7});
  EXPECT_EQ(bell.Asked(), (Ids{1, 2, 3}));
  bell.Found({1, 2, 3});
  EXPECT_LT(bell.heard.timer(), bell.now) << "no need to wait";
  EXPECT_EQ(bell.Asked(), (Ids{4, 5})) << "the polls find the others";
}

TEST(Heard, AfterAFailureThePollsFindThem) {
  Bell bell;
  bell.Add({1, 2, 3, 4});
  EXPECT_EQ(bell.Asked(), (Ids{1, 2, 3}));
  bell.heard.Failed();
  EXPECT_EQ(bell.Asked(), Ids{});
  bell.Add({5});
  EXPECT_EQ(bell.Asked(), Ids{5});
  bell.Found({});
  EXPECT_EQ(bell.Asked(), Ids{5});
  bell.heard.Failed();
  bell.Add({6});
  EXPECT_EQ(bell.Asked(), Ids{6}) << "nobody answers the read that failed";
}

}  // namespace
}  // namespace fanline::mirror
