// What a pusher reports about itself, a method for each event, so that the logic needs no metric
// library. The do-nothing default serves the simulation; prometheus_metrics.cpp is the real one.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::pusher {

// Why a range was taken over (again), and why timelines were dropped or hints replayed.
enum class TakeoverCause { kAssigned, kSessionLost, kFenced, kRolledBack };

// What Redis had of a range when it was claimed, and should have had: pos: says it (guard 4). A
// failover, a restart, a snapshot put back and FLUSHALL differ in nothing else.
enum class RedisLoss {
  kBehind,        // pos: lies behind what was saved: hints are replayed from there
  kOlderThanLog,  // the log does not reach back to pos:, for whatever reason: dropped
  kMissing,       // no pos:, though the range had one: dropped
  kForeign,       // pos: of another topic generation or number of ranges: dropped
};

// Which bound of limits.h a range that is paused has reached.
enum class PauseCause { kBuffered, kParked, kSpan };
inline constexpr size_t kPauseCauses = 3;

class Metrics : public ConsumerMetrics {
 public:
  virtual void HintReceived(bool /*is_sync*/) {}
  virtual void HintDone(bool /*is_sync*/, Duration /*since_appended*/) {}
  virtual void HintQuarantined(const std::string& /*reason*/) {}
  virtual void Written(const BatchWritten&) {}  // a batch that is done
  virtual void Full(uint64_t /*timelines*/) {}  // deleted by a full Redis, outside batches
  // Redis refused a write, or the read before one: another owner has claimed the range since.
  virtual void WriteFenced() {}
  virtual void BatchSent(uint64_t /*timelines*/, uint64_t /*items*/) {}
  virtual void PageRead(uint64_t /*followers*/) {}
  // A unit that an owner before had begun went on behind its pages, or began at the first.
  virtual void UnitTakenUp(bool /*went_on*/) {}
  virtual void TakeoverStarted(TakeoverCause) {}
  // Told once the range is ready again: what was lost is given to it again, or dropped.
  virtual void RedisLost(Range /*range*/, RedisLoss) {}
  // Another pusher owns the range that the consumer group gave to this one; this one tries again
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

  // An estimate of the live followers of an author was written down.
  virtual void AuthorWeighed() {}

  struct Held {                            // by the pusher, after each of its steps
    uint64_t hints = 0;                    // received and not finished
    uint64_t units = 0;                    // under way
    uint64_t ranges = 0;                   // assigned
    uint64_t ranges_ready = 0;             // of these, taken over
    uint64_t highest_epoch = 0;            // of these; 0: none has one yet
    uint64_t ranges_awaiting_upgrade = 0;  // whose next hint needs a newer program
    std::string upgrade_why;               // the reason, of the first such range
    uint64_t units_parked = 0;             // waiting for a resource that is away
    uint64_t hints_parked = 0;             // of these units, and behind them in their lanes
    uint64_t longest_span = 0;  // of a range: hints from the oldest unfinished to the newest
    std::array<uint64_t, kPauseCauses> ranges_paused{};  // by PauseCause
  };
  virtual void Holding(const Held&) {}
};

}  // namespace fanline::pusher
