// Table log1: what was changed and may still have to be relayed. Each change of a forward edge, and
// each of a friendship, is pending from its own transaction on until whoever relays it marks it
// done, after all that follows from it was acknowledged. Blocking; one thread at a time.
//
// A relay asks for what is pending, from the oldest, again and again; several may do so side by
// side, for what they do is idempotent. It must not ask for what is above an id it has saved:
// transactions do not commit in the order of their ids, and one that commits late would be lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/ports/change_log.h"

namespace fanline::mysql {

// The same on a connection to the shard. Throw MysqlError.
[[nodiscard]] std::vector<LoggedChange> PendingChanges(Connection& connection, uint64_t after,
                                                       uint32_t limit);
void MarkChangesDone(Connection& connection, const std::vector<LogRow>& rows);

// Deletes rows that are done and older than `keep`, oldest first, at most `most` of them: bounds
// how long one call takes and what it leaves to undo. Returns how many. Called now and then by
// whoever relays. The youngest row that may be needed is as old as the longest scan window. Throws
// MysqlError.
uint64_t PurgeChanges(Connection& connection, std::chrono::seconds keep, uint32_t most);

class ChangeLog {
 public:
  // `connections` outlives this.
  explicit ChangeLog(ShardConnections& connections) : connections_(connections) {}

  // The oldest `limit` pending rows above `after`, by id. `after` is for one pass over all that is
  // pending (0 begins it), so that rows whose other shard is away do not stand before the rest; it
  // is never saved. Cheap whatever the number of rows that are done.
  Status ReadPending(Shard shard, uint64_t after, uint32_t limit, std::vector<LoggedChange>* out);

  // What waits of one edge (src, dst) or of one friendship (smaller id, other), oldest first, for a
  // person who asks about it. Looks at the oldest `most` pending rows: no index knows an edge.
  // *all: there were no more than that.
  Status ReadPendingOf(Shard shard, ChangeKind kind, const EdgeKey& edge, uint32_t most,
                       std::vector<LoggedChange>* out, bool* all);

  // Repeating it changes nothing; a row that was lost is none, whoever has its id now.
  Status MarkDone(Shard shard, const std::vector<LogRow>& rows);

  // For whoever does by itself what follows from its changes: the highest id now, before the first
  // of them; then, when all is acknowledged, marks their rows above it: of each edge up to the
  // version given, which is the one that was mirrored.
  Status Newest(Shard shard, uint64_t* id);
  Status MarkMirrored(Shard shard, uint64_t after,
                      const std::unordered_map<EdgeKey, uint64_t>& versions);

 private:
  ShardConnections& connections_;
};

}  // namespace fanline::mysql
