#include "api/store_pool.h"

#include <algorithm>

#include "fanline/check.h"

namespace fanline::api {

StorePool::StorePool(std::vector<std::unique_ptr<RelationStore>> stores, uint32_t shards)
    : most_per_shard_(shards == 1 ? stores.size() : std::max<size_t>(1, stores.size() * 3 / 4)),
      free_(std::move(stores)),
      lent_(shards, 0),
      reachable_(shards, true) {
  FANLINE_CHECK(!free_.empty(), "a pool has stores");
}

StorePool::Lease StorePool::Borrow(Shard shard, Duration longest_wait) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] {
    return !reachable_[shard] || (!free_.empty() && lent_[shard] < most_per_shard_);
  };
  if (!changed_.wait_for(lock, longest_wait, ready)) return Lease(Refusal::kOverloaded);
  if (!reachable_[shard]) return Lease(Refusal::kShardAway);
  auto store = std::move(free_.back());
  free_.pop_back();
  ++lent_[shard];
  return Lease(*this, shard, std::move(store));
}

void StorePool::SetReachable(Shard shard, bool reachable) {
  const std::lock_guard lock(mutex_);
  reachable_[shard] = reachable;
  changed_.notify_all();
}

void StorePool::GiveBack(Shard shard, std::unique_ptr<RelationStore> store) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(store));
  --lent_[shard];
  // All: the first to wake may be one whose shard has had its share.
  changed_.notify_all();
}

}  // namespace fanline::api
