#include "api/store_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <optional>

namespace fanline::api {
namespace {

using namespace std::chrono_literals;

struct Store {};
using StorePool = PoolOf<Store>;
using Refusal = StorePool::Refusal;

std::vector<std::unique_ptr<Store>> Stores(size_t count) {
  std::vector<std::unique_ptr<Store>> stores;
  while (stores.size() < count) stores.push_back(std::make_unique<Store>());
  return stores;
}

// Work that keeps its store until it is released, and its outcome.
class Job {
 public:
  explicit Job(bool holds = false) {
    if (!holds) Release();
  }
  ~Job() { Release(); }

  StorePool::Work work() {
    return [this](Store* store, Refusal refusal) {
      used = store;
      said_.set_value(refusal);
      if (store != nullptr) released_.get_future().wait();
    };
  }
  void Release() {
    if (!std::exchange(is_released_, true)) released_.set_value();
  }
  // Waits until it has begun or was refused.
  Refusal Said() {
    if (!known_) known_ = said_.get_future().get();
    return *known_;
  }

  Store* used = nullptr;

 private:
  std::promise<Refusal> said_;
  std::promise<void> released_;
  bool is_released_ = false;
  std::optional<Refusal> known_;
};

class StorePoolTest : public ::testing::Test {
 protected:
  static constexpr StorePool::Limits kPatient{.queued = 8, .longest_wait = 1h};

  StorePool& Start(size_t stores, uint32_t shards, StorePool::Limits limits = kPatient) {
    return pool_.emplace(Stores(stores), shards, limits);
  }
  Job& Submit(std::vector<Shard> shards, bool holds = false) {
    Job& job = jobs_.emplace_back(holds);
    pool_->Submit({shards.front(), shards}, job.work());
    return job;
  }
  Job& Hold(std::vector<Shard> shards) {
    Job& job = Submit(std::move(shards), true);
    EXPECT_EQ(job.Said(), Refusal::kNone);
    return job;
  }
  void TearDown() override {
    for (Job& job : jobs_) job.Release();
    pool_.reset();
  }

  std::list<Job> jobs_;
  std::optional<StorePool> pool_;
};

TEST_F(StorePoolTest, EachStoreIsUsedByOneAtATime) {
  Start(2, 1);
  EXPECT_NE(Hold({0}).used, Hold({0}).used);
}

TEST_F(StorePoolTest, WhoFindsNoneFreeGetsTheStoreThatComesBack) {
  Start(1, 1);
  Job& first = Hold({0});
  Job& second = Submit({0});
  first.Release();
  EXPECT_EQ(second.Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, WhoWaitsTooLongIsRefusedWhileAllStoresHang) {
  Start(1, 1, {.queued = 8, .longest_wait = 1ms});
  while (Submit({0}, true).Said() != Refusal::kNone) {  // a busy machine may take longer to begin
  }
  EXPECT_EQ(Submit({0}).Said(), Refusal::kOverloaded);
}

TEST_F(StorePoolTest, WorkIsDoneWithinTheCallWhenAStoreIsFreeAndItIsAskedFor) {
  Start(2, 2);
  std::thread::id done_by;
  const auto note = [&](Store*, Refusal) { done_by = std::this_thread::get_id(); };
  pool_->Submit({0, {0}}, note, true);
  EXPECT_EQ(done_by, std::this_thread::get_id());
  Job& holding = Hold({0});
  std::promise<void> done;
  pool_->Submit(
      {0, {0}}, [&](Store*, Refusal) { done.set_value(); }, true);  // waits
  holding.Release();
  done.get_future().wait();
}

TEST_F(StorePoolTest, TheQueueIsBounded) {
  Start(1, 1, {.queued = 2, .longest_wait = 1h});
  Job& holding = Hold({0});
  Job& second = Submit({0});
  Job& third = Submit({0});
  EXPECT_EQ(Submit({0}).Said(), Refusal::kOverloaded);
  EXPECT_EQ(pool_->waiting(), 2u);
  holding.Release();
  EXPECT_EQ(second.Said(), Refusal::kNone);
  EXPECT_EQ(third.Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, AShardThatHangsLeavesAQuarterToTheOthers) {
  Start(8, 2);
  for (int i = 0; i < 6; ++i) Hold({0});
  Submit({0});  // waits
  Hold({1});
  EXPECT_EQ(Submit({1}).Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, WhatOnlyTouchesTheShardThatHangsCountsForItToo) {
  Start(8, 2);
  for (int i = 0; i < 4; ++i) Hold({1, 0});  // their first rows are on a healthy one
  for (int i = 0; i < 2; ++i) Hold({0});
  Submit({1, 0});  // wait
  Submit({0});
  Hold({1});
  EXPECT_EQ(Submit({1}).Said(), Refusal::kNone);
  EXPECT_EQ(Submit({1}).Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, NoMoreThanHalfIsLentToWhatTouchesMoreThanOneShard) {
  Start(8, 2);
  for (int i = 0; i < 4; ++i) Hold({1, 0});
  const auto begun = std::make_shared<std::atomic<bool>>(false);
  pool_->Submit(
      {1, {1, 0}}, [begun](Store*, Refusal) { *begun = true; }, true);
  EXPECT_FALSE(*begun);
}

TEST_F(StorePoolTest, WhatWaitsForAShardThatHangsLeavesAQuarterOfTheQueue) {
  Start(4, 2, {.queued = 4, .longest_wait = 1h});
  for (int i = 0; i < 3; ++i) Hold({0});
  Job& other = Hold({1});
  for (int i = 0; i < 3; ++i) Submit({0});
  EXPECT_EQ(Submit({1, 0}).Said(), Refusal::kOverloaded);
  Job& waits = Submit({1});
  other.Release();
  EXPECT_EQ(waits.Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, WhatWasHeldUpByTwoShardsRunsWhenBothAreFree) {
  Start(5, 2);
  Hold({0, 1});
  Job& both = Hold({0, 1});
  Hold({0});
  Hold({1});
  Job& one = Submit({0}, true);
  Job& two = Submit({1}, true);
  both.Release();
  EXPECT_EQ(one.Said(), Refusal::kNone);
  EXPECT_EQ(two.Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, AShardThatIsAwayIsNotWaitedFor) {
  Start(1, 2);
  pool_->SetReachable(1, false);
  EXPECT_EQ(Submit({1}).Said(), Refusal::kShardAway);
  EXPECT_EQ(Submit({0}).Said(), Refusal::kNone);
  pool_->SetReachable(1, true);
  EXPECT_EQ(Submit({1}).Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, WhoWaitsIsToldWhenTheShardGoesAway) {
  Start(1, 2);
  Job& holding = Hold({0});
  Job& gone = Submit({1});
  Job& stays = Submit({0});
  pool_->SetReachable(1, false);
  EXPECT_EQ(gone.Said(), Refusal::kShardAway);
  holding.Release();
  EXPECT_EQ(stays.Said(), Refusal::kNone);
}

TEST_F(StorePoolTest, ItsEndRefusesWhatWaits) {
  Start(1, 1);
  Job& holding = Hold({0});
  Job& waits = Submit({0});
  std::thread ending([&] { pool_.reset(); });
  EXPECT_EQ(waits.Said(), Refusal::kOverloaded);
  holding.Release();
  ending.join();
}

}  // namespace
}  // namespace fanline::api
