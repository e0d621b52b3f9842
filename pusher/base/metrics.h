// What a pusher reports about itself, one method per event, so that the logic needs no metric
// library. The default does nothing and serves the simulation; prometheus_metrics.h is the real
// one.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::pusher {

// Why a range is taken over, for the first time or again.
enum class TakeoverCause { kAssigned, kSessionLost, kFenced, kRolledBack };
// The cause of the takeover that an answer with needs_claim asks for.
inline TakeoverCause CauseOf(const Status& status) {
  return status.resource == "fence" ? TakeoverCause::kFenced : TakeoverCause::kSessionLost;
}

// What Redis has lost of a range, judged by pos: when the range is claimed (guard 4). Nothing else
// tells a failover, a restart, a restored snapshot and FLUSHALL apart.
enum class RedisLoss {
  kBehind,        // pos: is behind what was saved: hints are replayed from it
  kOlderThanLog,  // the log begins after pos:, for any reason: timelines are dropped
  kMissing,       // no pos:, though the range had one: timelines are dropped
  kForeign,       // pos: is of another topic generation or number of ranges: timelines are dropped
};

// The bound of limits.h at which a range is paused.
enum class PauseCause { kBuffered, kParked, kSpan };
inline constexpr size_t kPauseCauses = 3;

class Metrics : public ConsumerMetrics {
 public:
  virtual void HintReceived(bool /*is_sync*/) {}
  virtual void HintDone(bool /*is_sync*/, Duration /*since_appended*/) {}
  virtual void HintQuarantined(const std::string& /*reason*/) {}
  virtual void Written(const BatchWritten&) {}  // a batch that is done
  virtual void Full(uint64_t /*timelines*/) {}  // deleted because Redis is full, not in a batch
  // Redis refused a write, or the read before one, because another owner has claimed the range.
  virtual void WriteFenced() {}
  virtual void BatchSent(uint64_t /*timelines*/, uint64_t /*items*/) {}
  virtual void PageRead(uint64_t /*followers*/) {}
  // The author's followers were listed, or not, when a run began a page.
  virtual void LookedUp(bool /*listed*/) {}
  // Followers who are not live, so that Redis is not asked about them.
  virtual void PassedOver(uint64_t /*followers*/) {}
  // A unit that an earlier owner had begun went on behind its finished pages, or began again at the
  // first one.
  virtual void UnitTakenUp(bool /*went_on*/) {}
  virtual void TakeoverStarted(TakeoverCause) {}
  // Called once the range is ready again: what was lost is replayed, or the timelines were dropped.
  virtual void RedisLost(Range /*range*/, RedisLoss) {}
  // Another pusher owns the range that the consumer group gave to this one. This one tries again
  // after `wait`.
  virtual void RangeContested(Range /*range*/, Duration /*wait*/) {}
  virtual void RangeReady(int64_t /*replayed_hints*/, uint64_t /*timelines_dropped*/) {}
  virtual void FirstDelivery(int /*size_class*/, Duration /*since_published*/) {}
  virtual void LastDelivery(int /*size_class*/, Duration /*since_published*/) {}
  // The last delivery of a post that belongs to a trace (fanline/model/trace.h).
  struct Traced {
    std::string trace_id;
    UserId author{};
    PostId post{};
    uint64_t followers = 0;
    Duration since_published{};
  };
  virtual void TracedDelivery(const Traced&) {}

  // An estimate of an author's live followers was stored.
  virtual void AuthorWeighed() {}

  struct Held {                            // what the pusher holds after a step
    uint64_t hints = 0;                    // received and not finished
    uint64_t units = 0;                    // under way
    uint64_t ranges = 0;                   // assigned
    uint64_t ranges_ready = 0;             // of the assigned ranges, those taken over
    uint64_t highest_epoch = 0;            // of the assigned ranges; 0: none has one yet
    uint64_t ranges_awaiting_upgrade = 0;  // their next hint needs a newer program
    std::string upgrade_why;               // the reason for the first such range
    uint64_t live_readers = 0;             // held to be live, in the ranges that are ready
    uint64_t lists = 0;                    // of followers
    uint64_t list_bytes = 0;               // that these take
    uint64_t units_parked = 0;             // they wait for a resource that is away
    uint64_t units_awaiting_turns = 0;     // of authors with many followers (units/admission.h)
    uint64_t hints_parked = 0;             // of parked units, and behind them in their lanes
    uint64_t longest_span = 0;  // most hints of one range, from the oldest unfinished to the newest
    std::array<uint64_t, kPauseCauses> ranges_paused{};  // by PauseCause
  };
  virtual void Holding(const Held&) {}
};

}  // namespace fanline::pusher
