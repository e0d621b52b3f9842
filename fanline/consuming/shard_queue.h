// Jobs that wait to be written to one shard, and the transactions that carry them there.
//
// A shard that is away gets no transaction during a back-off; the jobs of a failed one wait again,
// ahead of the others. A transaction that can never be committed is halved, until the job that is
// the cause is alone and the others are committed.
//
// A transaction that waits for a lock in vain is halved, too: the shard is well, and somebody else
// holds a row. Each job has a key, and all jobs of a key write one row, beside rows of their own.
// No half cuts a key, as long as there are several. A key that fails alone counts as locked. From
// then on its jobs wait apart and are tried by themselves: one transaction of all locked keys at a
// time, and a back-off for each key. Its transactions are halved as well, for the lock may be on a
// row of one job. A key whose last waiting job is written is like any other again.
//
// Passive, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline {

class ShardQueue {
 public:
  struct Job {
    uint64_t id = 0;
    uint64_t key = 0;  // matters to Locked alone
    friend bool operator==(const Job&, const Job&) = default;
  };
  // A transaction. It is under way until Done, Drop, Away, Locked or Split, which may be given
  // fewer jobs than were taken.
  struct Batch {
    std::vector<Job> jobs;
    std::optional<uint64_t> locked;  // the key that is tried by itself
  };
  struct Limits {
    size_t jobs = 1;     // in a transaction
    size_t batches = 1;  // under way, beside one of a locked key
    Backoff backoff;
  };

  explicit ShardQueue(const Limits& limits) : limits_(limits) {}

  void Push(const Job& job);
  // The next transaction. None: no job waits, or all that do must wait longer.
  [[nodiscard]] std::optional<Batch> Take(Time now);

  // It is committed.
  void Done(const Batch& batch, Time now);
  // It was not sent after all, and its jobs are the caller's.
  void Drop(const Batch& batch);
  // The shard did not answer. Transactions that fail within one back-off count as one attempt.
  // `random`: any 64 bits, also below.
  void Away(const Batch& batch, Time now, uint64_t random);
  // Somebody else held a row for too long.
  void Locked(Batch batch, Time now, uint64_t random);
  // It can never be committed. False: it had one job, which is the cause.
  [[nodiscard]] bool Split(const Batch& batch, Time now);

  // Drops the waiting jobs for which `gone(id)` is true.
  template <typename Gone>
  void Forget(Gone gone) {
    const auto is_gone = [&](const Job& job) { return gone(job.id); };
    std::erase_if(waiting_, is_gone);
    for (auto& half : halves_) std::erase_if(half, is_gone);
    std::erase_if(halves_, [](const auto& half) { return half.empty(); });
    for (auto& [key, locked] : locked_) std::erase_if(locked.jobs, is_gone);
    std::erase_if(locked_, [&](const auto& entry) {
      return entry.second.jobs.empty() && trying_ != entry.first;
    });
  }

  // Whether no job waits, but for those of locked keys.
  [[nodiscard]] bool empty() const { return waiting_.empty() && halves_.empty(); }
  // When Take may have more without a further call; none: not before one.
  [[nodiscard]] std::optional<Time> timer() const;

 private:
  using Jobs = std::vector<Job>;
  struct LockedKey {
    std::deque<Job> jobs;
    size_t most = 1;  // in its next transaction
    uint32_t attempts = 0;
    Time at{};
  };

  std::optional<Batch> TakeLocked(Time now);
  // Moves a job of a locked key to its own queue; whether it did.
  bool MoveIfLocked(const Job& job);
  void WaitAgain(const Batch& batch);
  void Halve(const Jobs& jobs, size_t at);
  void End(const Batch& batch);

  Limits limits_;
  std::deque<Job> waiting_;
  std::deque<Jobs> halves_;
  size_t under_way_ = 0;
  uint32_t attempts_ = 0;  // failed in a row
  std::optional<Time> retry_at_;
  std::map<uint64_t, LockedKey> locked_;
  std::optional<uint64_t> trying_;  // the locked key with a transaction under way
};

}  // namespace fanline
