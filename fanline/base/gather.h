// Batches that grow with load, within a bound (--gather), so that load makes each piece of work
// cheaper. There are two rules, for two places. Passive, not thread-safe; a bound of zero switches
// either off.
#pragma once

#include <optional>

#include "fanline/base/time.h"

namespace fanline {

// Paces batches where work arrives. Under steady load one batch starts per `bound`, with all that
// came meanwhile; no piece waits longer. After quiet (two bounds without a batch) a lone event does
// not wait. Its pieces come a moment apart, so for a while batches start as they come, with a short
// pause between them.
class GatherPace {
 public:
  static constexpr int kQuiet = 2;  // bounds without a batch
  static constexpr int kEager = 2;  // after quiet, batches come early for bound / kEager
  static constexpr int kRoom = 16;  // then they are bound / kRoom apart

  explicit GatherPace(Duration bound) : bound_(bound) {}

  // A batch may start now.
  bool open(Time now) const { return now >= opens_at(); }
  Time opens_at() const { return opens_at_; }
  // A batch started.
  void Started(Time now) {
    if (now >= started_ + kQuiet * bound_) eager_until_ = now + bound_ / kEager;
    opens_at_ = now + (now < eager_until_ ? bound_ / kRoom : bound_);
    started_ = now;
  }

 private:
  const Duration bound_;
  Time started_{};  // the latest batch
  Time eager_until_{};
  Time opens_at_{};
};

// Holds ready work while more of its kind is under way, so that all goes on together, but for no
// longer than `bound`.
class GatherReady {
 public:
  explicit GatherReady(Duration bound) : bound_(bound) {}

  void Add(Time now) {
    if (!since_) since_ = now;
  }
  // Whether the ready work goes on now. `more`: more of its kind is under way.
  bool due(bool more, Time now) const { return since_ && (!more || now >= *timer()); }
  void Released() { since_.reset(); }
  std::optional<Time> timer() const {
    return since_ ? std::optional(*since_ + bound_) : std::nullopt;
  }

 private:
  const Duration bound_;
  std::optional<Time> since_;  // when the oldest became ready
};

}  // namespace fanline
