// Reads pages of followers: many small lists in one statement, a large list page by page.
#pragma once

#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/truth.h"

namespace fanline::mysql {

struct PageReaderLimits {
  size_t rows_per_statement = 32'768;  // bounds how long one statement delays the others
  size_t rows_merged = 1'000;          // a first page that may have more is read by itself
};

// Returns the pages in the order of `queries`, whose authors lie on the connection's shard; each
// asks for one follower at least. First pages (`after` none) are merged: up to kAuthorsLimit of
// them share a statement, whatever their ranges. An author in neighbouring ranges counts once and
// costs one seek. If a statement reaches its row limit, the pages read in full are kept and the
// rest is read again, half as many authors at a time: where one celebrity is, there may be more,
// and each takes all rows of a statement. An author who alone exceeds a page is read one range at a
// time from then on. Throws MysqlError.
std::vector<FollowerPage> ReadFollowerPages(Connection& connection, const RangeLayout& layout,
                                            const std::vector<ReadFollowerPage>& queries,
                                            PageReaderLimits limits = {});

}  // namespace fanline::mysql
