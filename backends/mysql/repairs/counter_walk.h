// All users whose counters can be checked: users with a row of user_rel or user_fan, and owners of
// rows that such a row should count.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

// The users of the connection's shard above `after`, ascending, among the owners of the next `rows`
// rows of each table. Rows on a shard that is not their owner's are skipped, because no counter is
// kept there. `known`: the page has all owners up to this one, and only this one may own more rows
// than were read; none: the page is the last. A walk goes on above `known`, so an owner of millions
// of rows costs no more than others. A user who comes during the walk may be missed. Throws
// MysqlError.
struct OwnersPage {
  std::vector<UserId> owners;
  std::optional<UserId> known;
};
[[nodiscard]] OwnersPage ReadOwners(Connection& connection, const ShardMap& map, UserId after,
                                    uint32_t rows = 5'000);

}  // namespace fanline::mysql
