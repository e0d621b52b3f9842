// Given offsets received in order and finished in any order, says which offset may be committed:
// the first that is not finished (the contiguous prefix). One ledger per partition.
//
// Not thread-safe. Memory grows with the span between the oldest unfinished offset and the
// newest one seen; the owner bounds that span by pausing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace fanline {

class OffsetLedger {
 public:
  // Begins anew at `next`, the next offset to be consumed: everything below counts as finished, and
  // all that was open is forgotten. `next` may lie further back (a rewind).
  void Reset(int64_t next);

  // `offset` was received. False: it is not above the newest seen, and is refused. (A client that
  // replays after a resume must not reopen what is finished.) Gaps (compaction, transaction
  // markers) count as finished.
  [[nodiscard]] bool Received(int64_t offset);
  void Finished(int64_t offset);

  int64_t committable() const { return base_; }  // commit this: all below is finished
  size_t open() const { return open_; }
  size_t span() const { return done_.size(); }

 private:
  int64_t base_ = 0;  // offset of done_.front()
  std::deque<bool> done_;
  size_t open_ = 0;
};

}  // namespace fanline
