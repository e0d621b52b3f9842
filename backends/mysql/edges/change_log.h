// Table log1: the changes of forward edges and of friendships. A row is pending from the change's
// own transaction on. A mirror marks it done when everything that follows from the change is
// acknowledged. Blocking; one thread at a time.
//
// Several mirrors may read side by side, since all they do is idempotent. A mirror must not read
// only above an id it has saved: transactions do not commit in the order of their ids, and one that
// commits late would be lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/ports/change_log.h"

namespace fanline::mysql {

// ReadPending and MarkDone of ChangeLog, on a connection to the shard. Throw MysqlError.
[[nodiscard]] std::vector<LoggedChange> PendingChanges(Connection& connection, uint64_t after,
                                                       uint32_t limit);
// The highest id of any row; 0: there is none. Throws MysqlError.
[[nodiscard]] uint64_t NewestChange(Connection& connection);
// Those of the rows `ids` that are pending; no order. Throws MysqlError.
[[nodiscard]] std::vector<LoggedChange> PendingAmong(Connection& connection,
                                                     std::vector<uint64_t> ids);
void MarkChangesDone(Connection& connection, const std::vector<LogRow>& rows);

// Deletes done rows older than `keep`, oldest first, and returns how many. `most` bounds their
// number, and with it the time and the undo of one call. A mirror calls this now and then. Rows
// within the longest scan window may still be needed: `keep` must not be shorter. Throws
// MysqlError.
uint64_t PurgeChanges(Connection& connection, std::chrono::seconds keep, uint32_t most);

class ChangeLog {
 public:
  // `connections` outlives this.
  explicit ChangeLog(ShardConnections& connections) : connections_(connections) {}

  // The oldest `limit` pending rows above `after`, by id. `after` is for one pass over all pending
  // rows (0 begins it) and is never saved: rows whose other shard is away do not hold up the rest.
  // The number of done rows does not matter to the cost.
  Status ReadPending(Shard shard, uint64_t after, uint32_t limit, std::vector<LoggedChange>* out);

  // The pending rows of one edge (src, dst) or one friendship (smaller id, other), oldest first,
  // for a person who asks about it. Looks at the oldest `most` pending rows, since no index knows
  // an edge. *all: there were no more than `most`.
  Status ReadPendingOf(Shard shard, ChangeKind kind, const EdgeKey& edge, uint32_t most,
                       std::vector<LoggedChange>* out, bool* all);

  // Repeating it changes nothing. A row that was lost is skipped, even if another now has its id.
  Status MarkDone(Shard shard, const std::vector<LogRow>& rows);

 private:
  ShardConnections& connections_;
};

}  // namespace fanline::mysql
