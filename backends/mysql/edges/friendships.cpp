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

// Whether the step also changes the edges.
bool EndsOrBegins(FriendState before, FriendState after) {
  return (before == FriendState::kFriends) != (after == FriendState::kFriends);
}

constexpr uint32_t kMostAttempts = 10;  // the last one leaves room for 512 changes of others

}  // namespace

Shard Friendships::PairShard(UserId one, UserId other) const {
  return map_.ShardOf(std::min(one, other));
}

// Announces. If versions were settled that are not lower, announces once more above them. Versions
// settled between the two announcements belong to changes made meanwhile, which may win.
Status Friendships::Announce(UserId one, UserId other, uint64_t* version) {
  uint64_t settled = 0;
  const auto announce = [&](UserId src, UserId dst) {
    return connections_.Run(map_.ShardOf(src), [&](Connection& connection) {
      settled = std::max(settled, AnnounceFriendship(connection, {src, dst}, *version));
    });
  };
  const auto announce_both = [&] {
    Status status = announce(one, other);
    return status.done() ? announce(other, one) : status;
  };
  Status status = announce_both();
  if (!status.done() || settled < *version) return status;
  *version = settled + 1;
  return announce_both();
}

Status Friendships::Admit(FriendState to, UserId who, UserId whom, bool* taken,
                          FriendshipStep* out) {
  if (to != FriendState::kAsked && to != FriendState::kFriends) return Status::Done();
  for (const EdgeKey& edge : {EdgeKey{who, whom}, EdgeKey{whom, who}}) {
    if (to != FriendState::kFriends) break;
    bool full = false;
    Status status = connections_.ReadTruth(map_.ShardOf(edge.src), [&](Connection& connection) {
      full = FollowsAsManyAsMayBe(connection, edge, most_followed_);
    });
    if (!status.done()) return status;
    if (!full) continue;
    out->over_limit = edge.src;
    return Status::Never("user " + ToString(edge.src) + " follows " +
                         std::to_string(most_followed_) + " already");
  }
  if (*taken) return Status::Done();
  Status status = connections_.Run(map_.ShardOf(who), [&](Connection& connection) {
    out->again_in = TakeChange(connection, who, most_followed_);
  });
  if (!status.done()) return status;
  *taken = true;
  return out->again_in ? TooOften(most_followed_) : Status::Done();
}

Status Friendships::Change(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                           FriendshipStep* out) {
  *out = {};
  if (Status status = CheckEdgeIds(who, whom); !status.done()) return status;
  const Pair pair(who, whom);
  bool taken = false;
  for (uint32_t attempt = 0; attempt < kMostAttempts; ++attempt) {
    *out = {};
    if (Status status = ReadTruth(who, whom, &out->now); !status.done()) return status;
    const FriendStep seen = Decide(out->now, action, who);
    if (seen.refusal != nullptr) return Status::Never(seen.refusal);
    if (!seen.changes) return Status::Done();
    if (Status status = Admit(seen.state, who, whom, &taken, out); !status.done()) return status;
    // Leaves room for others who change the row meanwhile, and more with every attempt.
    uint64_t version = std::max(out->now.ver + (uint64_t{1} << attempt), unix_us);
    const bool announced = attempt > 0 || EndsOrBegins(out->now.state, seen.state);
    if (announced) {
      if (Status status = Announce(who, whom, &version); !status.done()) return status;
    }
    bool overtaken = false;
    const char* refusal = nullptr;
    Status status = connections_.Run(PairShard(who, whom), [&](Connection& connection) {
      connection.Transact([&] {
        *out = {};
        out->now = ReadRow(connection, pair, " FOR UPDATE");
        FriendStep step = Decide(out->now, action, who);
        // A row is made only if it is also written. If a row were made for its lock and rolled
        // back, its waiters would be left with gap locks and deadlock.
        if (step.changes && out->now.ver == 0) {
          out->now = MakeRow(connection, pair);
          step = Decide(out->now, action, who);
        }
        refusal = step.refusal;
        if (!step.changes) return false;
        const bool logs = EndsOrBegins(out->now.state, step.state);
        overtaken = out->now.ver >= version || (logs && !announced);
        if (overtaken) return false;
        out->now = {step.state, step.asked_by, version};
        out->changed = true;
        WriteRow(connection, pair, out->now);
        if (logs) WriteLog(connection, pair, out->now, unix_us);
        return true;
      });
    });
    if (!status.done()) return status;
    if (!overtaken) return refusal == nullptr ? Status::Done() : Status::Never(refusal);
  }
  return Status::Later(ResourceOf(PairShard(who, whom)),
                       "this friendship is being changed too often");
}

Status Friendships::ReadTruth(UserId one, UserId other, Friendship* out) {
  return connections_.ReadTruth(PairShard(one, other), [&](Connection& connection) {
    *out = ReadRow(connection, Pair(one, other), "");
  });
}

Status Friendships::Read(UserId one, UserId other, Friendship* out) {
  return connections_.Run(PairShard(one, other), [&](Connection& connection) {
    *out = ReadRow(connection, Pair(one, other), "");
  });
}

}  // namespace fanline::mysql
