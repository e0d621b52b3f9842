// When the records of one partition were written: for how long the oldest one that is not read has
// been there, and until when the others were read. Bounded; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "fanline/base/time.h"

namespace fanline::kafka {

using TimesByEnd = std::map<int64_t, UnixMs>;  // the times grow with the ends

// Drops every second time when there are too many, but never the oldest. Returns whether it did.
inline bool ThinOut(TimesByEnd& times) {
  if (times.size() <= 1024) return false;
  for (auto at = std::next(times.begin()); at != times.end() && std::next(at) != times.end();)
    at = std::next(times.erase(at));
  return true;
}

// How long the oldest record at or behind a position has been in its log, computed from observed
// log ends and the timestamps of delivered records. The age keeps growing while nothing is read.
//
// The age is a lower bound: a record written before the first look counts from that look, or from
// its timestamp once it is delivered.
class LagMarks {
 public:
  // At time `at` all records below `end` were in the log. Calls may come in any order. 0: unknown.
  void Existed(int64_t end, UnixMs at) {
    if (at <= 0) return;
    const auto above = marks_.lower_bound(end);
    if (above != marks_.end() && above->second <= at) return;  // known to be older
    const auto from = marks_.upper_bound(end);
    // Lower marks that are not older are redundant.
    auto first = from;
    while (first != marks_.begin() && std::prev(first)->second >= at) --first;
    marks_.erase(first, from);
    marks_.emplace(end, at);
    // Ages of positions that move on become a little too low. One that stands still keeps its own.
    ThinOut(marks_);
  }

  // Since when the log has had a record at `position`; `now` when none is known. Forgets all marks
  // below `position`: a position that moves back counts from the next look.
  UnixMs Since(int64_t position, UnixMs now) {
    marks_.erase(marks_.begin(), marks_.upper_bound(position));
    return marks_.empty() ? now : std::min(now, marks_.begin()->second);
  }

 private:
  TimesByEnd marks_;
};

// How much older a record's timestamp may be than those of the records before it: clocks differ,
// and producers retry.
inline constexpr UnixMs kLateStamps = 3'600'000;

// When the records that were read were written, in steps of a second or more. A commit carries the
// time of the last record below it: if the log loses its tail, that time tells from where to read
// again.
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
    if (ThinOut(times_)) step_ *= 2;
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

  UnixMs step_ = kStep;
  TimesByEnd times_;
};

}  // namespace fanline::kafka
