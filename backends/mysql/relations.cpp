#include "backends/mysql/relations.h"

#include <algorithm>
#include <string>

#include "backends/mysql/sql_text.h"

namespace fanline::mysql {
namespace {

std::string Decimal(uint64_t value) { return std::to_string(value); }

std::string ForwardKey(const Edge& edge) {
  return "src = " + ToString(edge.src) + " AND dst = " + ToString(edge.dst);
}

std::string ReverseKey(const Edge& edge) {
  return "dst = " + ToString(edge.dst) + " AND bucket = " + Decimal(BucketOf(edge.src)) +
         " AND src = " + ToString(edge.src);
}

// "ver, state, pos" of a row whose lock the transaction takes here.
Edge ReadLocked(Connection& connection, Edge edge, const std::string& table_and_key) {
  connection.Query("SELECT ver, state, pos FROM " + table_and_key + " FOR UPDATE",
                   [&](const Row& row) {
                     edge.ver = row.UInt64(1);
                     edge.live = row.Bool(2);
                     edge.pos = row.Int64(3);
                   });
  return edge;
}

// Lock or create in one statement: it takes the exclusive lock at once. INSERT IGNORE would take a
// shared one first, and two that upgrade it are a deadlock nearly every time.
Edge LockForward(Connection& connection, const Edge& edge) {
  connection.Execute("INSERT INTO following (src, dst, ver, state, pos) VALUES (" +
                     ToString(edge.src) + "," + ToString(edge.dst) +
                     ",0,0,0) ON DUPLICATE KEY UPDATE ver = ver");
  return ReadLocked(connection, edge, "following WHERE " + ForwardKey(edge));
}

Edge LockReverse(Connection& connection, const Edge& edge) {
  connection.Execute("INSERT INTO follower (dst, bucket, src, ver, state, pos) VALUES (" +
                     ToString(edge.dst) + "," + Decimal(BucketOf(edge.src)) + "," +
                     ToString(edge.src) + ",0,0,0) ON DUPLICATE KEY UPDATE ver = ver");
  return ReadLocked(connection, edge, "follower WHERE " + ReverseKey(edge));
}

std::string SetClause(const Edge& edge) {
  return " SET state = " + Decimal(edge.live ? 1 : 0) + ", pos = " + std::to_string(edge.pos) +
         ", ver = " + Decimal(edge.ver);
}

// Last in the transaction: commutative, so the lock of a busy counter is held only briefly.
void Count(Connection& connection, const std::string& table, const std::string& column, UserId user,
           int transition) {
  const std::string by = std::to_string(transition);
  connection.Execute("INSERT INTO " + table + " (user_id, " + column + ") VALUES (" +
                     ToString(user) + "," + by + ") ON DUPLICATE KEY UPDATE " + column + " = " +
                     column + " + (" + by + ")");
}

// *edge: what the row is now. Whether its state changed.
bool WriteForward(Connection& connection, bool live, uint64_t unix_us, Edge* edge) {
  bool changed = false;
  connection.Transact([&] {
    const Edge before = LockForward(connection, *edge);
    changed = before.live != live;
    *edge = before;
    if (!changed) return false;  // rolled back: a row created only to be locked goes with it
    edge->ver = std::max(before.ver + 1, unix_us);
    edge->live = live;
    if (live) edge->pos = static_cast<UnixMs>(unix_us / 1000);
    connection.Execute("UPDATE following" + SetClause(*edge) + " WHERE " + ForwardKey(*edge));
    Count(connection, "user_rel", "following_cnt", edge->src, live ? 1 : -1);
    return true;
  });
  return changed;
}

void WriteReverse(Connection& connection, const Edge& edge) {
  connection.Transact([&] {
    const Edge before = LockReverse(connection, edge);
    if (before.ver >= edge.ver) return false;
    connection.Execute("UPDATE follower" + SetClause(edge) + " WHERE " + ReverseKey(edge) +
                       " AND ver < " + Decimal(edge.ver));
    const int transition = (edge.live ? 1 : 0) - (before.live ? 1 : 0);
    if (transition != 0) Count(connection, "user_fan", "fans_cnt", edge.dst, transition);
    return true;
  });
}

}  // namespace

Relations::Relations(const Config& config, const ShardMap& map) : connections_(config), map_(map) {}

Status Relations::Follow(UserId src, UserId dst, uint64_t unix_us, Result* result) {
  return Change(src, dst, true, unix_us, result);
}

Status Relations::Unfollow(UserId src, UserId dst, uint64_t unix_us, Result* result) {
  return Change(src, dst, false, unix_us, result);
}

Status Relations::ApplyToReverse(const Edge& edge) {
  return connections_.Run(map_.ShardOf(edge.dst),
                          [&](Connection& connection) { WriteReverse(connection, edge); });
}

Status Relations::Change(UserId src, UserId dst, bool live, uint64_t unix_us, Result* result) {
  if (!IsValidId(Raw(src)) || !IsValidId(Raw(dst))) {
    return Status::Never("0 and 2^64-1 are no user ids");
  }
  *result = {};
  Edge edge;
  Status status = connections_.Run(map_.ShardOf(src), [&](Connection& connection) {
    edge = {.src = src, .dst = dst};
    result->changed = WriteForward(connection, live, unix_us, &edge);
  });
  if (!status.done()) return status;
  result->version = edge.ver;
  if (edge.ver == 0) return Status::Done();
  return ApplyToReverse(edge);
}

}  // namespace fanline::mysql
