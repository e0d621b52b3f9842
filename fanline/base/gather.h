// Batches that grow with load, within a bound (--gather): so load can only make a piece of work
// cheaper. Two rules, for two places. Passive, not thread-safe; a bound of zero switches either
// off.
#pragma once

#include <optional>

#include "fanline/base/time.h"

namespace fanline {

// Where work arrives: how often to look. Under steady load a batch starts once in each `bound`,
// with all that came meanwhile; no piece waits longer. After quiet - no batch in two bounds - a
// lone event waits for nobody. Its pieces come a moment apart: for a while batches start as they
// come, with a little room between them.
class GatherPace {
 public:
  static constexpr int kQuiet = 2;  // bounds
  static constexpr int kEager = 2;  // of these a bound: after quiet
  static constexpr int kRoom = 16;  // of these a bound: between two batches then

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
