// The bookkeeping of a pool (store_pool.h): which work may run on which of its slots, and when.
// Work that finds no slot free waits in a bounded queue, for a bounded time; the caller's thread
// does not wait.
//
// Work names the shards it may touch and counts for each of them. Work that touches one shard gets
// at most three quarters of the slots, and of the queue. So a shard that hangs takes no more, and
// other work passes the work that waits for it. Work that touches several shards begins only while
// each of them has half of the slots left. So if one of them hangs, the others keep their share.
// Work whose first shard is known to be away is refused at once.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::api {

// What a request asks of the shards.
struct Touched {
  Shard first = 0;              // where its first rows are: the work is in vain without it
  std::vector<Shard> all = {};  // each once, with the first

  // The shards of these users; `first` is the first user's.
  static Touched Of(const std::vector<UserId>& owners, const ShardMap& map);
  // Every shard, the user's first.
  static Touched Everywhere(UserId user, const ShardMap& map);
};

class Slots {
 public:
  struct Limits {
    size_t queued = 1'024;
    Duration longest_wait = std::chrono::milliseconds(500);  // in the queue
  };

  enum class Refusal { kNone, kShardAway, kOverloaded };

  // Called once, and throws nothing. It gets a slot for the time of the call, on a thread of the
  // pool or within Submit. Otherwise it gets the reason why there is none, on any thread, also
  // within Submit.
  using Work = std::function<void(size_t slot, Refusal)>;

  // `count` is not 0.
  Slots(size_t count, uint32_t shards, Limits limits);
  // Waits for the work under way; refuses the work that waits.
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  // With `here`, work that finds a slot free is done within the call. Without it, the call never
  // blocks.
  void Submit(Touched touched, Work work, bool here = false);

  // False: the work would have to wait, and nothing was done. Work whose first shard is away is
  // refused within the call; other work is never done within it.
  [[nodiscard]] bool TrySubmit(const Touched& touched, const Work& work);

  // When the shard goes away, the work that waits with it as its first shard is refused at once.
  void SetReachable(Shard shard, bool reachable);

  size_t waiting() const;

 private:
  struct Waiting {
    Touched touched;
    Work work;
    Clock::time_point until;
  };
  using Queue = std::list<Waiting>;

  void Enqueue(Touched touched, Work work);
  void RunWhatWaits();
  // Runs `work` with a free slot, without the lock.
  void Run(const Touched& touched, const Work& work, std::unique_lock<std::mutex>& lock);
  void RefuseTheLate();
  bool HasRoom(const Touched& touched) const;
  Queue::iterator FirstThatMayRun();
  Waiting Take(Queue::iterator waiting);
  static void RefuseAll(Queue& refused, Refusal why);

  const Limits limits_;
  struct Share {    // of one shard
    size_t alone;   // for work that touches it alone
    size_t across;  // for work that touches others too
    size_t For(const Touched& touched) const { return touched.all.size() > 1 ? across : alone; }
  };
  static Share ShareOf(size_t all, uint32_t shards);

  const Share most_lent_;
  const Share most_queued_;

  mutable std::mutex mutex_;
  std::condition_variable work_, late_;
  // Below: under mutex_.
  Queue queue_;  // in the order of arrival: the front is the first to be late
  std::vector<size_t> free_;
  size_t idle_ = 0;             // threads
  std::vector<size_t> lent_;    // per shard
  std::vector<size_t> queued_;  // per shard
  std::vector<bool> reachable_;
  bool stopping_ = false;

  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace fanline::api
