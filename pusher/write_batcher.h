// Gathers what units want written in one range and cuts it into batches: many timelines and many
// posts per call, each timeline at most once in a batch. The longer Redis is busy, the more posts
// meet in one write: batches grow under load by themselves, with no timer.
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fanline/ports/live_timelines.h"
#include "pusher/limits.h"

namespace fanline::pusher {

// What one unit wants done to each of `readers`.
struct Contribution {
  uint64_t unit = 0;
  std::vector<UserId> readers;
  std::vector<Item> adds;        // at most kMaxAddsPerWrite
  std::vector<PostId> removes;   // at most kMaxAddsPerWrite
  bool alone = false;            // in a batch of its own (looking for a culprit)
  std::optional<UserId> mark{};  // this author; takes the place of an add
  UserId author{};               // of the posts
};

// Which writes of a batch belong to a unit.
struct Share {
  uint64_t unit = 0;
  std::vector<uint32_t> writes;
};

class WriteBatcher {
 public:
  explicit WriteBatcher(const Limits& limits) : limits_(&limits) {}

  void Add(Contribution contribution);
  bool empty() const { return queue_.empty(); }
  size_t waiting_readers() const { return waiting_readers_; }

  // The next batch, oldest contributions first; the caller fills in id, range and epoch. Writes
  // beyond a bound, of the batch or of one reader's write, go into a later one. Not to be called
  // when empty().
  TimelineBatch Cut(std::vector<Share>* shares);

 private:
  struct Slot {  // a write of the batch
    UserId reader{};
    uint32_t adds = 0;
    uint32_t removes = 0;
    uint32_t marks = 0;
  };
  struct Piece {  // one contribution's part of the batch being cut
    size_t contribution = 0;
    std::vector<uint32_t> slots;
  };

  enum class Fit { kTaken, kWriteFull, kNoRoom };

  Fit Take(const Slot& wanted, uint32_t* slot);
  bool TakeFrom(size_t contribution, Piece& piece);
  TimelineBatch Assemble(std::vector<Piece>& pieces, std::vector<Share>* shares);
  void DropUsedUp(size_t end);

  const Limits* limits_;
  std::deque<Contribution> queue_;  // `readers`: those in no batch yet
  size_t waiting_readers_ = 0;
  // Of the batch being cut.
  std::vector<Slot> slots_;
  std::unordered_map<UserId, uint32_t> slot_of_;
  size_t bytes_ = 0;
};

}  // namespace fanline::pusher
