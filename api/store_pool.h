// The stores that requests share: each is used by one thread at a time, so their number bounds how
// much is asked of the shards at once. A request says on which shard its first rows are, and at
// most three quarters of the stores are lent for one shard: one that hangs cannot take them all,
// and the others' users go on. A shard known to be away is not waited for at all.
//
// Thread-safe. Stores are lent in the order they came back, newest first: their connections are
// warm.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "fanline/bucket.h"
#include "fanline/relation_store.h"
#include "fanline/time.h"

namespace fanline::api {

class StorePool {
 public:
  // `stores` is not empty.
  StorePool(std::vector<std::unique_ptr<RelationStore>> stores, uint32_t shards);

  enum class Refusal { kNone, kShardAway, kOverloaded };

  // Gives the store back with its end.
  class Lease {
   public:
    explicit Lease(Refusal refusal) : refusal_(refusal) {}
    Lease(StorePool& pool, Shard shard, std::unique_ptr<RelationStore> store)
        : pool_(&pool), shard_(shard), store_(std::move(store)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (store_) pool_->GiveBack(shard_, std::move(store_));
    }

    Refusal refusal() const { return refusal_; }  // kNone: there is a store
    RelationStore& store() { return *store_; }

   private:
    Refusal refusal_ = Refusal::kNone;
    StorePool* pool_ = nullptr;
    Shard shard_ = 0;
    std::unique_ptr<RelationStore> store_;
  };

  // Waits for a store at most so long.
  [[nodiscard]] Lease Borrow(Shard shard, Duration longest_wait);

  // Who waits for a store of a shard that goes away is told at once.
  void SetReachable(Shard shard, bool reachable);

 private:
  void GiveBack(Shard shard, std::unique_ptr<RelationStore> store);

  const size_t most_per_shard_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Below: under mutex_.
  std::vector<std::unique_ptr<RelationStore>> free_;
  std::vector<size_t> lent_;     // per shard
  std::vector<bool> reachable_;  // per shard
};

}  // namespace fanline::api
