// Jobs, by id, that wait for one shard, and the transactions that carry them there.
//
// A shard that is away gets no transaction during a back-off. The jobs of a failed transaction wait
// again, ahead of the others. A transaction that can never be committed is halved, until the job
// that is the cause is alone and the others are committed.
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
  // The jobs of the next transaction, which is under way until Done, Away or Split. None: no job
  // waits, the shard is backing off, or enough transactions are under way.
  [[nodiscard]] std::optional<Jobs> Take(Time now);

  // A transaction ended, and the shard answers.
  void Done();
  // The shard did not answer: `jobs` wait again. Transactions that fail within one back-off count
  // as one attempt. `random`: any 64 bits.
  void Away(const Jobs& jobs, Time now, uint64_t random);
  // The transaction can never be committed. False: it had one job, which is the cause.
  [[nodiscard]] bool Split(const Jobs& jobs);

  // Drops the waiting jobs for which `gone(id)` is true. Halves of a transaction stay.
  template <typename Gone>
  void Forget(Gone gone) {
    std::erase_if(waiting_, gone);
  }
  // Whether no job waits.
  [[nodiscard]] bool empty() const { return waiting_.empty() && halves_.empty(); }
  // The end of the back-off; none: Take need not wait.
  [[nodiscard]] std::optional<Time> timer() const { return retry_at_; }

 private:
  Limits limits_;
  std::deque<uint64_t> waiting_;
  std::deque<Jobs> halves_;
  size_t under_way_ = 0;
  uint32_t attempts_ = 0;  // failed in a row
  std::optional<Time> retry_at_;
};

}  // namespace fanline
