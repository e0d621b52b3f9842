// Jobs, by id, that wait for one shard, and the transactions in which they go to it.
//
// A shard that is away gets none for a back-off; its jobs wait again in front of the others. A
// transaction that can never be committed is halved, so that the job that is the cause ends up
// alone and the others are committed.
//
// Passive, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline {

class ShardQueue {
 public:
  using Jobs = std::vector<uint64_t>;

  struct Limits {
    size_t jobs = 1;          // in a transaction
    size_t transactions = 1;  // under way
    Backoff backoff;
  };

  explicit ShardQueue(const Limits& limits) : limits_(limits) {}

  void Push(uint64_t job) { waiting_.push_back(job); }
  // The jobs of the next transaction, which is under way until Done, Away or Split; none: nothing
  // waits, or not now.
  [[nodiscard]] std::optional<Jobs> Take(Time now);

  // One ended, and the shard answers.
  void Done();
  // It did not: its jobs wait again. Those that fail within one back-off count once. `random`: any
  // 64 bits.
  void Away(const Jobs& jobs, Time now, uint64_t random);
  // It can never be committed. False: it was of one job, which is the cause.
  [[nodiscard]] bool Split(const Jobs& jobs);

  // Drops the waiting jobs of which `gone(id)` is true; what was split is waited for.
  template <typename Gone>
  void Forget(Gone gone) {
    std::erase_if(waiting_, gone);
  }
  // All that is not under way, out of the queue.
  [[nodiscard]] Jobs TakeWaiting();

  // It has been away so long, and is not due for another try.
  [[nodiscard]] bool AwayFor(Duration time, Time now) const;
  // When Take may have one, should the back-off be what it waits for.
  [[nodiscard]] std::optional<Time> timer() const { return retry_at_; }

 private:
  Limits limits_;
  std::deque<uint64_t> waiting_;
  std::deque<Jobs> halves_;
  size_t under_way_ = 0;
  uint32_t attempts_ = 0;  // in vain, in a row
  std::optional<Time> retry_at_;
  std::optional<Time> away_since_;
};

}  // namespace fanline
