// Batches that grow with load, within a bound (--gather): so load can only make a piece of work
// cheaper. Two rules, for two places. Passive, not thread-safe; a bound of zero switches either
// off.
#pragma once

#include <algorithm>
#include <optional>

#include "fanline/base/time.h"

namespace fanline {

// Where work arrives: how often to look. After quiet the first pieces are taken at once, so that a
// lone one waits for nobody. Under steady load a batch starts once in each `bound`, with all that
// came meanwhile; no piece waits longer.
//
// The pieces of one event come a moment apart. So quiet allows for kAtOnce batches, with a little
// room between them.
class GatherPace {
 public:
  static constexpr int kAtOnce = 3;
  static constexpr int kRoom = 16;  // of the bound

  explicit GatherPace(Duration bound) : bound_(bound) {}

  // A batch may start now.
  bool open(Time now) const { return now >= opens_at(); }
  Time opens_at() const { return opens_at_; }
  // A batch started.
  void Started(Time now) {
    busy_until_ = std::max(busy_until_, now) + bound_;
    opens_at_ = std::max(now + bound_ / kRoom, busy_until_ - (kAtOnce - 1) * bound_);
  }

 private:
  const Duration bound_;
  Time busy_until_{};  // each batch pays for one bound
  Time opens_at_{};
};

// Where work is ready while more of its kind is under way: it goes on together with that, but waits
// for it no longer than `bound`.
class GatherReady {
 public:
  explicit GatherReady(Duration bound) : bound_(bound) {}

  void Add(Time now) {
    if (!since_) since_ = now;
  }
  // All that is ready goes on now; `more`: of its kind is under way.
  bool due(bool more, Time now) const { return since_ && (!more || now >= *timer()); }
  void Went() { since_.reset(); }
  std::optional<Time> timer() const {
    return since_ ? std::optional(*since_ + bound_) : std::nullopt;
  }

 private:
  const Duration bound_;
  std::optional<Time> since_;  // the oldest is ready
};

}  // namespace fanline
