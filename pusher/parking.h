// Units that wait for what is away: a queue for each name that the caller gives (a resource, or a
// range's part of one), and the pace at which its units are tried again.
//
// A failure closes the resource. After a jittered back-off the unit that has waited longest is
// tried. While that fails, one unit is tried at a time, further and further apart, so that
// thousands of units ask no more often than one does. Each unit that gets through lets one more be
// tried at the same time, up to `most`, so that not all units meet a resource that comes back at
// once. A unit that fails by its own fault goes to the end of the queue and costs the others one
// back-off.
//
// Passive, not thread-safe. Units are named by id; each is parked, being tried, or unknown here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline::pusher {

class Parking {
 public:
  // `most`: units of one resource that are tried at the same time, once it answers.
  Parking(Backoff backoff, size_t most) : backoff_(backoff), most_(most) {}

  // The resource did not do what the unit asked. The unit must not be parked. `random`: any 64
  // bits.
  void Park(const std::string& resource, uint64_t unit, Time now, uint64_t random);
  // The next unit that may be tried, no longer parked. The caller reports its end by Park,
  // GotThrough or Forget. A unit for which there is no `room` keeps its queue waiting, so units of
  // one queue should need the same room.
  using Room = std::function<bool(uint64_t unit)>;
  std::optional<uint64_t> Take(Time now, const Room& room);
  // A unit got what it had waited for. Does nothing for one that is not being tried.
  void GotThrough(uint64_t unit);
  // Forgets the units that are `gone`.
  void Forget(const std::function<bool(uint64_t unit)>& gone);

  size_t size() const { return parked_; }
  // When Take may give one, if it gives none now.
  std::optional<Time> timer(const Room& room) const;

 private:
  struct Queue {
    std::deque<uint64_t> waiting;  // first parked, first tried
    size_t trying = 0;
    size_t at_once = 1;     // as many may be tried at the same time
    uint32_t failures = 0;  // in a row; 0: it answers
    Time not_before{};      // while failures > 0
    bool may_try(const Room& room) const {
      return !waiting.empty() && trying < at_once && room(waiting.front());
    }
  };
  using Queues = std::map<std::string, Queue>;

  void Failed(Queue& queue, Time now, uint64_t random);
  void DropIfUnused(Queues::iterator queue);

  Backoff backoff_;
  size_t most_;
  Queues queues_;
  std::unordered_map<uint64_t, Queues::iterator> trying_;
  size_t parked_ = 0;
};

}  // namespace fanline::pusher
