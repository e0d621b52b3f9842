// Orders the consumer to deliver only hints that the range can keep. The consumer is paused while
// the range is not ready, while the range is full, and while only a newer pusher can read the next
// hint. Without these pauses the log would be read to its end in vain while Redis is away, and the
// lag would look like none.
//
// A range is full when it reaches one of its bounds (limits.h). It flows again when it holds half
// of that bound. For hints to be worked on, it flows again when some shard has half of its share
// free.
//
// All ranges of a process have one bound together, Limits::held_hints. Half of it is open to every
// range; the other half is divided equally among the ranges. Once the first half is taken, a range
// flows while it holds less than its equal share. So ranges that wait for a node that is away stop
// no other range.
//
// A hint that is too new is asked for again from time to time, together with the hints behind it.
// The hints in front of it are finished and saved meanwhile. The hint itself is not kept, so the
// drain before the upgrade does not wait for it.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/consuming/offset_ledger.h"
#include "pusher/base/limits.h"
#include "pusher/base/metrics.h"
#include "pusher/units/lanes.h"

namespace fanline::pusher {

class Inflow {
 public:
  struct NewerHint {
    int64_t offset = 0;
    std::string why;
    uint32_t attempts = 0;
    Time again_at{};
  };

  struct Process {  // all ranges together
    size_t ranges = 0;
    size_t hints = 0;  // held by them
  };

  Inflow(Range range, const Limits& limits) : range_(range), limits_(limits) {}

  // The range is ready. Orders its records from `offset` on.
  void Seek(int64_t offset, ConsumerOrders& orders);
  // The range is not ready until the next Seek.
  void Stop();
  // The hint at `offset` cannot be read before an upgrade, for the reason `why`.
  void StandBefore(int64_t offset, std::string why, Now now, uint64_t random);
  // A hint was taken.
  void Took() { newer_.reset(); }
  // Pauses or resumes the range by the hints held. `lanes`: null if the range is not ready. If
  // `taking`, also asks again for a hint that is too new, once it is time.
  void Direct(const OffsetLedger& ledger, const Lanes* lanes, const Process& process, bool taking,
              Now now, ConsumerOrders& orders);

  bool open() const { return open_; }  // whether the range takes records that arrive
  const std::optional<PauseCause>& full() const { return full_; }
  const std::optional<NewerHint>& newer() const { return newer_; }
  // When to ask again for a hint that is too new.
  std::optional<Time> timer() const {
    return newer_ && !open_ ? std::optional(newer_->again_at) : std::nullopt;
  }

 private:
  std::optional<PauseCause> BoundReached(const OffsetLedger& ledger, const ShardShares& hints,
                                         const Process& process) const;

  const Range range_;
  const Limits& limits_;
  bool open_ = false;
  bool flowing_ = false;  // the last order was to deliver
  std::optional<PauseCause> full_;
  std::optional<NewerHint> newer_;
};

}  // namespace fanline::pusher
