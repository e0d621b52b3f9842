// Walks over all users whose counters can be checked: users with a row of user_rel or user_fan, and
// owners of rows that such a row should count. Blocking; for tools; one thread at a time.
//
// Shard after shard, ascending within each. A statement reads at most Limits::rows of each table
// and then jumps over the rest of the last owner, so an owner of millions costs no more than
// others. Users who come during the walk may or may not be met. Rows on a shard that is not their
// owner's are passed over: no counter is asked there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

// The owners above `after` among the next `rows` rows of each table, ascending. Owners of another
// shard are among them. `known`: the page has all owners up to it, and it alone may own more rows
// than were read; none: the page is the last. Throws MysqlError.
struct OwnersPage {
  std::vector<UserId> owners;
  std::optional<UserId> known;
};
[[nodiscard]] OwnersPage ReadOwners(Connection& connection, UserId after, uint32_t rows);

class CounterWalk {
 public:
  struct Limits {
    uint32_t users = 250;   // that come at once
    uint32_t rows = 5'000;  // of one table that one statement reads
  };

  // `connections` and `map` outlive this.
  CounterWalk(ShardConnections& connections, const ShardMap& map, Limits limits)
      : connections_(connections), map_(map), limits_(limits) {}
  CounterWalk(ShardConnections& connections, const ShardMap& map)
      : CounterWalk(connections, map, Limits()) {}

  // The next users, ascending, all of one shard; none: the walk is over. After a failure, call it
  // again for the same users.
  Status Next(std::vector<UserId>* users);

 private:
  Status ReadOwners();

  ShardConnections& connections_;
  const ShardMap& map_;
  const Limits limits_;
  Shard shard_ = 0;             // the one whose owners are read next
  UserId last_{};               // owners of shard_ up to it have been read
  std::vector<UserId> owners_;  // read, all of one shard
  size_t shown_ = 0;            // of owners_
};

}  // namespace fanline::mysql
