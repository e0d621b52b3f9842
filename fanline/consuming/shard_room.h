// Counts the jobs that a consumer of events holds for shards that are away, or too slow for what
// comes, and their memory. Such jobs do not count as under way, so that jobs of other shards go on.
// A shard whose jobs fill its share of memory stops the consumer, for nothing may be lost.
//
// Every shard has an equal share of the jobs that may be under way. Jobs beyond it are parked: a
// shard that hangs answers nothing for seconds, and would take all room before it counts as away.
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
  // `jobs`: under way, of all shards. `bytes`: of the jobs of one shard.
  ShardRoom(size_t shards, size_t jobs, size_t bytes)
      : share_((jobs + shards - 1) / shards), bytes_(bytes), shards_(shards) {}

  // A job for `shard` came with `record`; one is finished.
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
  // Whether the shard is away, by its last answer. When it is back its parked jobs stay parked, so
  // that they do not stop the others, until as many jobs have finished. Jobs that come from now on
  // are under way like all.
  void Answered(Shard shard, bool away) {
    At(shard).away = away;
    if (away) At(shard).parked = At(shard).all;
  }

  // Jobs of shards that are away, those left from when a shard was, and those beyond a share.
  [[nodiscard]] size_t parked() const {
    size_t sum = 0;
    for (const One& one : shards_) sum += std::max(one.parked.jobs, Beyond(one));
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
    // Jobs finish in any order, so the one that finishes may be larger than those counted here.
    void Take(size_t less) {
      jobs -= std::min<size_t>(jobs, 1);
      bytes = jobs == 0 ? 0 : bytes - std::min(bytes, less);
    }
  };
  struct One {
    Sum all, parked;
    bool away = false;
  };

  // Headers count: producers send as many as they like.
  static size_t BytesOf(const Record& record) {
    size_t bytes = kOverhead + record.key.size() + record.value.size();
    for (const auto& [name, value] : record.headers) bytes += name.size() + value.size();
    return bytes;
  }

  size_t Beyond(const One& one) const { return one.all.jobs - std::min(one.all.jobs, share_); }
  One& At(Shard shard) { return shards_[static_cast<size_t>(shard)]; }
  size_t Most() const {
    size_t most = 0;
    for (const One& one : shards_) {
      most = std::max(most, Beyond(one) > 0 ? one.all.bytes : one.parked.bytes);
    }
    return most;
  }

  const size_t share_;  // of a shard, of the jobs under way
  const size_t bytes_;
  std::vector<One> shards_;
};

}  // namespace fanline
