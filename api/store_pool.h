// The stores that requests share: their number bounds how much is asked of the shards at once. What
// finds no store free waits in a bounded queue, for a bounded time; no thread of the caller's waits
// with it.
//
// Work says which shards it may touch, and counts for each of them: at most three quarters of the
// stores, and of the queue, are for work that touches one shard. One that hangs can take no more,
// and work that does not touch it passes by what waits for it. Work that touches several begins
// only while each of them has half of the stores left: when it hangs at one, the share of the
// others is not used up. Work of a shard known to be away does not wait at all.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/relation_store.h"

namespace fanline::api {

// What a request asks of the shards.
struct Touched {
  Shard first = 0;              // where its first rows are: without it nothing comes of it
  std::vector<Shard> all = {};  // each once, with the first

  // The shards of these users, of the first one first.
  static Touched Of(const std::vector<UserId>& owners, const ShardMap& map);
};

class StorePool {
 public:
  struct Limits {
    size_t queued = 1'024;
    Duration longest_wait = std::chrono::milliseconds(500);  // in the queue
  };

  enum class Refusal { kNone, kShardAway, kOverloaded };

  // Called once: with a store, on a thread of the pool or within Submit; or with the reason why
  // there is none, from any thread, also from within Submit. Throws nothing. `store` is for the
  // time of the call.
  using Work = std::function<void(RelationStore* store, Refusal)>;

  // `stores` is not empty.
  StorePool(std::vector<std::unique_ptr<RelationStore>> stores, uint32_t shards, Limits limits);
  // Waits for the work under way; refuses what waits.
  ~StorePool();
  StorePool(const StorePool&) = delete;
  StorePool& operator=(const StorePool&) = delete;

  // With `here`, work that finds a store free is done within the call; else the call never blocks.
  void Submit(Touched touched, Work work, bool here = false);

  // What waits for a shard that goes away is refused at once.
  void SetReachable(Shard shard, bool reachable);

 private:
  struct Waiting {
    Touched touched;
    Work work;
    Clock::time_point until;
  };
  using Queue = std::list<Waiting>;

  void RunWhatWaits();
  // Does it with a free store, without the lock.
  void Run(const Touched& touched, const Work& work, std::unique_lock<std::mutex>& lock);
  void RefuseTheLate();
  bool HasRoom(const Touched& touched) const;
  Queue::iterator FirstThatMayRun();
  Waiting Take(Queue::iterator waiting);
  static void RefuseAll(Queue& refused, Refusal why);

  const Limits limits_;
  struct Share {    // of one shard
    size_t alone;   // while work begins that touches it alone
    size_t across;  // while work begins that touches others too
    size_t For(const Touched& touched) const { return touched.all.size() > 1 ? across : alone; }
  };
  static Share ShareOf(size_t all, uint32_t shards);

  const Share most_lent_;
  const Share most_queued_;
  std::vector<std::unique_ptr<RelationStore>> stores_;

  std::mutex mutex_;
  std::condition_variable work_, late_;
  // Below: under mutex_.
  Queue queue_;  // in the order they came, so the first is the first to be late
  std::vector<RelationStore*> free_;
  size_t idle_ = 0;             // threads
  std::vector<size_t> lent_;    // per shard
  std::vector<size_t> queued_;  // per shard
  std::vector<bool> reachable_;
  bool stopping_ = false;

  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace fanline::api
