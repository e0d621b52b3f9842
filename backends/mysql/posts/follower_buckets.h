// The buckets of an author's followers, read after the author's post was committed. A dispatcher
// leaves out the ranges that hold none of them.
//
// Nobody is missed: a user who follows after this read commits the row after the post's row. The
// hint `sync` of that follow is appended even later and finds the post. This needs a read on the
// connection that committed the post, after the commit is acknowledged, and in autocommit. An older
// snapshot or another server might lack a follower whose `sync` has not found the post.
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
  // Each bucket once, ascending. An author who is missing here may have followers in any bucket.
  std::map<UserId, std::vector<Bucket>> whole;
  Status status;  // of the reads; if not done, `whole` has the authors read before the failure
};

// Reads the live followers of those of `counters` whose counter is at most `most`. The counters (0:
// none) only select the authors to read, for they may be wrong. One statement reads up to
// kAuthorsLimit authors, and somewhat more rows than their counters add up to. If a statement
// reaches this row limit, its authors are not in the result. Never throws MysqlError, since the
// post is committed whether or not this read succeeds.
[[nodiscard]] FollowerBuckets ReadFollowerBuckets(Connection& connection,
                                                  const std::map<UserId, uint64_t>& counters,
                                                  uint32_t most);

}  // namespace fanline::mysql
