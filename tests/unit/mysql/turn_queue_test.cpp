#include "fanline/base/turn_queue.h"

#include <gmock/gmock.h>

#include <string>

namespace fanline::mysql {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kBig = 100;

class TurnQueueTest : public ::testing::Test {
 protected:
  using Queue = TurnQueue<int>;

  static Queue Of(std::vector<ClassLimits> classes, size_t workers = 4,
                  Duration newest_first_after = 1s) {
    return {classes, workers, newest_first_after};
  }
  void Push(int job, Turn turn = {}) { queue_.Push(job, std::move(turn), now_, &dropped_); }
  std::vector<int> Take(size_t most = 1) { return queue_.Take(most, now_, &dropped_).jobs; }
  // "3 full", in the order in which they were dropped; forgotten then.
  std::vector<std::string> Dropped() {
    std::vector<std::string> words;
    for (const Queue::Dropped& each : std::exchange(dropped_, {})) {
      const char* why = each.why == Queue::Why::kFull   ? " full"
                        : each.why == Queue::Why::kLate ? " late"
                                                        : " dead";
      words.push_back(std::to_string(each.job) + why);
    }
    return words;
  }

  Time now_{1h};
  Queue queue_ = Of({{.queue = 4}});
  std::vector<Queue::Dropped> dropped_;
};

TEST_F(TurnQueueTest, ServesInTheOrderOfArrivalWhileTheOldestIsFresh) {
  for (const int job : {1, 2, 3, 4}) Push(job);
  now_ += 1s;
  EXPECT_THAT(Take(2), ElementsAre(1, 2));
  EXPECT_THAT(Take(9), ElementsAre(3, 4));
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(TurnQueueTest, ServesTheNewestFirstOnceTheOldestHasWaitedForTooLong) {
  for (const int job : {1, 2}) Push(job);
  now_ += 1001ms;
  Push(3);
  EXPECT_THAT(Take(), ElementsAre(3));
  EXPECT_THAT(Take(2), ElementsAre(2, 1));
}

TEST_F(TurnQueueTest, AFullQueueTakesNoMoreUntilItsOldestHasWaitedForTooLong) {
  for (const int job : {1, 2, 3, 4, 5}) Push(job);
  EXPECT_THAT(Dropped(), ElementsAre("5 full"));
  now_ += 1001ms;
  Push(6);
  EXPECT_THAT(Dropped(), ElementsAre("1 full"));
  EXPECT_THAT(Take(), ElementsAre(6));
}

TEST_F(TurnQueueTest, WithoutATimeTheOrderOfArrivalHoldsForEver) {
  queue_ = Of({{.queue = 2}}, 1, Duration::max());
  for (const int job : {1, 2}) Push(job);
  now_ += 1000h;
  Push(3);
  EXPECT_THAT(Dropped(), ElementsAre("3 full"));
  EXPECT_THAT(Take(), ElementsAre(1));
}

TEST_F(TurnQueueTest, WhatIsLateIsNotServed) {
  Push(1, {.until = now_ + 10ms});
  Push(2, {.until = now_ + 20ms});
  now_ += 10ms;
  EXPECT_THAT(Take(), ElementsAre(2));
  EXPECT_THAT(Dropped(), ElementsAre("1 late"));
}

// All workers hang: who comes next finds out for those before.
TEST_F(TurnQueueTest, WhatIsLateIsDroppedByTheNextThatComes) {
  Push(1, {.until = now_ + 10ms});
  now_ += 10ms;
  Push(2);
  EXPECT_THAT(Dropped(), ElementsAre("1 late"));
}

TEST_F(TurnQueueTest, WhatIsLateIsDroppedOnRequest) {
  queue_ = Of({{.queue = kBig}, {.queue = kBig}});
  Push(1, {.until = now_ + 10ms});
  Push(2, {.until = now_ + 20ms});
  Push(11, {.work_class = 1, .until = now_ + 10ms});
  EXPECT_EQ(queue_.waiting(), 3u);
  now_ += 10ms;
  queue_.DropLate(now_, &dropped_);
  EXPECT_THAT(Dropped(), ElementsAre("1 late", "11 late"));
  EXPECT_EQ(queue_.waiting(), 1u);
}

TEST_F(TurnQueueTest, OneThatMayWaitForLongerKeepsNobodyBehindItWaiting) {
  const auto client = std::make_shared<std::atomic<bool>>(false);
  Push(1);
  Push(2, {.until = now_ + 10ms});
  Push(3, {.until = now_ + 20ms});
  Push(4, {.alive = client});
  now_ += 10ms;
  queue_.DropLate(now_, &dropped_);
  EXPECT_THAT(Dropped(), ElementsAre("2 late", "4 dead"));
  EXPECT_THAT(Take(9), ElementsAre(1, 3));
}

TEST_F(TurnQueueTest, WhatNobodyWaitsForIsNotServedAndKeepsNoPlace) {
  const auto client = std::make_shared<std::atomic<bool>>(true);
  Push(1, {.alive = client});
  Push(2);
  Push(3, {.alive = client});
  Push(4);
  *client = false;
  Push(5);
  EXPECT_THAT(Dropped(), ElementsAre("1 dead"));
  EXPECT_THAT(Take(9), ElementsAre(2, 4, 5));
  EXPECT_THAT(Dropped(), ElementsAre("3 dead"));
}

TEST_F(TurnQueueTest, WhenAllThatWaitsIsDeadThereIsNothingToTake) {
  const auto client = std::make_shared<std::atomic<bool>>(false);
  Push(1, {.alive = client});
  EXPECT_TRUE(queue_.ready());
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(Dropped(), ElementsAre("1 dead"));
  EXPECT_FALSE(queue_.ready());
}

TEST_F(TurnQueueTest, AClassTakesNoWorkerThatIsReservedForAnother) {
  queue_ = Of({{.reserved = 1, .queue = kBig}, {.reserved = 2, .queue = kBig}});
  for (int job = 0; job < 9; ++job) Push(job, {.work_class = 0});
  EXPECT_THAT(Take(), ElementsAre(0));
  EXPECT_THAT(Take(), ElementsAre(1)) << "its own worker, and the common one";
  EXPECT_FALSE(queue_.ready());
  EXPECT_THAT(Take(), IsEmpty());
  Push(100, {.work_class = 1});
  Push(101, {.work_class = 1});
  EXPECT_THAT(Take(), ElementsAre(100));
  EXPECT_THAT(Take(), ElementsAre(101));
  queue_.Served(1);
  EXPECT_FALSE(queue_.ready()) << "what comes back is the other class's";
  queue_.Served(0);
  EXPECT_THAT(Take(), ElementsAre(2));
}

TEST_F(TurnQueueTest, AQueueThatIsFullLeavesOtherClassesTheirs) {
  queue_ = Of({{.queue = 1}, {.queue = 1}});
  Push(1);
  Push(2);
  Push(3, {.work_class = 1});
  EXPECT_THAT(Dropped(), ElementsAre("2 full"));
}

TEST_F(TurnQueueTest, ClassesTakeTurnsAndABatchIsOfOne) {
  queue_ = Of({{.queue = kBig}, {.queue = kBig}});
  for (const int job : {1, 2, 3, 4}) Push(job, {.work_class = 0});
  for (const int job : {11, 12, 13}) Push(job, {.work_class = 1});
  EXPECT_THAT(Take(2), ElementsAre(1, 2));
  EXPECT_THAT(Take(2), ElementsAre(11, 12));
  EXPECT_THAT(Take(2), ElementsAre(3, 4));
  EXPECT_THAT(Take(2), ElementsAre(13));
}

TEST_F(TurnQueueTest, WhoIsRefusedIsToldHowLongTheQueueTakes) {
  for (const int job : {1, 2, 3, 4, 5}) Push(job);
  EXPECT_EQ(dropped_.back().wait, Duration::zero()) << "none was served yet";
  for (int job = 6; job < 10; ++job) {
    (void)Take();
    queue_.Served(0);
    now_ += 50ms;
    Push(job);
  }
  Push(10);
  EXPECT_EQ(dropped_.back().wait, 4 * 50ms);
}

TEST_F(TurnQueueTest, TimeWithoutWorkIsNotTakenForSlowness) {
  Push(1);
  (void)Take();
  now_ += 1h;
  for (const int job : {2, 3, 4, 5}) Push(job);
  (void)Take();
  now_ += 10ms;
  (void)Take();
  for (const int job : {6, 7, 8}) Push(job);
  EXPECT_EQ(dropped_.back().wait, 4 * 10ms);
}

TEST_F(TurnQueueTest, AllThatWaitsCanBeTakenOut) {
  queue_ = Of({{.queue = kBig}, {.queue = kBig}});
  Push(1);
  Push(2, {.work_class = 1});
  EXPECT_THAT(queue_.Clear(), ElementsAre(1, 2));
  EXPECT_FALSE(queue_.ready());
}

}  // namespace
}  // namespace fanline::mysql
