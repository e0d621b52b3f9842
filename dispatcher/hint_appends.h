// Appends the hints of events to the logs of their ranges, each range at its own pace.
//
// The ranges of an event are fixed when it comes. A hint that a range did not acknowledge is
// appended again, alone of its event. A request holds hints of one range, so a reply is about one
// range. There is no order between events: whoever reads a hint reads the truth.
//
// Room. The records and bytes under way are bounded, below what the producer queues, so that the
// producer is never full. Every range has an equal share of both. A hint waits, in order of
// arrival, for room in its range's share. Events wait in order too while no range has room.
//
// So a range that takes nothing holds up no other: its share stays full, and later hints wait for
// it. After a reply with hints that were not acknowledged, the range gets none for a back-off, and
// then a few, until one is acknowledged. An event is parked once all of its open hints wait, and
// stays parked until it ends. The bytes that parked events hold are bounded for all ranges
// together: usually they wait for the same ranges.
//
// A log may refuse a batch for good because of its size or of one record in it. So a hint that is
// refused for good is appended once more without any other of its range. Only if it is refused
// again does it end its event.
//
// Passive: no thread, no clock. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
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
    size_t records = 1;       // under way to one range
    size_t bytes = 1;         // the same; exceeded by one record at most
    size_t per_append = 256;  // hints that travel together
    size_t per_probe = 16;    // under way to a range that took nothing last time
    size_t parked_bytes = 0;  // of all parked events
    Backoff backoff;
  };
  struct Event {
    Hint hint;                               // of a post; `sample.part` is set for each range
    std::optional<Range> weighed_in;         // only this range's hint keeps weighed_since
    std::vector<Range> ranges;               // at least one, each once
    std::shared_ptr<const Headers> headers;  // null: none
    size_t bytes = 0;                        // memory that its owner holds while it is open
  };
  struct Ended {
    uint64_t id = 0;
    Status status;  // done: all hints are acknowledged; never: one was refused for good
  };

  // `ids` gives request ids; `metrics` and `ids` outlive this.
  HintAppends(Port<AppendHints> hints, Metrics& metrics, size_t ranges, const Limits& limits,
              uint64_t& ids, const MutationSwitches& guards = {});

  // An event whose hints are to be appended, from the next Step on.
  void Add(uint64_t id, Event event);
  // `random`: any 64 bits.
  void On(const HintsAppended& appended, Now now, uint64_t random);
  // Submits hints as far as there is room.
  void Step(Now now);

  // Events that have ended since the last call. They are forgotten here.
  [[nodiscard]] std::vector<Ended> TakeEnded() { return std::exchange(ended_, {}); }
  // Events that were parked since the last call, and parked ones whose last hint under way was
  // answered since: their partition may have moved meanwhile.
  [[nodiscard]] std::vector<uint64_t> TakeParked() { return std::exchange(newly_parked_, {}); }
  // Forgets an event: none of its hints is appended from now on. Those under way go on.
  void Forget(uint64_t id);
  // Forgets the events with a waiting hint for which `gone(id)` is true.
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
  struct Queue {                   // of one range
    std::deque<uint64_t> waiting;  // events; no forgotten ones from a Step's beginning on
    std::deque<uint64_t>
        refused;  // events refused for good together with others: they go first, one by one
    bool proving = false;           // one of these is under way
    size_t records = 0, bytes = 0;  // under way
    uint32_t attempts = 0;          // failed in a row
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
  bool forgotten_ = false;                            // some of these may be of forgotten events
  std::vector<uint64_t> idle_;                        // events that may have nothing under way
  size_t parked_ = 0, parked_bytes_ = 0;
  std::vector<uint64_t> newly_parked_;
  std::vector<Ended> ended_;
};

}  // namespace fanline::dispatcher
