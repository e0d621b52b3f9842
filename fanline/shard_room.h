// What an intake of events holds for shards that are away, and how much more of it there is room
// for. Such works do not count as under way, so that those of other shards go on; a shard whose
// works take more memory than its share stops the intake, for nothing may be lost.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fanline/bucket.h"
#include "fanline/record.h"

namespace fanline {

class ShardRoom {
 public:
  // `bytes`: of one shard's works. A shard that is back counts as away until it has at most
  // `drained` works left: its backlog is not to stop the others either.
  ShardRoom(size_t shards, size_t bytes, size_t drained)
      : bytes_(bytes), drained_(drained), shards_(shards) {}

  // A work for a shard comes with its record, and goes.
  void Took(Shard shard, const Record& record) {
    ++At(shard).works;
    At(shard).bytes += BytesOf(record);
  }
  void Finished(Shard shard, const Record& record) {
    --At(shard).works;
    At(shard).bytes -= BytesOf(record);
    Look(shard);
  }
  // What its last answer said.
  void Answered(Shard shard, bool away) {
    At(shard).away = away;
    At(shard).parked |= away;
    Look(shard);
  }

  // Works of shards that are away, or not yet drained.
  [[nodiscard]] size_t parked() const {
    size_t sum = 0;
    for (const One& one : shards_) sum += one.parked ? one.works : 0;
    return sum;
  }
  [[nodiscard]] bool full() const { return Most() >= bytes_; }
  [[nodiscard]] bool roomy() const { return Most() <= bytes_ / 2; }

 private:
  static constexpr size_t kOverhead = 512;  // of a work beside its record

  struct One {
    size_t works = 0, bytes = 0;
    bool away = false, parked = false;
  };

  // Producers give what headers they like.
  static size_t BytesOf(const Record& record) {
    size_t bytes = kOverhead + record.key.size() + record.value.size();
    for (const auto& [name, value] : record.headers) bytes += name.size() + value.size();
    return bytes;
  }

  One& At(Shard shard) { return shards_[static_cast<size_t>(shard)]; }
  void Look(Shard shard) {
    One& one = At(shard);
    if (one.parked && !one.away && one.works <= drained_) one.parked = false;
  }
  size_t Most() const {
    size_t most = 0;
    for (const One& one : shards_) most = std::max(most, one.parked ? one.bytes : 0);
    return most;
  }

  const size_t bytes_, drained_;
  std::vector<One> shards_;
};

}  // namespace fanline
