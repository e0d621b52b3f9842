// Friend requests (table friend_request) and the way from an accepted one to its two edges. A
// change takes several steps on up to three shards (fanline/ports/friendship_run.h); here are those
// on the pair's row.
//
// The row of a pair lies on one shard, its two edges lie on two. So accepting and removing also
// commit a row of log1, from which the mirror writes both edges. Each is an ordinary forward change
// that is mirrored in turn. If the mirror is killed between the edges, it finds the row pending
// and writes both again. These changes carry the pair's version: one that comes after a newer one
// of the same pair has no effect, even if it arrives for the first time.
//
// The edges are like those of a follow: an unfollow ends one of them. The friendship then stays as
// it is until it is removed and requested again. If a friendship's change and a user's own change
// meet on an edge, the later one wins, no matter when the mirror runs: the pair's version is
// announced to both edges (AnnounceFriendship in forward_edges.h) before the pair's row is
// committed, and a user's own change settles what was announced
// (docs/decisions/0010-friendships-are-announced.md). So beginning and ending a friendship need
// both users' shards. Asking needs the pair's shard and that of the user who asks, all else only
// the pair's.

#include <algorithm>
#include <string>

#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/ports/change_log.h"

namespace fanline::mysql {
namespace {

struct Pair {
  Pair(UserId one, UserId other) : low(std::min(one, other)), high(std::max(one, other)) {}
  std::string Key() const { return Sql("low = ", low, " AND high = ", high); }
  UserId low, high;
};

Friendship ReadRow(Connection& connection, const Pair& pair, const char* locking) {
  Friendship row;
  connection.Query(
      Sql("SELECT state, asked_by, ver FROM friend_request WHERE ", pair.Key(), locking),
      [&](const Row& columns) {
        row = {static_cast<FriendState>(columns.Int64(1)), UserId{columns.UInt64(2)},
               columns.UInt64(3)};
      });
  return row;
}

// Locks the row or creates it: another transaction may have made it meanwhile.
Friendship MakeRow(Connection& connection, const Pair& pair) {
  connection.Execute(Sql("INSERT INTO friend_request (low, high, ver, state, asked_by) VALUES (",
                         pair.low, ",", pair.high, ",0,0,0) ON DUPLICATE KEY UPDATE ver = ver"));
  return ReadRow(connection, pair, " FOR UPDATE");
}

void WriteRow(Connection& connection, const Pair& pair, const Friendship& row) {
  connection.Execute(Sql("UPDATE friend_request SET state = ", row.state, ", asked_by = ",
                         row.asked_by, ", ver = ", row.ver, " WHERE ", pair.Key()));
}

void WriteLog(Connection& connection, const Pair& pair, const Friendship& row, uint64_t unix_us) {
  connection.Execute(Sql("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (",
                         ChangeKind::kFriendship, ",", pair.low, ",", pair.high, ",", row.ver, ",",
                         row.state == FriendState::kFriends, ",", unix_us / 1000, ")"));
}

}  // namespace

Shard PairShard(const ShardMap& map, UserId one, UserId other) {
  return map.ShardOf(std::min(one, other));
}

Friendship ReadPairRow(Connection& connection, UserId one, UserId other) {
  return ReadRow(connection, Pair(one, other), "");
}

FriendshipWritten RelationService::Do(Connection& connection, const WriteFriendship& change) const {
  const Pair pair(change.who, change.whom);
  FriendshipWritten out;
  connection.Transact([&] {
    out = {};
    out.now = ReadRow(connection, pair, " FOR UPDATE");
    FriendStep step = Decide(out.now, change.action, change.who);
    // A row is made only if it is also written. If a row were made for its lock and rolled back,
    // its waiters would be left with gap locks and deadlock.
    if (step.changes && out.now.ver == 0) {
      out.now = MakeRow(connection, pair);
      step = Decide(out.now, change.action, change.who);
    }
    if (!step.changes) return false;
    const bool logs = BeginsOrEnds(out.now.state, step.state);
    out.overtaken = out.now.ver >= change.version || (logs && !change.announced);
    if (out.overtaken) return false;
    out.now = {step.state, step.asked_by, change.version};
    out.changed = true;
    WriteRow(connection, pair, out.now);
    if (logs) WriteLog(connection, pair, out.now, change.unix_us);
    return true;
  });
  return out;
}

}  // namespace fanline::mysql
