// The places of units under way, which bound the memory that these hold. A way leads from a MariaDB
// shard to a node of Redis, and each has its own places. A shard or node that hangs keeps the
// places of its ways taken, and no others.
//
// A unit of posts holds one page of followers. Its place has room for a first page, which is small.
// A unit that goes on behind its first page may widen its place for large pages, if its way has one
// left; otherwise it goes on with small pages. So no unit waits for a page, and the readers in all
// pages of a way are bounded by units * first page + large_pages * large page.
//
// Up to `whole_ways` ways have the full bounds each. More ways share what `whole_ways` of them
// would have, but each has at least one place and one large page. So all pages together are bounded
// however many shards and nodes there are.
//
// Once all places of a way were taken, they are given away again when a quarter of them is free.
// Units that start together read the truth together, in few large statements instead of many small
// ones. After `refill_within` every free place is given away, so no lane waits for slow units.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline::pusher {

struct Way {
  Shard shard = 0;    // of the author
  uint32_t node = 0;  // of Redis, which holds the range
  friend auto operator<=>(const Way&, const Way&) = default;
};

class Places {
  struct Taken {
    size_t units = 0;
    size_t large_pages = 0;          // of these units
    std::optional<Time> full_since;  // all were taken then; free ones are held back since
  };

 public:
  // The bounds of each way, while there are at most `whole_ways` ways.
  struct Bounds {
    size_t units = 0;
    size_t large_pages = 0;
    size_t whole_ways = 1;
  };

  // A taken place; destroying it frees the place. Must not outlive its Places.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { Swap(other); }
    Place& operator=(Place&& other) noexcept {
      Swap(other);
      return *this;
    }
    ~Place() {
      if (of_ == nullptr) return;
      --of_->units;
      of_->large_pages -= large_;
    }

   private:
    friend Places;
    explicit Place(Taken* of) : of_(of) {}
    void Swap(Place& other) {
      std::swap(of_, other.of_);
      std::swap(large_, other.large_);
    }
    Taken* of_ = nullptr;
    bool large_ = false;
  };

  Places(const Bounds& bounds, Duration refill_within)
      : bounds_(bounds), refill_within_(refill_within) {}

  // Sets the number of ways. If that lowers a bound, what is taken beyond it stays taken until it
  // ends.
  void SetWays(size_t ways) { ways_ = ways; }

  [[nodiscard]] bool has_room(const Way& way) const {
    const auto taken = taken_.find(way);
    return taken == taken_.end() || taken->second.units < ShareOf(bounds_.units);
  }
  // Whether a free place is given away now.
  [[nodiscard]] bool gives(const Way& way) const {
    const auto taken = taken_.find(way);
    return taken == taken_.end() || (has_room(way) && !taken->second.full_since);
  }
  [[nodiscard]] Place Take(const Way& way, Time now) {
    Taken& taken = taken_[way];
    if (++taken.units >= ShareOf(bounds_.units)) taken.full_since = now;
    return Place(&taken);
  }
  // Whether a unit with this place may ask for large pages. If so, it may until the place ends.
  [[nodiscard]] bool Widen(Place& place) {
    if (place.large_) return true;
    place.large_ = place.of_->large_pages < ShareOf(bounds_.large_pages);
    place.of_->large_pages += place.large_;
    return place.large_;
  }
  // Stops holding back free places where that is due. Call it before gives().
  void Refill(Time now) {
    std::erase_if(taken_, [](const auto& entry) { return entry.second.units == 0; });
    const size_t most = ShareOf(bounds_.units);
    for (auto& [way, taken] : taken_) {
      if (!taken.full_since) continue;
      if (taken.units <= most / 4 * 3 || now >= *taken.full_since + refill_within_) {
        taken.full_since.reset();
      }
    }
  }
  // When the next free place that is held back will be given away.
  [[nodiscard]] std::optional<Time> timer() const {
    std::optional<Time> next;
    for (const auto& [way, taken] : taken_) {
      if (!taken.full_since || !has_room(way)) continue;
      next = Earlier(next, *taken.full_since + refill_within_);
    }
    return next;
  }

 private:
  // One way's share of a bound of which `whole_ways` ways would have `each`.
  size_t ShareOf(size_t each) const {
    if (ways_ <= bounds_.whole_ways) return each;
    return std::max<size_t>(1, each * bounds_.whole_ways / ways_);
  }

  const Bounds bounds_;
  const Duration refill_within_;
  size_t ways_ = 0;
  std::map<Way, Taken> taken_;
};

}  // namespace fanline::pusher
