// Everybody who has counters to be looked at: users with a row of user_rel or user_fan, and owners
// of rows that such a row should count. Blocking; for tools; one thread at a time.
//
// Shard after shard, ascending within each. A statement reads so many rows of each table at most
// and then jumps over what is left of the last owner, so one with millions of rows costs no more
// than others. Who comes while the walk goes on is met or not. Rows on a shard that is not their
// owner's are passed over: no counter is asked there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

// The owners above `after` among the next `rows` rows of each table, ascending. `known`: all up to
// it are among them, and it alone may own more rows than were read; none: those were the last. Also
// owners whose shard is another: no counter is asked there. Throws MysqlError.
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

  // The next users, ascending, all of one shard; none: that was all. When it fails it may be called
  // again for the same users.
  Status Next(std::vector<UserId>* users);

 private:
  Status ReadOwners();

  ShardConnections& connections_;
  const ShardMap& map_;
  const Limits limits_;
  Shard shard_ = 0;             // whose owners are read next
  UserId last_{};               // of them: those up to it have been read
  std::vector<UserId> owners_;  // read, all of one shard
  size_t shown_ = 0;            // of owners_
};

}  // namespace fanline::mysql
