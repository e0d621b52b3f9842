// Divides a bound of jobs equally among the shards. Jobs beyond a shard's share are held up like
// parked ones: they wait for that shard and keep no job of another shard out.
//
// The owner counts its jobs here. It takes more until no shard has room in its share, and resumes
// once some shard has half of its share free. So a healthy shard keeps going while others hang.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fanline/model/bucket.h"

namespace fanline {

class ShardShares {
 public:
  struct Held {  // of one shard
    size_t jobs = 0;
    size_t parked = 0;  // of these
  };

  // `jobs`: the bound for all shards together.
  ShardShares(size_t shards, size_t jobs) : share_((jobs + shards - 1) / shards), shards_(shards) {}

  // The owner's jobs, for it to count up and down.
  Held& of(Shard shard) { return shards_[static_cast<size_t>(shard)]; }

  // Sums over all shards.
  [[nodiscard]] size_t jobs() const {
    return Sum([](const Held& held) { return held.jobs; });
  }
  [[nodiscard]] size_t parked() const {
    return Sum([](const Held& held) { return held.parked; });
  }
  // Parked, or beyond their shard's share.
  [[nodiscard]] size_t held_up() const {
    return Sum([this](const Held& held) { return held.jobs - Working(held); });
  }

  // Whether no shard has room in its share, and whether some shard has half of it free.
  [[nodiscard]] bool full() const { return Room() == 0; }
  [[nodiscard]] bool roomy() const { return Room() >= (share_ + 1) / 2; }

 private:
  size_t Working(const Held& held) const { return std::min(held.jobs - held.parked, share_); }
  size_t Room() const {
    size_t room = 0;
    for (const Held& held : shards_) room = std::max(room, share_ - Working(held));
    return room;
  }
  template <typename Count>
  size_t Sum(Count count) const {
    size_t sum = 0;
    for (const Held& held : shards_) sum += count(held);
    return sum;
  }

  const size_t share_;
  std::vector<Held> shards_;
};

}  // namespace fanline
