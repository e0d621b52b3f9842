// Appends the hints of events to the logs of their ranges, each range at its own pace.
//
// The ranges of an event are settled when it comes. Each gets the hint until it has acknowledged
// it: a hint that was not acknowledged is appended again, and no other hint of its event is. Hints
// of one range travel together, so that a reply is about one range. Between events there is no
// order: whoever reads a hint reads the truth.
//
// Room. The records and bytes under way are bounded, below what the producer queues, so that it
// never refuses one for want of room. Every range has an equal share of both. A hint waits for room
// in its range's share, in the order in which hints came. Events wait in order too while no range
// has room.
//
// A range that takes nothing so holds up nobody else: its share stays full, and what comes later
// waits behind it. Once an answer says that hints were not acknowledged, the range gets none for a
// back-off, and then a few, until one is acknowledged. An event is parked once all of its open
// hints wait. It stays parked until it ends, however its hints then go on. What parked events hold
// is bounded in bytes, of all ranges together: usually they wait for the same ranges.
//
// A log may refuse a batch for good because of its size, or of one record in it. So a hint that is
// refused for good is appended once more with nothing of its range beside it, and only then ends
// its event.
//
// Passive: no thread, no clock. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dispatcher/metrics.h"
#include "fanline/base/backoff.h"
#include "fanline/base/mutation_switches.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/model/record.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"

namespace fanline::dispatcher {

class HintAppends {
 public:
  struct Limits {
    size_t records = 1;       // under way, of one range
    size_t bytes = 1;         // the same; exceeded by one record at most
    size_t per_append = 256;  // hints that travel together
    size_t per_probe = 16;    // under way, of a range whose last answer was that it took nothing
    size_t parked_bytes = 0;  // of all parked events
    Backoff backoff;
  };
  struct Event {
    Hint hint;                               // of a post; the part of a sample is each range's own
    std::optional<Range> weighed_in;         // weighed_since is for this range alone
    std::vector<Range> ranges;               // at least one, each once
    std::shared_ptr<const Headers> headers;  // null: none
    size_t bytes = 0;                        // of memory that its owner holds while it is open
  };
  struct Ended {
    uint64_t id = 0;
    Status status;  // done: all hints are acknowledged; never: one can never be
  };

  // `ids` gives request ids; `metrics` and `ids` outlive this.
  HintAppends(Port<AppendHints> hints, Metrics& metrics, size_t ranges, const Limits& limits,
              uint64_t& ids, const MutationSwitches& guards = {});

  // An event whose hints are to be appended, from the next Step on.
  void Add(uint64_t id, Event event);
  // `random`: any 64 bits.
  void On(const HintsAppended& appended, Now now, uint64_t random);
  // Submits what there is room for.
  void Step(Now now);

  // Events that have ended since the last call. They are forgotten here.
  [[nodiscard]] std::vector<Ended> TakeEnded() { return std::exchange(ended_, {}); }
  // Events that were parked since the last call, or are parked and have had no hint under way
  // since: their partition may have moved while they had one.
  [[nodiscard]] std::vector<uint64_t> TakeParked() { return std::exchange(told_parked_, {}); }
  // Forgets an event: none of its hints is appended from now on. Those under way go on.
  void Forget(uint64_t id);
  // Forgets the events with a waiting hint of which `gone(id)` is true.
  template <typename Gone>
  void Forget(Gone gone) {
    std::vector<uint64_t> forgotten;
    for (const auto& [id, held] : events_) {
      if (held.open > held.under_way && gone(id)) forgotten.push_back(id);
    }
    for (const uint64_t id : forgotten) Forget(id);
  }

  [[nodiscard]] size_t parked() const { return parked_; }  // events
  // Whether no more may be parked, and whether more may again.
  [[nodiscard]] bool full() const { return parked_bytes() >= limits_.parked_bytes; }
  [[nodiscard]] bool roomy() const { return parked_bytes() <= limits_.parked_bytes / 2; }
  // When the next range is tried again.
  [[nodiscard]] std::optional<Time> timer() const;

 private:
  struct Held {
    Event event;
    uint32_t parts = 0;      // ranges of the event
    uint32_t open = 0;       // not acknowledged
    uint32_t under_way = 0;  // of these
    bool parked = false;
  };
  using Events = std::unordered_map<uint64_t, Held>;
  struct Queue {                    // of one range
    std::deque<uint64_t> waiting;   // events; from a Step's beginning on none is forgotten
    std::deque<uint64_t> refused;   // the same; for good, beside others: they go first, one by one
    bool proving = false;           // one of these is under way
    size_t records = 0, bytes = 0;  // under way
    uint32_t attempts = 0;          // that failed, in a row
    std::optional<Time> retry_at;
  };
  struct UnderWay {
    Range range = 0;
    std::vector<uint64_t> events;  // by hint
    size_t bytes = 0;
  };

  Queue& At(Range range) { return queues_[static_cast<size_t>(range)]; }
  size_t MostRecords(const Queue& queue) const;
  bool HasRoom(const Queue& queue, size_t hint_bytes) const;
  void DropForgotten();
  void Spread();
  void Send(Range range);
  bool SendOne(Range range, std::deque<uint64_t>& from, size_t most);
  Hint HintFor(const Held& held, Range range) const;
  bool Settle(uint64_t id, const Status& status, bool alone);
  void TryAgain(Range range, const std::vector<uint64_t>& events, Now now, uint64_t random);
  void Park();
  void Erase(Events::iterator held);
  size_t parked_bytes() const { return parked_bytes_ + waiting_ * sizeof(uint64_t); }

  const Port<AppendHints> hints_;
  Metrics& metrics_;
  const Limits limits_;
  uint64_t& ids_;
  const MutationSwitches guards_;

  Events events_;
  std::deque<uint64_t> arrived_;                      // events that wait until some range has room
  std::vector<Queue> queues_;                         // by range
  std::unordered_map<uint64_t, UnderWay> under_way_;  // by request
  size_t waiting_ = 0;                                // entries of all queues
  bool forgotten_ = false;                            // some of these may be of no event
  std::vector<uint64_t> idle_;                        // events that may have nothing under way
  size_t parked_ = 0, parked_bytes_ = 0;
  std::vector<uint64_t> told_parked_;
  std::vector<Ended> ended_;
};

}  // namespace fanline::dispatcher
