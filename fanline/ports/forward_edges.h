// Changes of forward edges, the truth of who follows whom: what is asked for and what came of it.
// Row, version, counter and log1 row are one transaction
// on the shard of src (schemas/sql/{change,follow}_edge.sql). Idempotent: what is so already is not
// written again.
#pragma once

#include <cstdint>

#include "fanline/base/outcome.h"
#include "fanline/model/edge.h"
#include "fanline/model/ids.h"

namespace fanline {

// Who asked for a change. One that comes from elsewhere carries the version it was given there;
// a version that is not higher than the last one of that origin is a change already made. Of a
// repair it is the row's own version.
enum class Origin { kUser = 0, kApplication = 1, kFriendship = 2, kRepair = 3 };

// A user follows at most so many, unless the operator says otherwise. Friendships are not held to
// it: both sides agreed, and one half of a friendship would be worse. They count all the same.
inline constexpr uint32_t kMostFollowed = 5'000;

struct EdgeChange {
  UserId src{};
  UserId dst{};
  bool live = false;     // follow, or unfollow
  uint64_t unix_us = 0;  // wall time; keeps versions roughly time-like, order does not rest on it
  Origin origin = Origin::kUser;
  uint64_t origin_version = 0;
};

struct ForwardChanged {
  Edge edge;  // as it is now; ver 0: there is no row. ver is the token of freshness for readers
  // May be false after a connection was lost while this very change was being committed.
  bool changed = false;
  bool over_limit = false;  // with Never: src follows as many as there may be
  // An unfollow took the counter below zero, so it had drifted before: it is to be recounted.
  bool below_zero = false;

  // It was so already, and there is a row: whether its reverse agrees is worth a look, for a change
  // that was interrupted and is now asked for again looks just like this.
  bool worth_a_check() const { return !changed && edge.ver > 0; }
};

struct ChangeEdge {
  using Reply = struct EdgeChanged;
  uint64_t id = 0;
  EdgeChange change;
};
struct EdgeChanged {
  uint64_t id = 0;
  Status status;  // kNever: no ids of an edge, or over the limit
  ForwardChanged forward;
};

}  // namespace fanline
