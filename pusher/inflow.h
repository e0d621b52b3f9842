// Orders the consumer to deliver only hints that the range can keep. The consumer is paused while
// the range is not ready, while it holds all it may, and while the next hint is one that only a
// newer pusher can read. Otherwise, while Redis is away, the log would be read to its end for
// nothing, and the lag would look like none.
//
// A full range flows again when it holds half of what it may; of the hints to be worked on, when
// some shard has half of its share. All ranges of a process have a bound together
// (Limits::held_hints): half of it is anybody's, and of the other half each range has an equal
// share. Once the first half is taken, a range flows as long as it holds less than its share, so
// that ranges which wait for a node that is away stop no others.
//
// A hint that is too new is asked for again from time to time, with all behind it. The hints in
// front of it are finished and saved meanwhile. It is not kept itself, so a drain - the upgrade -
// does not wait for it.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/consuming/offset_ledger.h"
#include "pusher/lanes.h"
#include "pusher/limits.h"
#include "pusher/metrics.h"

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
    size_t hints = 0;  // held
  };

  Inflow(Range range, const Limits& limits) : range_(range), limits_(limits) {}

  // The range is ready: records from `offset` on are meant for it.
  void Seek(int64_t offset, ConsumerOrders& orders);
  // The range is not ready until the next Seek.
  void Stop();
  // The hint at `offset` cannot be read before an upgrade, for the reason `why`.
  void StandBefore(int64_t offset, std::string why, Now now, uint64_t random);
  // A hint was taken.
  void Took() { newer_.reset(); }
  // Gives the orders that follow from the hints held. `taking`: asks again for a hint that is too
  // new.
  void Direct(const OffsetLedger& ledger, const Lanes& lanes, const Process& process, bool taking,
              Now now, ConsumerOrders& orders);

  bool open() const { return open_; }  // records that arrive are meant for the range
  const std::optional<PauseCause>& full() const { return full_; }
  const std::optional<NewerHint>& newer() const { return newer_; }
  // When a newer hint is to be asked for again.
  std::optional<Time> timer() const {
    return newer_ && !open_ ? std::optional(newer_->again_at) : std::nullopt;
  }

 private:
  std::optional<PauseCause> BoundReached(const OffsetLedger& ledger, const ShardShares& hints,
                                         const Process& process) const;

  const Range range_;
  const Limits& limits_;
  bool open_ = false;
  bool flowing_ = false;  // the consumer was told to deliver, and not to pause since
  std::optional<PauseCause> full_;
  std::optional<NewerHint> newer_;
};

}  // namespace fanline::pusher
