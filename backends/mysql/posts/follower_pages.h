// Pages of followers: many small lists in one statement, a big list page by page.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/truth.h"

namespace fanline::mysql {

struct PageQuery {
  UserId author{};
  Range range = 0;
  std::optional<FollowerCursor> after;
  uint32_t limit = 0;  // > 0
};

struct FollowersPage {
  std::vector<UserId> followers;       // live edges, in (bucket, reader) order
  std::optional<FollowerCursor> next;  // none: that was the last page
};

struct PageReaderLimits {
  size_t rows_per_statement = 32'768;  // bounds how long one statement keeps the others waiting
};

// Answers in the order of `queries`, whose authors lie on the connection's shard. First pages
// (`after` none) are merged: up to kAuthorsLimit of them share a statement, whatever their ranges,
// and an author asked for in neighbouring ranges counts once and costs one seek. When a statement
// is cut at its row bound, pages read in full stand and the rest is read again. An author who alone
// exceeds a page is from then on read one range at a time. Throws MysqlError.
std::vector<FollowersPage> ReadFollowerPages(Connection& connection, const RangeLayout& layout,
                                             const std::vector<PageQuery>& queries,
                                             PageReaderLimits limits = {});

}  // namespace fanline::mysql
