// The times of the records that were read, of one partition, in steps of a second or more. A commit
// carries the time of the last record below it: should the log lose its tail, that says how far
// back it is to be read again. Bounded; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "fanline/base/time.h"

namespace fanline::kafka {

// How much earlier than others a record may be stamped that is written after them: clocks differ,
// and producers try again.
inline constexpr UnixMs kLateStamps = 3'600'000;

class ReadTimes {
 public:
  // The record before `end` is of `timestamp`; 0 and less: unknown. Ends come in order, but for
  // seeks. A time ahead of our clock counts as `now`.
  void Read(int64_t end, UnixMs timestamp, UnixMs now) {
    if (timestamp <= 0) return;
    times_.erase(times_.lower_bound(end), times_.end());  // read before a seek
    const UnixMs at = std::min(timestamp, now);
    // Stamped later than this one, though read before it: they count as no later.
    for (; !times_.empty() && times_.rbegin()->second > at; times_.erase(std::prev(times_.end())))
      end = times_.rbegin()->first;
    if (!times_.empty() && at < times_.rbegin()->second + step_) return;
    times_.emplace_hint(times_.end(), end, at);
    if (times_.size() > kMost) Thin();
  }

  // The time of the last record below `position`, or of one that was read a little earlier; none
  // when nothing is known. Forgets what is older.
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

  // Drops every second one, but never the oldest.
  void Thin() {
    for (auto at = std::next(times_.begin()); at != times_.end();) {
      at = times_.erase(at);
      if (at != times_.end()) ++at;
    }
    step_ *= 2;
  }

  UnixMs step_ = kStep;
  std::map<int64_t, UnixMs> times_;  // by end; they grow with the ends
};

}  // namespace fanline::kafka
