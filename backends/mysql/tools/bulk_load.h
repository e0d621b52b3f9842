// Loads a graph at once: following, follower and both counters of all shards, by LOAD DATA LOCAL in
// primary key order, all shards in parallel. For an installation without traffic: counters are set
// to the number of rows, not added to. Needs local_infile=ON on the servers.
//
// An edge that is already there is left as it is, live or not. LOAD DATA passes over duplicates
// silently, so the numbers are compared afterwards: the rows the shards say they took, and the sums
// of the counters of both directions.
//
// Keeps all edges in memory, 40 bytes each. Linux only: a file in memory hands the rows to the
// client library.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/mysql/sql/config.h"
#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/forward_edges.h"

namespace fanline::mysql {

class BulkLoader {
 public:
  struct Result {
    uint64_t edges = 0;          // distinct edges given
    uint64_t repeated = 0;       // given more than once
    uint64_t already_there = 0;  // of `edges`
    // Of all who follow somebody, loaded now or there before: who follows more users than may be,
    // and how many edges these are beyond the limit. They are loaded like any other.
    uint64_t users_over_limit = 0;
    uint64_t edges_over_limit = 0;
  };
  // Rows of both directions sent so far, of all. Called from the loading threads, one at a time.
  using Progress = std::function<void(uint64_t rows, uint64_t of)>;

  BulkLoader(const Config& config, const ShardMap& map, uint32_t most_followed = kMostFollowed)
      : config_(config), map_(map), most_followed_(most_followed) {}

  void Add(UserId src, UserId dst) { edges_.push_back({src, dst}); }

  // Loads what was added, once. `unix_us`: wall time in microseconds: the edges' version, and the
  // time their sources became followers. Interrupted or failed: load the same again.
  Status Load(uint64_t unix_us, const Progress& progress, Result* result);

 private:
  const Config config_;
  const ShardMap map_;
  const uint32_t most_followed_;
  std::vector<EdgeKey> edges_;
};

}  // namespace fanline::mysql
