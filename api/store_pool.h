// Stores that requests share, each used by one at a time. Their number bounds how much is asked of
// a service at once; slots.h says who waits, and who is refused. Thread-safe.
//
// Pulled pages, live timelines and bodies have a pool each. So a Redis that hangs does not stop
// requests to the shards. An application's database that hangs does not stop pages without bodies.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/operations/problem.h"
#include "api/slots.h"
#include "fanline/ports/post_bodies.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::api {

template <typename Store>
class PoolOf {
 public:
  using Limits = Slots::Limits;
  using Refusal = Slots::Refusal;
  // Called once, and throws nothing, with a store or with the reason why there is none. On whose
  // thread: see Slots::Work.
  using Work = std::function<void(Store* store, Refusal)>;

  // `stores` is not empty.
  PoolOf(std::vector<std::unique_ptr<Store>> stores, uint32_t shards, Limits limits)
      : stores_(std::move(stores)), slots_(stores_.size(), shards, limits) {}

  // As those of Slots.
  void Submit(Touched touched, Work work, bool here = false) {
    slots_.Submit(std::move(touched), WithStore(std::move(work)), here);
  }
  [[nodiscard]] bool TrySubmit(const Touched& touched, Work work) {
    return slots_.TrySubmit(touched, WithStore(std::move(work)));
  }
  void SetReachable(Shard shard, bool reachable) { slots_.SetReachable(shard, reachable); }
  size_t waiting() const { return slots_.waiting(); }

 private:
  Slots::Work WithStore(Work work) {
    return [this, work = std::move(work)](size_t slot, Refusal refusal) {
      work(refusal == Refusal::kNone ? stores_[slot].get() : nullptr, refusal);
    };
  }

  const std::vector<std::unique_ptr<Store>> stores_;
  Slots slots_;  // last: its threads use the stores
};

// The problem that a refused client gets.
inline Problem ProblemOf(Slots::Refusal refusal) {
  return refusal == Slots::Refusal::kShardAway ? StoreAway() : Overloaded();
}

using TruthPool = PoolOf<ReaderTruth>;
using TimelinePool = PoolOf<ReaderTimelines>;
using BodiesPool = PoolOf<PostBodies>;

}  // namespace fanline::api
