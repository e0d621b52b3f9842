// When the records of one partition that were read were written, in steps of a second or more. A
// commit carries the time of the last record below it: if the log loses its tail, that time tells
// from where to read again. Bounded; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "fanline/base/time.h"

namespace fanline::kafka {

// How much older a record's timestamp may be than those of the records before it: clocks differ,
// and producers retry.
inline constexpr UnixMs kLateStamps = 3'600'000;

class ReadTimes {
 public:
  // The record before `end` has this timestamp; 0 or less: unknown. Ends come in order, except
  // after a seek. A time ahead of our clock counts as `now`.
  void Add(int64_t end, UnixMs timestamp, UnixMs now) {
    if (timestamp <= 0) return;
    times_.erase(times_.lower_bound(end), times_.end());  // read before a seek
    const UnixMs at = std::min(timestamp, now);
    // Records read earlier but with a later timestamp count as written at this one's time.
    for (; !times_.empty() && times_.rbegin()->second > at; times_.erase(std::prev(times_.end())))
      end = times_.rbegin()->first;
    if (!times_.empty() && at < times_.rbegin()->second + step_) return;
    times_.emplace_hint(times_.end(), end, at);
    if (times_.size() > kMost) Thin();
  }

  // The time of the last record below `position`, or of one a little earlier; none: not known.
  // Forgets older times.
  std::optional<UnixMs> Below(int64_t position) {
    const auto above = times_.upper_bound(position);
    if (above == times_.begin()) return std::nullopt;
    times_.erase(times_.begin(), std::prev(above));
    if (times_.size() == 1) step_ = kStep;
    return times_.begin()->second;
  }

 private:
  static constexpr UnixMs kStep = 1000;
  static constexpr size_t kMost = 1024;

  // Drops every second time, but never the oldest.
  void Thin() {
    for (auto at = std::next(times_.begin()); at != times_.end();) {
      at = times_.erase(at);
      if (at != times_.end()) ++at;
    }
    step_ *= 2;
  }

  UnixMs step_ = kStep;
  std::map<int64_t, UnixMs> times_;  // by end; the times grow with the ends
};

}  // namespace fanline::kafka
