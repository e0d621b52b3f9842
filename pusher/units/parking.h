// Holds units that wait for a resource that is away, and paces how they are tried again. Each name
// that the caller gives has its own queue: a resource, or a part of one.
//
// A failure closes the queue. After a jittered back-off the unit that has waited longest is tried.
// While that fails, one unit is tried at a time, at growing intervals, so thousands of units ask no
// more often than one. Each unit that gets through lets one more be tried at the same time, up to
// `most`, so a resource that comes back does not meet all units at once. A unit that fails by its
// own fault goes to the end of the queue and costs the others one back-off.
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
  // `most`: units of one queue that are tried at the same time, once its resource answers.
  Parking(Backoff backoff, size_t most) : backoff_(backoff), most_(most) {}

  // The resource did not do what the unit asked. The unit must not be parked already. `random`: any
  // 64 bits.
  void Park(const std::string& resource, uint64_t unit, Time now, uint64_t random);
  // Takes the next unit that may be tried; it is parked no longer. The caller reports its end by
  // Park, GotThrough or Forget. If there is no `room` for a unit, its queue waits, so units of one
  // queue should need the same room.
  using Room = std::function<bool(uint64_t unit)>;
  std::optional<uint64_t> Take(Time now, const Room& room);
  // A unit got what it waited for. Does nothing for one that is not being tried.
  void GotThrough(uint64_t unit);
  // Forgets the units that are `gone`.
  void Forget(const std::function<bool(uint64_t unit)>& gone);

  size_t size() const { return parked_; }
  // When Take may return a unit, if it returns none now.
  std::optional<Time> timer(const Room& room) const;

 private:
  struct Queue {
    std::deque<uint64_t> waiting;  // first parked, first tried
    size_t trying = 0;
    size_t at_once = 1;     // units that may be tried at the same time
    uint32_t failures = 0;  // in a row; 0: the resource answers
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
