// What a consumer of events holds for shards that are away, and how much more of it there is room
// for. Such jobs do not count as under way, so that those of other shards go on; a shard whose
// jobs take more memory than its share stops the consumer, for nothing may be lost.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/model/record.h"

namespace fanline {

class ShardRoom {
 public:
  // `bytes`: of one shard's jobs.
  ShardRoom(size_t shards, size_t bytes) : bytes_(bytes), shards_(shards) {}

  // A job for a shard comes with its record, and goes.
  void Took(Shard shard, const Record& record) {
    One& one = At(shard);
    one.all.Add(BytesOf(record));
    if (one.away) one.parked = one.all;
  }
  void Finished(Shard shard, const Record& record) {
    One& one = At(shard);
    one.all.Take(BytesOf(record));
    one.parked.Take(BytesOf(record));
  }
  // What its last answer said. Of a shard that is back, what has waited for it goes on not to
  // count: it must not stop the others either. As many jobs as there were must finish; those that
  // come from now on are under way like all.
  void Answered(Shard shard, bool away) {
    At(shard).away = away;
    if (away) At(shard).parked = At(shard).all;
  }

  // Jobs of shards that are away, and those that are left of when they were.
  [[nodiscard]] size_t parked() const {
    size_t sum = 0;
    for (const One& one : shards_) sum += one.parked.jobs;
    return sum;
  }
  [[nodiscard]] bool full() const { return Most() >= bytes_; }
  [[nodiscard]] bool roomy() const { return Most() <= bytes_ / 2; }

 private:
  static constexpr size_t kOverhead = 512;  // of a job beside its record

  struct Sum {
    size_t jobs = 0, bytes = 0;
    void Add(size_t more) {
      ++jobs;
      bytes += more;
    }
    // Jobs finish in any order: one that is taken may be larger than those that were added.
    void Take(size_t less) {
      jobs -= std::min<size_t>(jobs, 1);
      bytes = jobs == 0 ? 0 : bytes - std::min(bytes, less);
    }
  };
  struct One {
    Sum all, parked;
    bool away = false;
  };

  // Producers give what headers they like.
  static size_t BytesOf(const Record& record) {
    size_t bytes = kOverhead + record.key.size() + record.value.size();
    for (const auto& [name, value] : record.headers) bytes += name.size() + value.size();
    return bytes;
  }

  One& At(Shard shard) { return shards_[static_cast<size_t>(shard)]; }
  size_t Most() const {
    size_t most = 0;
    for (const One& one : shards_) most = std::max(most, one.parked.bytes);
    return most;
  }

  const size_t bytes_;
  std::vector<One> shards_;
};

}  // namespace fanline
