// Changes of forward edges, the truth of who follows whom: the request and its result. A change
// writes row, version, counter and log1 row in one transaction on the shard of src
// (schemas/sql/{change,follow}_edge.sql). Idempotent: a state that holds already is not written
// again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "fanline/base/outcome.h"
#include "fanline/model/edge.h"
#include "fanline/model/ids.h"

namespace fanline {

// Who asked for a change. An application's or a friendship's change carries the version it has
// there. A version that is not higher than the last one of that origin is a change already made.
// A repair carries the row's own version.
enum class Origin { kUser = 0, kApplication = 1, kFriendship = 2, kRepair = 3 };

// A user follows at most so many, unless the operator says otherwise. Friendships count. They are
// held to it when they are accepted; the edges of one that was accepted are never refused, for one
// half of a friendship would be worse.
inline constexpr uint32_t kMostFollowed = 5'000;

// How much a user may change within an hour: follow, unfollow, ask for a friendship or accept one.
// So many at once, and then one more each time that its part of an hour has passed. Changes of
// other origins are not counted. Enough to follow as many as may be in half a day, which nobody
// does by hand; a program that follows and unfollows strangers leaves rows that are never removed.
// change_edge.sql says the same.
constexpr uint32_t ChangesAnHour(uint32_t most_followed) {
  return std::max(400u, most_followed / 12);
}

struct EdgeChange {
  UserId src{};
  UserId dst{};
  bool live = false;     // follow, or unfollow
  uint64_t unix_us = 0;  // wall time, which versions roughly follow; no order depends on it
  Origin origin = Origin::kUser;
  uint64_t origin_version = 0;
};

struct ForwardChanged {
  Edge edge;  // as it is now; ver 0: there is no row. ver is the token of freshness for readers
  // May be false after a connection was lost while this very change was being committed.
  bool changed = false;
  bool over_limit = false;  // with Never: src follows as many as there may be
  // With Never: src has made all changes of an hour; the next is allowed after so long.
  std::optional<std::chrono::seconds> again_in = {};
  // An unfollow took the counter below zero. It had drifted before and needs a recount.
  bool below_zero = false;

  // The row was there and said so already. A check of its reverse row is worthwhile: a repetition
  // of an interrupted change looks just like this.
  bool worth_a_check() const { return !changed && edge.ver > 0; }
};

struct ChangeEdge {
  using Reply = struct EdgeChanged;
  uint64_t id = 0;
  EdgeChange change;
};
struct EdgeChanged {
  uint64_t id = 0;
  Status status;  // kNever: the ids are no edge's, or src is at a limit
  ForwardChanged forward;
};

}  // namespace fanline
