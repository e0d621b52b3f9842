#include "backends/mysql/installation/range_owners.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr uint32_t kStartsKept = 16;  // per range, besides the asker's

// A range under the lock of its row.
struct LockedRange {
  Connection& connection;
  Range range;
  uint64_t epoch = 0;
};

// Creates the row or locks it in one statement. With a shared lock first, two callers that upgrade
// it would deadlock.
LockedRange Lock(Connection& connection, Range range) {
  connection.Execute(Sql("INSERT INTO range_owner (range_id, epoch) VALUES (", range,
                         ", 0) ON DUPLICATE KEY UPDATE epoch = epoch"));
  return {connection, range,
          connection.Number(
              Sql("SELECT epoch FROM range_owner WHERE range_id = ", range, " FOR UPDATE"))};
}

void SetEpoch(LockedRange& locked, uint64_t epoch) {
  locked.epoch = epoch;
  locked.connection.Execute(
      Sql("UPDATE range_owner SET epoch = ", epoch, " WHERE range_id = ", locked.range));
}

void Change(LockedRange& locked, const AcquireRange& acquire) {
  SetEpoch(locked, locked.epoch + 1);
  locked.connection.Execute(Sql("INSERT INTO range_start (range_id, token, epoch) VALUES (",
                                locked.range, ", ", acquire.start, ", ", locked.epoch,
                                ") ON DUPLICATE KEY UPDATE epoch = VALUES(epoch)"));
}
void Change(LockedRange& locked, const RaiseEpoch& raise) {
  SetEpoch(locked, std::max(locked.epoch, raise.above) + 1);
}
// A start that was forgiven when another owner lasted stays forgiven.
void NoteTried(LockedRange& locked, uint64_t start, int64_t hint) {
  locked.connection.Execute(Sql("UPDATE range_start SET hint = ", hint,
                                " WHERE range_id = ", locked.range, " AND token = ", start));
}
void Change(LockedRange& locked, const SaveStart& save) {
  NoteTried(locked, save.start, save.offset);
}
void Change(LockedRange& locked, const SettleRange& settle) {
  const std::string own = Sql("token = ", settle.start);
  const std::string forgiven = Sql("epoch <= ", settle.lasted);
  locked.connection.Execute(
      Sql("DELETE FROM range_start WHERE range_id = ", locked.range, " AND ",
          settle.ended ? Sql("(", own, " OR ", forgiven, ")") : Sql(forgiven, " AND NOT ", own)));
}

// Whether the asker was replaced as owner meanwhile.
template <class Request>
bool IsStale(const LockedRange& locked, const Request& request) {
  if constexpr (requires { request.epoch; }) return locked.epoch != request.epoch;
  return false;
}

// Reports the starts that are left after the change. No hint is tried alone by a start that claims
// again (RaiseEpoch), or while crashes are fewer than kSuspicious. The start's note of a hint is
// then cleared.
template <class Request>
void LookAtStarts(LockedRange& locked, const Request& request, RangeOwned& owned) {
  int64_t tried = -1;
  if constexpr (requires { request.offset; }) tried = request.offset;
  bool trying = false;
  locked.connection.Query(
      Sql("SELECT token, hint FROM range_start WHERE range_id = ", locked.range),
      [&](const Row& row) {
        if (row.UInt64(1) == request.start) {
          trying = row.Int64(2) >= 0;
        } else {
          ++owned.crashes;
          owned.suspected |= tried >= 0 && row.Int64(2) == tried;
        }
      });
  const bool alone = !std::is_same_v<Request, RaiseEpoch> && owned.crashes >= kSuspicious;
  if (trying && !alone) NoteTried(locked, request.start, -1);
  if (owned.crashes <= kStartsKept) return;
  locked.connection.Execute(Sql("DELETE FROM range_start WHERE range_id = ", locked.range,
                                " AND token <> ", request.start, " ORDER BY epoch LIMIT ",
                                owned.crashes - kStartsKept));
}

}  // namespace

template <class R>
RangeOwned OwnerService::Do(Connection& connection, const R& request) const {
  RangeOwned owned;
  connection.Transact([&] {
    owned = {};
    LockedRange locked = Lock(connection, request.range);
    owned.refused = IsStale(locked, request);
    if (!owned.refused) Change(locked, request);
    owned.epoch = locked.epoch;
    LookAtStarts(locked, request, owned);
    return true;
  });
  return owned;
}

template RangeOwned OwnerService::Do(Connection&, const AcquireRange&) const;
template RangeOwned OwnerService::Do(Connection&, const RaiseEpoch&) const;
template RangeOwned OwnerService::Do(Connection&, const SaveStart&) const;
template RangeOwned OwnerService::Do(Connection&, const SettleRange&) const;

Status ReadOwnedRanges(ShardConnections& connections, const RangeLayout& layout,
                       const ShardMap& map, std::vector<bool>* owned) {
  owned->assign(layout.partitions(), false);
  for (Shard shard = 0; shard < map.shards(); ++shard) {
    const Status status = connections.Run(shard, [&](Connection& connection) {
      connection.Query("SELECT range_id FROM range_owner", [&](const Row& row) {
        const uint64_t range = row.UInt64(1);
        if (range < owned->size()) (*owned)[range] = true;
      });
    });
    if (!status.done()) return status;
  }
  return Status::Done();
}

}  // namespace fanline::mysql
