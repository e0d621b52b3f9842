// How long the oldest record at or behind a position has been in its log, computed from observed
// log ends and the timestamps of delivered records. The age keeps growing while nothing is read.
//
// The age is a lower bound: a record written before the first look counts from that look, or from
// its timestamp once it is delivered. Bounded; not thread-safe.
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
    if (marks_.size() > kMost) Thin();
  }

  // Since when the log has had a record at `position`; `now` when none is known. Forgets all marks
  // below `position`: a position that moves back counts from the next look.
  UnixMs Since(int64_t position, UnixMs now) {
    marks_.erase(marks_.begin(), marks_.upper_bound(position));
    return marks_.empty() ? now : std::min(now, marks_.begin()->second);
  }

 private:
  static constexpr size_t kMost = 1024;

  // Drops every second mark, but never the oldest, which gives the age of a position that stands
  // still. Ages of later positions become a little too low.
  void Thin() {
    for (auto mark = std::next(marks_.begin());
         mark != marks_.end() && std::next(mark) != marks_.end();)
      mark = std::next(marks_.erase(mark));
  }

  std::map<int64_t, UnixMs> marks_;  // by end; the times grow with the ends
};

}  // namespace fanline::kafka
