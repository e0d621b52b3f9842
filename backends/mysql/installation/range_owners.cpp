#include "backends/mysql/installation/range_owners.h"

#include <algorithm>

#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

struct OwnerRow {
  uint64_t epoch = 0;
  int64_t last_offset = -1;
  uint32_t starts = 0;
};

void Change(OwnerRow& row, const AcquireRange&) {
  ++row.epoch;
  ++row.starts;
}
void Change(OwnerRow& row, const RaiseEpoch& raise) {
  row.epoch = std::max(row.epoch, raise.above) + 1;
}
void Change(OwnerRow& row, const SaveStart& start) { row.last_offset = start.offset; }
void Change(OwnerRow& row, const SettleRange& settle) {
  row.starts = settle.starts;
  row.last_offset = settle.last_offset;
}

// Asked by an owner that was replaced meanwhile.
template <class Request>
bool IsStale(const OwnerRow& row, const Request& request) {
  if constexpr (requires { request.epoch; }) return row.epoch != request.epoch;
  return false;
}

// Creates the row or takes its lock, in one statement: no shared lock that two must upgrade.
OwnerRow LockRow(Connection& connection, const std::string& range) {
  connection.Execute("INSERT INTO range_owner (range_id, epoch) VALUES (" + range +
                     ", 0) ON DUPLICATE KEY UPDATE epoch = epoch");
  OwnerRow row;
  connection.Query(
      "SELECT epoch, last_offset, starts FROM range_owner WHERE range_id = " + range +
          " FOR UPDATE",
      [&](const Row& found) {
        row = {found.UInt64(1), found.Int64(2), static_cast<uint32_t>(found.UInt64(3))};
      });
  return row;
}

void WriteRow(Connection& connection, const std::string& range, const OwnerRow& row) {
  std::string sql = "UPDATE range_owner SET epoch = ";
  AppendNumber(sql, row.epoch);
  sql += ", last_offset = ";
  AppendNumber(sql, row.last_offset);
  sql += ", starts = ";
  AppendNumber(sql, row.starts);
  connection.Execute(sql + " WHERE range_id = " + range);
}

}  // namespace

template <class R>
RangeOwned OwnerService::Do(Connection& connection, const R& request) const {
  RangeOwned owned;
  connection.Transact([&] {
    const std::string range = std::to_string(request.range);
    const OwnerRow before = LockRow(connection, range);
    OwnerRow after = before;
    const bool refused = IsStale(before, request);
    if (!refused) {
      Change(after, request);
      WriteRow(connection, range, after);
    }
    owned = {.status = {},
             .epoch = after.epoch,
             .last_offset = before.last_offset,
             .starts = after.starts,
             .refused = refused};
    return true;
  });
  return owned;
}

template RangeOwned OwnerService::Do(Connection&, const AcquireRange&) const;
template RangeOwned OwnerService::Do(Connection&, const RaiseEpoch&) const;
template RangeOwned OwnerService::Do(Connection&, const SaveStart&) const;
template RangeOwned OwnerService::Do(Connection&, const SettleRange&) const;

}  // namespace fanline::mysql
