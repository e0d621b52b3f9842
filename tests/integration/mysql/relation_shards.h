// Shards seen as relations: the rows of both directions and their counters, read without the code
// under test, and the invariants between them.
#pragma once

#include <set>
#include <string>

#include "fanline/model/edge.h"
#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {

constexpr uint64_t kNow = 1'700'000'000'000'000;  // when tests change something, in microseconds

class RelationShards : public Shards {
 public:
  // The row of one edge as "ver state pos", "-" for none.
  std::string Forward(UserId src, UserId dst);
  std::string Reverse(UserId src, UserId dst);
  int64_t FollowingCount(UserId user);
  int64_t FansCount(UserId user);
  int64_t PendingChanges() { return Total("SELECT COUNT(*) FROM log1 WHERE done = 0"); }

  // All rows of one direction, including tombstones, as "src dst ver state pos delivery".
  std::set<std::string> Rows(const std::string& table);

  // Every counter is the number of live rows, and none is below zero.
  void ExpectCountersMatchRows();
  // Forward and reverse rows agree, and the counters match.
  void ExpectConsistent();

 private:
  std::string RowOf(UserId owner, const std::string& table, UserId src, UserId dst);
};

}  // namespace fanline::mysql
