// Walks over all users whose counters can be checked: users with a row of user_rel or user_fan, and
// owners of rows that such a row should count. Blocking; for tools; one thread at a time.
//
// It goes shard by shard, ascending within each. A statement reads at most Limits::rows of each
// table and then skips the rest of the last owner, so an owner of millions of rows costs no more
// than others. A user who comes during the walk may be missed. Rows on a shard that is not their
// owner's are skipped, because no counter is kept there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

// The owners above `after` among the next `rows` rows of each table, ascending, including owners of
// other shards. `known`: the page has all owners up to this one, and only this one may own more
// rows than were read; none: the page is the last. Throws MysqlError.
struct OwnersPage {
  std::vector<UserId> owners;
  std::optional<UserId> known;
};
[[nodiscard]] OwnersPage ReadOwners(Connection& connection, UserId after, uint32_t rows);

class CounterWalk {
 public:
  struct Limits {
    uint32_t users = 250;   // returned at once
    uint32_t rows = 5'000;  // of one table, read by one statement
  };

  // `connections` and `map` outlive this.
  CounterWalk(ShardConnections& connections, const ShardMap& map, Limits limits)
      : connections_(connections), map_(map), limits_(limits) {}
  CounterWalk(ShardConnections& connections, const ShardMap& map)
      : CounterWalk(connections, map, Limits()) {}

  // Returns the next users, ascending, all of one shard. None: the walk is over. After a failure,
  // another call returns the same users.
  Status Next(std::vector<UserId>* users);

 private:
  Status ReadOwners();

  ShardConnections& connections_;
  const ShardMap& map_;
  const Limits limits_;
  Shard shard_ = 0;             // the shard to read next
  UserId last_{};               // owners of shard_ up to this one have been read
  std::vector<UserId> owners_;  // read; all of one shard
  size_t shown_ = 0;            // how many of owners_ were returned
};

}  // namespace fanline::mysql
