// Table log1: the changes of forward edges and of friendships. A row is pending from the change's
// own transaction on. A mirror marks it done when everything that follows from the change is
// acknowledged. The functions throw MysqlError.
//
// Several mirrors may read side by side, because all they do is idempotent. A mirror must not read
// only above an id that it has saved: transactions do not commit in the order of their ids, and a
// late commit would be lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/change_log.h"

namespace fanline::mysql {

// The oldest `limit` pending rows above `after`, by id. `after` belongs to one pass over all
// pending rows, which begins at 0, and is never saved. With it, rows whose other shard is away do
// not hold up the rest. The cost does not depend on the number of done rows.
[[nodiscard]] std::vector<LoggedChange> PendingChanges(Connection& connection, uint64_t after,
                                                       uint32_t limit);
// The pending rows of one edge (src, dst) or one friendship (smaller id, other), oldest first, for
// a person who asks. It searches the oldest `most` pending rows, since log1 has no index on edges.
// *all: there were no more than `most`.
[[nodiscard]] std::vector<LoggedChange> PendingChangesOf(Connection& connection, ChangeKind kind,
                                                         const EdgeKey& edge, uint32_t most,
                                                         bool* all);
// Those of the rows `ids` that are pending; no order.
[[nodiscard]] std::vector<LoggedChange> PendingAmong(Connection& connection,
                                                     std::vector<uint64_t> ids);
// The next `limit` rows above `after`, by id, pending or done.
struct LoggedRow {
  LoggedChange change;
  bool done = false;
};
[[nodiscard]] std::vector<LoggedRow> ChangesBehind(Connection& connection, uint64_t after,
                                                   uint32_t limit);
// Idempotent. A row that was lost is skipped, even if another row has its id now.
void MarkChangesDone(Connection& connection, const std::vector<LogRow>& rows);

// Deletes done rows older than `keep`, oldest first, and returns their number; none that the log
// scan has not passed, once it has begun (log_scan.h). A mirror calls this now and then. `most`
// limits the rows, and with them the time and the undo log of one call.
uint64_t PurgeChanges(Connection& connection, std::chrono::seconds keep, uint32_t most);

}  // namespace fanline::mysql
