// Changes of forward edges, the truth of who follows whom: the request and its result. A change
// writes row, version, counter and log1 row in one transaction on the shard of src
// (schemas/sql/{change,follow_new}_edge.sql). Idempotent: a state that already holds is not written
// again.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "fanline/base/outcome.h"
#include "fanline/model/edge.h"
#include "fanline/model/ids.h"

namespace fanline {

// Who asked for a change. An application's or a friendship's change carries its origin's version.
// If that is not higher than the origin's last one, the change was already made. A repair carries
// the row's own version.
enum class Origin { kUser = 0, kApplication = 1, kFriendship = 2, kRepair = 3 };

// The default for how many a user may follow; friendships count. A friendship is held to it when it
// is accepted. The edges of an accepted one are never refused: half a friendship would be worse.
inline constexpr uint32_t kMostFollowed = 5'000;

// How many changes a user may make in an hour: follows, unfollows, choices of what a follow brings,
// friend requests, acceptances.
// All may come at once; then they are allowed again one by one, evenly over the hour. Changes of
// other origins do not count. This lets a user reach the limit of followed users in half a day,
// which nobody does by hand. A program that follows and unfollows strangers would leave rows that
// are never removed. change_edge.sql has the same rule.
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
  // What a follow brings. None: as it is, kAll for a new follow. An unfollow resets it.
  std::optional<Delivery> delivery = {};
  bool also_follows = false;  // a user who names it follows too, by the same change
  // When it was asked for, if that may be long ago; 0: now. What is older than the horizon of the
  // shard (tombstones.h) is refused.
  UnixMs since = 0;

  // A user who names it changes it alone, and only if src follows dst. That settles nothing that
  // was announced of a friendship, since it says nothing of whether to follow.
  bool chooses() const {
    return live && origin == Origin::kUser && delivery.has_value() && !also_follows;
  }
};

// The two changes that a changed friendship causes, each with the pair's version. Both carry the
// time of the agreement, not of the write, so both edges get the same place in the lists.
inline std::array<EdgeChange, 2> EdgesOfFriendship(const Edge& pair) {
  EdgeChange one{.src = pair.src,
                 .dst = pair.dst,
                 .live = pair.live,
                 .unix_us = static_cast<uint64_t>(pair.pos) * 1000,
                 .origin = Origin::kFriendship,
                 .origin_version = pair.ver};
  EdgeChange other = one;
  std::swap(other.src, other.dst);
  return {one, other};
}

struct ForwardChanged {
  Edge edge;  // as it is now; ver 0: there is no row. ver is the token of freshness for readers
  // May be false after a connection was lost while this very change was being committed.
  bool changed = false;
  bool over_limit = false;  // with Never: src already follows the maximum
  // With Never: src has used up its changes of the hour; the next is allowed after this time.
  std::optional<std::chrono::seconds> again_in = {};
  // An unfollow took the counter below zero. The counter had drifted before and needs a recount.
  bool below_zero = false;

  // The row already had this state. Its reverse row is worth a check: the repetition of an
  // interrupted change looks the same.
  bool worth_a_check() const { return !changed && edge.ver > 0; }
};

struct ChangeEdge {
  using Reply = struct EdgeChanged;
  uint64_t id = 0;
  EdgeChange change;
};
struct EdgeChanged {
  uint64_t id = 0;
  Status status;  // kNever: the ids are invalid, src is at a limit, or the change is too old
  ForwardChanged forward;
};

}  // namespace fanline
