// Gathers what units want written in one range and cuts it into batches: many timelines and many
// posts per call, each timeline at most once in a batch. The longer Redis is busy, the more posts
// meet in one write. So batches grow under load, without a timer.
//
// The page of a small unit does not wait for the pages of large ones (admission.h). While both
// kinds wait, a batch takes pages of small units up to three quarters of its timelines, and those
// of large ones in all that is left. While one kind waits, that kind has the whole batch. So an
// author with few followers passes a celebrity, and the celebrity still gets at least a quarter of
// what is written. A contribution that is alone has a batch, and large units that wait have the
// next one.
//
// Passive, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fanline/ports/live_timelines.h"
#include "pusher/base/limits.h"

namespace fanline::pusher {

// What one unit wants done to each of `readers`. A unit may have several, for different readers.
struct Contribution {
  uint64_t unit = 0;
  std::vector<UserId> readers;
  std::vector<Item> adds;      // at most kMaxAddsPerWrite
  std::vector<Item> removes;   // at most kMaxAddsPerWrite
  bool alone = false;          // in a batch of its own: a culprit is looked for
  std::optional<Mark> mark{};  // of the author; takes the place of an add
  bool large = false;          // of a large unit; false if alone
};

// Which writes of a batch belong to a unit.
struct Share {
  uint64_t unit = 0;
  std::vector<uint32_t> writes;
};

class WriteBatcher {
 public:
  // `waiting_readers`: counts the readers of small units that are in no batch yet. What the limits
  // and the count are in outlives this object. Large units are bounded by admission.h.
  WriteBatcher(const Limits& limits, size_t& waiting_readers)
      : limits_(limits), waiting_readers_(waiting_readers) {}
  WriteBatcher(const WriteBatcher&) = delete;
  ~WriteBatcher();

  void Add(Contribution contribution);
  bool empty() const { return small_.empty() && large_.empty(); }

  // Cuts the next batch, with the oldest contributions of each kind first. The caller fills in id,
  // range and epoch. Writes beyond a bound, of the batch or of one reader's write, go into a later
  // batch. The batcher must not be empty().
  TimelineBatch Cut(std::vector<Share>* shares);

 private:
  struct Slot {  // a write of the batch
    UserId reader{};
    uint32_t adds = 0;
    uint32_t removes = 0;
    uint32_t marks = 0;
  };
  using Queue = std::deque<Contribution>;  // `readers`: those in no batch yet
  struct Piece {                           // one contribution's part of the batch being cut
    const Contribution* from = nullptr;
    std::vector<uint32_t> slots;
  };

  enum class Fit { kTaken, kWriteFull, kNoRoom };

  Fit Take(const Slot& wanted, uint32_t* slot);
  bool TakeFrom(Contribution& from, Piece& piece);
  size_t TakeFrom(Queue& queue, size_t timelines, std::vector<Piece>& pieces);
  TimelineBatch Assemble(std::vector<Piece>& pieces, std::vector<Share>* shares);
  static void DropUsedUp(Queue& queue, size_t end);

  const Limits& limits_;
  size_t& waiting_readers_;
  Queue small_;  // and contributions that are alone
  Queue large_;
  bool was_alone_ = false;  // the last batch's contribution
  // The batch that is being cut.
  size_t room_ = 0;  // its most timelines
  std::vector<Slot> slots_;
  std::unordered_map<UserId, uint32_t> slot_of_;
  size_t bytes_ = 0;
};

}  // namespace fanline::pusher
