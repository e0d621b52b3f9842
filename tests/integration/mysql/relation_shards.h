// Shards seen as relations: rows of both directions and their counters, read past the code under
// test, and the invariants that hold between them.
#pragma once

#include <set>
#include <string>

#include "fanline/model/edge.h"
#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {

class RelationShards : public Shards {
 public:
  // The row of one edge as "ver state pos", "-" for none.
  std::string Forward(UserId src, UserId dst);
  std::string Reverse(UserId src, UserId dst);
  int64_t FollowingCount(UserId user);
  int64_t FansCount(UserId user);
  int64_t PendingChanges() { return Total("SELECT COUNT(*) FROM log1 WHERE done = 0"); }

  // All rows of one direction, tombstones too, as "src dst ver state pos".
  std::set<std::string> Rows(const std::string& table);

  // Every counter says how many live rows there are, and none is below zero.
  void ExpectCountersMatchRows();
  // Forward and reverse rows say the same, and counters match.
  void ExpectConsistent();

 private:
  std::string RowOf(UserId owner, const std::string& table, UserId src, UserId dst);
};

}  // namespace fanline::mysql
