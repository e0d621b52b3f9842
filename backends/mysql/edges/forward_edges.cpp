#include "backends/mysql/edges/forward_edges.h"

#include <algorithm>
#include <limits>
#include <string>

#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"

namespace fanline::mysql {
namespace {

// The outcomes of change_edge.sql.
enum ChangeOutcome : int64_t { kSoAlready = 0, kChanged = 1, kOverLimit = 2, kTooOften = 3 };
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int64_t kHourUs = 3'600'000'000;

UnixMs PosOf(const EdgeChange& change) { return static_cast<UnixMs>(change.unix_us / 1000); }

// The errors of follow_new_edge.sql for what it does not serve.
constexpr int kNullColumn = 1048;
constexpr int kDuplicateKey = 1062;

// The fast path of a follow (follow_new_edge.sql). Nothing: it does not apply, and nothing was
// changed. The procedure answers no row, so one that does is another procedure.
std::optional<ForwardChanged> FollowNew(Connection& connection, const EdgeChange& change,
                                        uint32_t most_followed) {
  const int64_t part = kHourUs / ChangesAnHour(most_followed);
  std::string sql = "CALL follow_new_edge";
  AppendTuple(sql, Raw(change.src), Raw(change.dst), change.unix_us, most_followed, part,
              kHourUs - 2 * part);
  bool made = true;
  try {
    connection.Call(sql, [&](const Row&) { made = false; });
  } catch (const MysqlError& error) {
    if (error.code() != kNullColumn && error.code() != kDuplicateKey) throw;
    made = false;
  }
  if (!made) return std::nullopt;
  return ForwardChanged{.edge = {change.src, change.dst, change.unix_us, true, PosOf(change)},
                        .changed = true};
}

// The values of change_edge's `choice` besides those of Delivery.
constexpr int kAsItIs = -1;
// The values of its `wanted`.
enum Wanted { kUnfollow = 0, kFollow = 1, kIfFollowed = 2 };

Wanted WantedOf(const EdgeChange& change) {
  if (!change.live) return kUnfollow;
  return change.chooses() ? kIfFollowed : kFollow;
}

// `to`: its ver and pos become new_ver and new_pos of change_edge.sql.
ForwardChanged ChangeAny(Connection& connection, const Edge& to, Wanted wanted, int choice,
                         Origin origin, uint64_t origin_version, int64_t most_followed) {
  std::string sql = "CALL change_edge";
  AppendTuple(sql, Raw(to.src), Raw(to.dst), static_cast<int>(wanted), choice, to.ver, to.pos,
              static_cast<int>(origin), origin_version, most_followed);
  ForwardChanged out;
  connection.Call(sql, [&](const Row& row) {
    out.changed = row.Int64(1) == kChanged;
    out.over_limit = row.Int64(1) == kOverLimit;
    out.edge = {to.src,      to.dst,       row.UInt64(2),
                row.Bool(3), row.Int64(4), static_cast<Delivery>(row.UInt64(5))};
    out.below_zero = row.Bool(6);
    if (row.Int64(1) == kTooOften) out.again_in = std::chrono::seconds(row.Int64(7));
  });
  return out;
}

}  // namespace

Status CheckEdgeIds(UserId src, UserId dst) {
  if (!IsValidId(Raw(src)) || !IsValidId(Raw(dst))) {
    return Status::Never("0 and 2^64-1 are no user ids");
  }
  if (src == dst) return Status::Never("nobody follows themselves");
  return Status::Done();
}

ForwardChanged ChangeForward(Connection& connection, const EdgeChange& change,
                             uint32_t most_followed) {
  if (change.live && change.origin == Origin::kUser && !change.delivery) {
    if (const auto made = FollowNew(connection, change, most_followed)) return *made;
  }
  return ChangeAny(connection, {change.src, change.dst, change.unix_us, change.live, PosOf(change)},
                   WantedOf(change), change.delivery ? static_cast<int>(*change.delivery) : kAsItIs,
                   change.origin, change.origin_version,
                   change.origin == Origin::kFriendship ? kNoLimit : most_followed);
}

ForwardChanged AdoptForward(Connection& connection, const Edge& edge) {
  FANLINE_CHECK(edge.ver > 0, "an edge that has a version");
  return ChangeAny(connection, edge, edge.live ? kFollow : kUnfollow,
                   static_cast<int>(edge.delivery), Origin::kRepair, edge.ver, kNoLimit);
}

uint64_t AnnounceFriendship(Connection& connection, const EdgeKey& edge, uint64_t version) {
  const UserId src = edge.src, dst = edge.dst;
  uint64_t settled = 0;
  connection.Transact([&] {
    const bool made =
        connection.Execute(
            Sql("INSERT INTO following (src, dst, ver, state, pos, friend_announced) VALUES (", src,
                ",", dst, ",1,0,0,", version,
                ") ON DUPLICATE KEY UPDATE"
                " friend_announced = GREATEST(friend_announced, VALUES(friend_announced))")) == 1;
    if (made) {
      connection.Execute(Sql("INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (1,", src,
                             ",", dst, ",1,0,0)"));
    }
    settled = connection.Number(
        Sql("SELECT friend_version FROM following WHERE src = ", src, " AND dst = ", dst));
    return true;
  });
  return settled;
}

Status StatusOf(const ForwardChanged& changed, uint32_t most_followed) {
  if (changed.over_limit) {
    return Status::Never("follows " + std::to_string(most_followed) + " already");
  }
  return changed.again_in ? TooOften(most_followed) : Status::Done();
}

Status TooOften(uint32_t most_followed) {
  return Status::Never("has made all " + std::to_string(ChangesAnHour(most_followed)) +
                       " changes of an hour");
}

std::optional<std::chrono::seconds> TakeChange(Connection& connection, UserId user,
                                               uint32_t most_followed) {
  const int64_t takes = kHourUs / ChangesAnHour(most_followed);
  const std::string clock = "UNIX_TIMESTAMP() * 1000000";
  const std::string hour = Sql("(", clock, " + ", kHourUs, ")");
  const std::string latest = Sql("(", hour, " - ", takes, ")");
  // A value beyond the hour comes from a clock that was ahead, and refuses nothing
  // (change_edge.sql).
  const uint64_t taken = connection.Execute(
      Sql("INSERT INTO user_rel (user_id, changes_until) VALUES (", user, ", ", clock, " + ", takes,
          ") ON DUPLICATE KEY UPDATE changes_until = IF(changes_until > ", latest,
          " AND changes_until <= ", hour, ", changes_until, LEAST(GREATEST(changes_until, ", clock,
          ") + ", takes, ", ", hour, "))"));
  if (taken > 0) return std::nullopt;
  int64_t wait_us = 0;
  connection.Query(Sql("SELECT changes_until - ", latest, " FROM user_rel WHERE user_id = ", user),
                   [&](const Row& row) { wait_us = row.Int64(1); });
  return std::chrono::ceil<std::chrono::seconds>(
      std::chrono::microseconds(std::max<int64_t>(wait_us, 1)));
}

}  // namespace fanline::mysql
