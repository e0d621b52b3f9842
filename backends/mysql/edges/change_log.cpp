#include "backends/mysql/edges/change_log.h"

#include <string>

#include "backends/mysql/edges/edge_rows.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr const char* kChanges =
    "SELECT id, kind, src, dst, ver, state, pos, delivery, FLOOR(UNIX_TIMESTAMP(ts) * 1000), done"
    " FROM log1 FORCE INDEX ";

LoggedChange ChangeOf(const Row& row) {
  return {.id = row.UInt64(1),
          .kind = static_cast<ChangeKind>(row.Int64(2)),
          .edge = EdgeFrom(row, 3),
          .written_at = row.Int64(9)};
}

std::string PendingChangesSql(uint64_t after, uint32_t limit) {
  return Sql(kChanges, "(pending) WHERE done = 0 AND id > ", after, " ORDER BY id LIMIT ", limit);
}

constexpr size_t kRowsPerMark = 180;  // kListLimit for rows of five values

}  // namespace

std::vector<LoggedChange> PendingChanges(Connection& connection, uint64_t after, uint32_t limit) {
  return connection.All(PendingChangesSql(after, limit), ChangeOf);
}

std::vector<LoggedRow> ChangesBehind(Connection& connection, uint64_t after, uint32_t limit) {
  return connection.All(Sql(kChanges, "(PRIMARY) WHERE id > ", after, " ORDER BY id LIMIT ", limit),
                        [](const Row& row) {
                          return LoggedRow{ChangeOf(row), row.Bool(10)};
                        });
}

std::vector<LoggedChange> PendingChangesOf(Connection& connection, ChangeKind kind,
                                           const EdgeKey& edge, uint32_t most, bool* all) {
  // Counts first. A row that was pending for the count and done before the search does no harm.
  *all = connection.Number(Sql("SELECT COUNT(*) FROM (SELECT 1 FROM log1 FORCE INDEX (pending)"
                               " WHERE done = 0 LIMIT ",
                               most + 1, ") AS counted")) <= most;
  return connection.All(
      Sql("SELECT * FROM (", PendingChangesSql(0, most), ") AS oldest WHERE kind = ", kind,
          " AND src = ", edge.src, " AND dst = ", edge.dst, " ORDER BY id"),
      ChangeOf);
}

std::vector<LoggedChange> PendingAmong(Connection& connection, std::vector<uint64_t> ids) {
  std::vector<LoggedChange> changes;
  SortUnique(ids);
  QueryChunks(
      connection, ids, kIdsLimit,
      [](std::span<const uint64_t> chunk) {
        return Sql(kChanges, "(PRIMARY) WHERE done = 0 AND id IN ", InList(chunk));
      },
      [&](const Row& row) { changes.push_back(ChangeOf(row)); });
  return changes;
}

// The ids alone find the rows: MariaDB's UPDATE uses no index for a list of one tuple.
void MarkChangesDone(Connection& connection, const std::vector<LogRow>& rows) {
  ForEachChunk(rows, kRowsPerMark, [&](std::span<const LogRow> chunk) {
    std::vector<uint64_t> ids;
    for (const LogRow& row : chunk) ids.push_back(row.id);
    std::string sql =
        Sql("UPDATE log1 FORCE INDEX (PRIMARY) SET done = 1 WHERE done = 0 AND id IN ", InList(ids),
            " AND (id, kind, src, dst, ver) IN ");
    AppendList(sql, chunk, [](std::string& out, const LogRow& row) {
      AppendTuple(out, row.id, static_cast<int>(row.kind), Raw(row.edge.src), Raw(row.edge.dst),
                  row.ver);
    });
    connection.Execute(sql);
  });
}

// The rows are found first and then deleted by key. A DELETE by age would read to the end of the
// table when fewer than `most` rows are old enough.
uint64_t PurgeChanges(Connection& connection, std::chrono::seconds keep, uint32_t most) {
  uint64_t deleted = 0;
  std::vector<uint64_t> old;
  connection.Query(
      Sql("SELECT id, ts < NOW(3) - INTERVAL ", keep.count(),
          " SECOND FROM log1 FORCE INDEX (pending) WHERE done = 1 AND id <="
          " COALESCE((SELECT after_id FROM log_scan), 18446744073709551615) ORDER BY id LIMIT ",
          most),
      [&](const Row& row) {
        if (row.Bool(2)) old.push_back(row.UInt64(1));
      });
  ForEachChunk(old, kListLimit, [&](std::span<const uint64_t> chunk) {
    deleted += connection.Execute(Sql("DELETE FROM log1 WHERE done = 1 AND id IN ", InList(chunk)));
  });
  return deleted;
}

}  // namespace fanline::mysql
