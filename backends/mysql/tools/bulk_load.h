// Loads a whole graph: following, follower and both counters of all shards, by LOAD DATA LOCAL in
// primary key order, all shards in parallel. It is for an installation without traffic, since it
// sets counters to the number of rows instead of adding to them. The servers need local_infile=ON.
//
// An edge that already exists stays as it is, live or not. Only if it is live and a delivery is
// given, that is changed, as any change: a mirror then writes the reverse row. LOAD DATA skips
// duplicates silently, so the numbers are compared afterwards: the rows that the shards report as
// taken, and the sums of the counters of both directions.
//
// Keeps all edges in memory, 56 bytes each. Linux only: a file in memory hands the rows to the
// client library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
    uint64_t chosen = 0;         // of `already_there`: their delivery was changed
    // Users who follow more than the limit, and the edges beyond it, among all users who follow
    // somebody, whether loaded now or before. These edges are loaded like any other.
    uint64_t users_over_limit = 0;
    uint64_t edges_over_limit = 0;
  };
  // The rows of both directions sent so far, and how many there are in all. Called on the loading
  // threads, one at a time.
  using Progress = std::function<void(uint64_t rows, uint64_t of)>;

  BulkLoader(const Config& config, const ShardMap& map, uint32_t most_followed = kMostFollowed)
      : config_(config), map_(map), most_followed_(most_followed) {}

  // Of an edge that is given more than once the last delivery counts.
  void Add(UserId src, UserId dst, std::optional<Delivery> delivery = {}) {
    edges_.push_back({{src, dst}, delivery});
  }

  // Loads the added edges, each once. `unix_us`: wall time in microseconds, which becomes the
  // edges' version and the time when their sources became followers. After an interruption or a
  // failure, load the same again.
  Status Load(uint64_t unix_us, const Progress& progress, Result* result);

  struct Given {
    EdgeKey key;
    std::optional<Delivery> delivery;  // none: as it is, kAll if the edge is new
  };

 private:
  const Config config_;
  const ShardMap map_;
  const uint32_t most_followed_;
  std::vector<Given> edges_;
};

}  // namespace fanline::mysql
