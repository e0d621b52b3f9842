#include "mirror/heard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::mirror {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;
using Ids = std::vector<uint64_t>;

struct Bell {
  explicit Bell(Duration gather = Duration::zero()) : heard(limits, gather) {}

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
  bell.heard.Add({7});
  EXPECT_EQ(bell.Asked(), Ids{7});
  bell.heard.Add({8});
  bell.heard.Add({9});
  EXPECT_EQ(bell.Asked(), Ids{}) << "one question at a time";
  EXPECT_FALSE(bell.heard.timer());
  EXPECT_EQ(bell.Found({7}), 0u);
  EXPECT_EQ(bell.Asked(), (Ids{8, 9}));
  EXPECT_EQ(bell.Found({8, 9}), 0u);
  EXPECT_EQ(bell.Asked(), Ids{});
}

TEST(Heard, ARowThatIsNotThereYetIsAskedForOnceMore) {
  Bell bell;
  bell.heard.Add({7, 8});
  EXPECT_EQ(bell.Asked(), (Ids{7, 8}));
  EXPECT_EQ(bell.Found({8}), 0u);
  bell.heard.Add({9});
  EXPECT_EQ(bell.Asked(), (Ids{7, 9}));
  EXPECT_EQ(bell.Found({9}), 1u);
  EXPECT_EQ(bell.Asked(), Ids{}) << "then it is left to the polls";
}

// How many questions are asked for so many rows a millisecond, in a second.
int QuestionsFor(int rows) {
  Bell bell(milliseconds(100));
  bell.limits = {.most_heard = 10'000, .rows_per_question = 1'000};
  int questions = 0;
  Ids kept;  // by the bell
  for (uint64_t ms = 0; ms < 1'000; ++ms, bell.now += milliseconds(1)) {
    for (int i = 0; i < rows; ++i) kept.push_back(ms * 100 + i);
    if (!bell.heard.listens(bell.now)) continue;
    bell.heard.Add(std::exchange(kept, {}));
    const Ids asked = bell.Asked();
    EXPECT_FALSE(bell.heard.listens(bell.now)) << "they are being read";
    ++questions;
    bell.Found(asked);
  }
  return questions;
}

TEST(Heard, TheMoreRowsComeTheFewerQuestionsAreAsked) {
  EXPECT_THAT(QuestionsFor(10), AllOf(Ge(10), Le(16))) << "as many as polls";
}

TEST(Heard, AFewRowsAreEarly) {
  Bell bell(milliseconds(100));
  for (uint64_t row = 1; row < 50; ++row, bell.now += milliseconds(10)) {
    ASSERT_TRUE(bell.heard.listens(bell.now)) << row;
    bell.heard.Add({row});
    bell.Found(bell.Asked());
  }
}

TEST(Heard, AQuestionAndWhatIsKeptAreBounded) {
  Bell bell;
  bell.heard.Add({1, 2, 3, 4});
  bell.heard.Add({5, 6, 7});
  EXPECT_EQ(bell.Asked(), (Ids{1, 2, 3}));
  bell.Found({1, 2, 3});
  EXPECT_EQ(bell.Asked(), (Ids{4, 5})) << "the polls find the others";
}

TEST(Heard, AfterAFailureThePollsFindThem) {
  Bell bell;
  bell.heard.Add({1, 2, 3, 4});
  EXPECT_EQ(bell.Asked(), (Ids{1, 2, 3}));
  bell.heard.Failed();
  EXPECT_EQ(bell.Asked(), Ids{});
  bell.heard.Add({5});
  EXPECT_EQ(bell.Asked(), Ids{5});
}

}  // namespace
}  // namespace fanline::mirror
