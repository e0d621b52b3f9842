// How long the oldest record behind a position has been in its log, as far as somebody looked: from
// the ends of the log that were seen and the timestamps of records that were delivered. Nothing
// needs to be read for it, so it goes on growing while nothing is read.
//
// A lower bound: what was written before the first look counts from that look, or from its
// timestamp once it is delivered. Bounded; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "fanline/base/time.h"

namespace fanline::kafka {

class LagMarks {
 public:
  // At `at` all records below `end` were in the log. Any order; 0: a record without a timestamp.
  void Existed(int64_t end, UnixMs at) {
    if (at <= 0) return;
    const auto above = marks_.lower_bound(end);
    if (above != marks_.end() && above->second <= at) return;  // known to be older
    const auto from = marks_.upper_bound(end);
    // What says less than this one goes.
    auto first = from;
    while (first != marks_.begin() && std::prev(first)->second >= at) --first;
    marks_.erase(first, from);
    marks_.emplace(end, at);
    if (marks_.size() > kMost) Thin();
  }

  // Since when a record at `position` has been there; `now` when none is known to be. All below
  // `position` is forgotten: it may move back, and then counts from the next look.
  UnixMs Since(int64_t position, UnixMs now) {
    marks_.erase(marks_.begin(), marks_.upper_bound(position));
    return marks_.empty() ? now : std::min(now, marks_.begin()->second);
  }

 private:
  static constexpr size_t kMost = 1024;

  // Every second one but the oldest, by which a position that stands still is told: ages of later
  // positions are then told a little too low.
  void Thin() {
    for (auto mark = std::next(marks_.begin());
         mark != marks_.end() && std::next(mark) != marks_.end();)
      mark = std::next(marks_.erase(mark));
  }

  std::map<int64_t, UnixMs> marks_;  // by end; the times grow with the ends
};

}  // namespace fanline::kafka
