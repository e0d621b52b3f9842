// Table `author_mode`: how new posts of an author reach timelines
// (docs/decisions/0027-authors-merged-at-read.md). The functions throw MysqlError.
#pragma once

#include <functional>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

struct AuthorMode {
  bool pull = false;       // new posts are merged at read; else pushed
  bool marked = false;     // some posts are merged at read, or may be; for good
  bool announced = false;  // and live timelines of followers were told
};

// On a connection to the author's shard. Without a row: pushed, as it was never otherwise.
[[nodiscard]] AuthorMode ReadAuthorMode(Connection& connection, UserId author);
// Holds for posts whose rows are made from now on. Idempotent.
void SetAuthorMode(Connection& connection, UserId author, bool pull);

// Every marked author of a shard, for an audit. Pages, as in sql/scan.h.
Status ScanMarkedAuthors(ShardConnections& connections, Shard shard,
                         const std::function<void(UserId author, bool announced)>& each);

}  // namespace fanline::mysql
