#include "api/store_pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "tests/fakes/fake_relation_store.h"

namespace fanline::api {
namespace {

using namespace std::chrono_literals;
using Refusal = StorePool::Refusal;

std::vector<std::unique_ptr<RelationStore>> Stores(size_t count) {
  std::vector<std::unique_ptr<RelationStore>> stores;
  while (stores.size() < count) stores.push_back(std::make_unique<fakes::FakeRelationStore>());
  return stores;
}

TEST(StorePool, LendsEachStoreToOneAtATime) {
  StorePool pool(Stores(2), 1);
  auto first = pool.Borrow(0, 0us);
  auto second = pool.Borrow(0, 0us);
  EXPECT_NE(&first.store(), &second.store());
  EXPECT_EQ(pool.Borrow(0, 0us).refusal(), Refusal::kOverloaded);
}

TEST(StorePool, AStoreThatCameBackIsLentAgain) {
  StorePool pool(Stores(1), 1);
  { const auto lease = pool.Borrow(0, 0us); }
  EXPECT_EQ(pool.Borrow(0, 0us).refusal(), Refusal::kNone);
}

TEST(StorePool, AShardThatHangsLeavesAQuarterToTheOthers) {
  StorePool pool(Stores(8), 2);
  std::vector<StorePool::Lease> hanging;
  for (int i = 0; i < 6; ++i) hanging.push_back(pool.Borrow(0, 0us));
  EXPECT_EQ(hanging.back().refusal(), Refusal::kNone);
  EXPECT_EQ(pool.Borrow(0, 0us).refusal(), Refusal::kOverloaded);
  auto other = pool.Borrow(1, 0us);
  auto another = pool.Borrow(1, 0us);
  EXPECT_EQ(other.refusal(), Refusal::kNone);
  EXPECT_EQ(another.refusal(), Refusal::kNone);
  EXPECT_EQ(pool.Borrow(1, 0us).refusal(), Refusal::kOverloaded);
}

TEST(StorePool, AShardThatIsAwayIsNotWaitedFor) {
  StorePool pool(Stores(1), 2);
  pool.SetReachable(1, false);
  EXPECT_EQ(pool.Borrow(1, 1h).refusal(), Refusal::kShardAway);
  EXPECT_EQ(pool.Borrow(0, 0us).refusal(), Refusal::kNone);
  pool.SetReachable(1, true);
  EXPECT_EQ(pool.Borrow(1, 0us).refusal(), Refusal::kNone);
}

TEST(StorePool, WhoWaitsGetsTheStoreThatComesBack) {
  StorePool pool(Stores(1), 1);
  std::optional<StorePool::Lease> held(pool.Borrow(0, 0us));
  Refusal refusal = Refusal::kOverloaded;
  std::thread waiter([&] { refusal = pool.Borrow(0, 1h).refusal(); });
  held.reset();
  waiter.join();
  EXPECT_EQ(refusal, Refusal::kNone);
}

TEST(StorePool, WhoWaitsIsToldWhenTheShardGoesAway) {
  StorePool pool(Stores(1), 1);
  const auto held = pool.Borrow(0, 0us);
  Refusal refusal = Refusal::kNone;
  std::thread waiter([&] { refusal = pool.Borrow(0, 1h).refusal(); });
  pool.SetReachable(0, false);
  waiter.join();
  EXPECT_EQ(refusal, Refusal::kShardAway);
}

}  // namespace
}  // namespace fanline::api
