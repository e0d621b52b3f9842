#include "backends/mysql/edges/change_log.h"

#include <string>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/mysql/sql/statements.h"

namespace fanline::mysql {
namespace {

LoggedChange ChangeOf(const Row& row) {
  return {.id = row.UInt64(1),
          .kind = static_cast<ChangeKind>(row.Int64(2)),
          .edge = {UserId{row.UInt64(3)}, UserId{row.UInt64(4)}, row.UInt64(5), row.Bool(6),
                   row.Int64(7)},
          .written_at = row.Int64(8)};
}

std::string IdList(std::span<const uint64_t> ids) {
  std::string list;
  AppendInList(list, ids);
  return list;
}

constexpr size_t kRowsPerMark = 180;  // kListLimit for rows of five values

std::string RowList(std::span<const LogRow> rows) {
  std::string list;
  AppendList(list, rows, [](std::string& out, const LogRow& row) {
    AppendTuple(out, row.id, static_cast<int>(row.kind), Raw(row.edge.src), Raw(row.edge.dst),
                row.ver);
  });
  return list;
}

std::string CountPendingSql(uint32_t most) {
  return "SELECT COUNT(*) FROM (SELECT 1 FROM log1 FORCE INDEX (pending) WHERE done = 0 LIMIT " +
         std::to_string(most) + ") AS counted";
}

}  // namespace

std::vector<LoggedChange> PendingChanges(Connection& connection, uint64_t after, uint32_t limit) {
  std::vector<LoggedChange> changes;
  connection.Query(PendingChangesSql(after, limit),
                   [&](const Row& row) { changes.push_back(ChangeOf(row)); });
  return changes;
}

std::vector<LoggedChange> PendingChangesOf(Connection& connection, ChangeKind kind,
                                           const EdgeKey& edge, uint32_t most, bool* all) {
  std::vector<LoggedChange> changes;
  // Counts first. A row that was pending for the count and done before the search does no harm.
  connection.Query(CountPendingSql(most + 1),
                   [&](const Row& row) { *all = row.UInt64(1) <= most; });
  connection.Query("SELECT * FROM (" + PendingChangesSql(0, most) + ") AS oldest WHERE kind = " +
                       std::to_string(static_cast<int>(kind)) + " AND src = " + ToString(edge.src) +
                       " AND dst = " + ToString(edge.dst) + " ORDER BY id",
                   [&](const Row& row) { changes.push_back(ChangeOf(row)); });
  return changes;
}

uint64_t NewestChange(Connection& connection) {
  uint64_t newest = 0;
  connection.Query("SELECT COALESCE(MAX(id), 0) FROM log1",
                   [&](const Row& row) { newest = row.UInt64(1); });
  return newest;
}

std::vector<LoggedChange> PendingAmong(Connection& connection, std::vector<uint64_t> ids) {
  std::vector<LoggedChange> changes;
  SortUnique(ids);
  ForEachChunk(ids, kIdsLimit, [&](std::span<const uint64_t> chunk) {
    connection.Query(PendingOfSql(chunk),
                     [&](const Row& row) { changes.push_back(ChangeOf(row)); });
  });
  return changes;
}

void MarkChangesDone(Connection& connection, const std::vector<LogRow>& rows) {
  ForEachChunk(rows, kRowsPerMark, [&](std::span<const LogRow> chunk) {
    connection.Execute(
        "UPDATE log1 FORCE INDEX (PRIMARY) SET done = 1"
        " WHERE done = 0 AND (id, kind, src, dst, ver) IN " +
        RowList(chunk));
  });
}

// The rows are found first and then deleted by key. A DELETE by age would read to the end of the
// table when fewer than `most` rows are old enough.
uint64_t PurgeChanges(Connection& connection, std::chrono::seconds keep, uint32_t most) {
  uint64_t deleted = 0;
  std::vector<uint64_t> old;
  connection.Query(OldestDoneSql(keep, most), [&](const Row& row) {
    if (row.Bool(2)) old.push_back(row.UInt64(1));
  });
  ForEachChunk(old, kListLimit, [&](std::span<const uint64_t> chunk) {
    deleted += connection.Execute("DELETE FROM log1 WHERE done = 1 AND id IN " + IdList(chunk));
  });
  return deleted;
}

}  // namespace fanline::mysql
