// The places of units under way, and with them the memory that these hold. Each way, from a MariaDB
// shard to a node of Redis, has places of its own: what hangs at one of its ends keeps these taken,
// and those of no other way.
//
// A unit of posts holds one page of followers. Its place is for a first page, a small one. A unit
// that goes on behind its first page may widen its place for a large one, as far as its way has
// large pages left; else it goes on with small ones. So nobody waits for a page, and the readers in
// all pages of a way are bounded by units * first page + large_pages * large page.
//
// More than `whole_ways` ways share what so many would have (each has one at least): all pages
// together are bounded however many shards and nodes there are.
//
// Once all places of a way were taken, they are given away again when a quarter of them is free:
// units that start together read the truth together, in few large statements instead of many small
// ones. No lane waits for slow units: after `refill_within` every free place is given away.
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
  uint32_t node = 0;  // of Redis, that holds the range
  friend auto operator<=>(const Way&, const Way&) = default;
};

class Places {
  struct Taken {
    size_t units = 0;
    size_t large_pages = 0;          // of these units
    std::optional<Time> full_since;  // all were taken, and were not given away since
  };

 public:
  // Of each way, while there are no more than `whole_ways`.
  struct Bounds {
    size_t units = 0;
    size_t large_pages = 0;
    size_t whole_ways = 1;
  };

  // A place that is taken, to its end. Must not outlive its Places.
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

  // So many ways there are. What is taken beyond a bound that shrinks is not taken again.
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
  // Whether a unit with this place may ask for a large page. It may until the place ends.
  [[nodiscard]] bool Widen(Place& place) {
    if (place.large_) return true;
    place.large_ = place.of_->large_pages < ShareOf(bounds_.large_pages);
    place.of_->large_pages += place.large_;
    return place.large_;
  }
  // Gives away what is due. Call it before gives().
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
  // When a free place will be given away that is not now.
  [[nodiscard]] std::optional<Time> timer() const {
    std::optional<Time> next;
    for (const auto& [way, taken] : taken_) {
      if (!taken.full_since || !has_room(way)) continue;
      next = Earlier(next, *taken.full_since + refill_within_);
    }
    return next;
  }

 private:
  // What one way has of what `each` of bounds_.whole_ways would have.
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
