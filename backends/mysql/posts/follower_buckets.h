// Where an author's followers are, read after the author's post was committed, so that a dispatcher
// can leave out the ranges that hold none of them.
//
// Why nobody is missed: whoever follows after this read committed the row after the post's, and the
// hint `sync` of that follow, appended later still, finds the post. So read on the connection that
// committed the post, after the commit is acknowledged, and in autocommit: a snapshot from before,
// or another server, may lack a follower whose `sync` has found no post yet.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

struct FollowerBuckets {
  // Each bucket once, ascending. An author who is missing here may be followed from anywhere.
  std::map<UserId, std::vector<Bucket>> whole;
  Status status;  // of the reads: not done, and the authors read by then are in `whole`
};

// Reads the live followers of those of `counters` whose counter says at most `most`. The counters
// (0: none) only choose whom to read: they may be wrong. One statement reads up to kAuthorsLimit
// authors, and a few more rows than their counters promise. One that met this bound is believed of
// nobody. Never throws MysqlError: the post is committed, whatever becomes of this read.
[[nodiscard]] FollowerBuckets ReadFollowerBuckets(Connection& connection,
                                                  const std::map<UserId, uint64_t>& counters,
                                                  uint32_t most);

}  // namespace fanline::mysql
