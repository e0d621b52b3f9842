// Changes of forward edges, the truth of who follows whom: row, version, counter and log1 row in
// one transaction (schemas/sql/change_edge.sql). Whoever relays log1 then writes the reverse row.
// Blocking; one thread at a time.
//
// Idempotent: what is so already is not written again. When a connection is lost while a change is
// being committed, the change is asked for again, and the answer is then that it was so already.
#pragma once

#include <cstdint>

#include "backends/mysql/shard_connections.h"
#include "fanline/bucket.h"
#include "fanline/edge.h"

namespace fanline::mysql {

// Who asked for a change. One that comes from elsewhere carries the version it was given there;
// a version that is not higher than the last one of that origin is a change already made.
enum class Origin { kUser = 0, kApplication = 1, kFriendship = 2 };

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

class ForwardEdges {
 public:
  // A user follows at most so many. Friendships are not held to it: both sides agreed, and one half
  // of a friendship would be worse. They count all the same.
  static constexpr uint32_t kMostFollowed = 5'000;

  // `connections` and `map` outlive this.
  ForwardEdges(ShardConnections& connections, const ShardMap& map,
               uint32_t most_followed = kMostFollowed)
      : connections_(connections), map_(map), most_followed_(most_followed) {}

  // Never: an id that is no id, somebody who would follow themselves, or over the limit.
  // `log_id`, when given, is set to the row of log1 (0: none was written), at the cost of a
  // statement: for whoever writes the reverse row at once and then marks it done.
  [[nodiscard]] Status Change(const EdgeChange& change, ForwardChanged* out,
                              uint64_t* log_id = nullptr);

 private:
  ShardConnections& connections_;
  const ShardMap& map_;
  const uint32_t most_followed_;
};

// Done, or why src cannot follow dst, ever.
Status CheckEdgeIds(UserId src, UserId dst);

}  // namespace fanline::mysql
