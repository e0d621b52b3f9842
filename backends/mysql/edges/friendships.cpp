#include "backends/mysql/edges/friendships.h"

#include <algorithm>
#include <string>

#include "fanline/ports/change_log.h"

namespace fanline::mysql {
namespace {

struct Pair {
  Pair(UserId one, UserId other) : low(std::min(one, other)), high(std::max(one, other)) {}
  std::string Key() const { return "low = " + ToString(low) + " AND high = " + ToString(high); }
  std::string Values() const { return ToString(low) + "," + ToString(high); }
  UserId low, high;
};

std::string Number(uint64_t value) { return std::to_string(value); }
std::string Number(FriendState state) { return std::to_string(static_cast<int>(state)); }

Friendship ReadRow(Connection& connection, const Pair& pair, const char* locking) {
  Friendship row;
  connection.Query("SELECT state, asked_by, ver FROM friend_request WHERE " + pair.Key() + locking,
                   [&](const Row& columns) {
                     row = {static_cast<FriendState>(columns.Int64(1)), UserId{columns.UInt64(2)},
                            columns.UInt64(3)};
                   });
  return row;
}

// Locks the row or creates it: another transaction may have made it meanwhile.
Friendship MakeRow(Connection& connection, const Pair& pair) {
  connection.Execute("INSERT INTO friend_request (low, high, ver, state, asked_by) VALUES (" +
                     pair.Values() + ",0,0,0) ON DUPLICATE KEY UPDATE ver = ver");
  return ReadRow(connection, pair, " FOR UPDATE");
}

void WriteRow(Connection& connection, const Pair& pair, const Friendship& row) {
  connection.Execute("UPDATE friend_request SET state = " + Number(row.state) +
                     ", asked_by = " + ToString(row.asked_by) + ", ver = " + Number(row.ver) +
                     " WHERE " + pair.Key());
}

void WriteLog(Connection& connection, const Pair& pair, const Friendship& row, uint64_t unix_us) {
  connection.Execute("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (" +
                     std::to_string(static_cast<int>(ChangeKind::kFriendship)) + "," +
                     pair.Values() + "," + Number(row.ver) +
                     (row.state == FriendState::kFriends ? ",1," : ",0,") + Number(unix_us / 1000) +
                     ")");
}

}  // namespace

Shard PairShard(const ShardMap& map, UserId one, UserId other) {
  return map.ShardOf(std::min(one, other));
}

Friendship ReadPairRow(Connection& connection, UserId one, UserId other) {
  return ReadRow(connection, Pair(one, other), "");
}

FriendshipWritten WritePairRow(Connection& connection, const WriteFriendship& change) {
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
