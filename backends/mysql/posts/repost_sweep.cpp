#include "backends/mysql/posts/repost_sweep.h"

#include <algorithm>
#include <string>

#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

// Rows of `repost`, each with what its post says, or NULL. The last row is the highest: a server
// may join them in another order.
std::string PageSql(const std::string& where, uint64_t rows) {
  return Sql(
      "SELECT r.original_id, r.author_id, r.post_id, COALESCE(p.deleted, 0), p.original_id,"
      " p.original_author FROM (SELECT original_id, author_id, post_id FROM repost FORCE INDEX"
      " (PRIMARY) WHERE ",
      where, " ORDER BY original_id, author_id, post_id LIMIT ", rows,
      ") AS r LEFT JOIN author_post AS p FORCE INDEX (PRIMARY) ON p.author_id = r.author_id AND"
      " p.post_id = r.post_id");
}

std::string DropSql(std::span<const RepostPlace> rows) {
  std::string sql =
      "DELETE r FROM repost AS r FORCE INDEX (PRIMARY) WHERE (original_id, author_id, post_id) IN ";
  AppendList(sql, rows, [](std::string& out, const RepostPlace& row) {
    AppendTuple(out, Raw(row.original), Raw(row.author), Raw(row.post));
  });
  return sql;
}

}  // namespace

RepostsSwept RepostSweepService::Do(Connection& connection, const SweepReposts& request) const {
  RepostsSwept reply{.status = {}, .last = request.after};
  std::vector<RepostPlace> dead;
  const auto read = [&](const std::string& where) {
    if (reply.rows >= request.limit) return;
    connection.Query(PageSql(where, request.limit - reply.rows), [&](const Row& row) {
      ++reply.rows;
      const RepostPlace place{PostId{row.UInt64(1)}, UserId{row.UInt64(2)}, PostId{row.UInt64(3)}};
      reply.last = std::max(reply.last, place);
      if (row.Bool(4)) return dead.push_back(place);
      const Original shown = OriginalOf(row, 5);
      if (shown.post != place.original) return;  // the row means nothing
      reply.reposts.push_back({{place.author, place.post}, shown});
    });
  };
  const auto [original, author, post] = request.after;
  if (request.after != RepostPlace{}) {
    read(Sql("original_id = ", original, " AND author_id = ", author, " AND post_id > ", post));
    read(Sql("original_id = ", original, " AND author_id > ", author));
  }
  read(Sql("original_id > ", original));
  reply.over = reply.rows < request.limit;
  connection.RequirePrimary();
  std::sort(dead.begin(), dead.end());
  ForEachChunk(dead, kListLimit, [&](std::span<const RepostPlace> chunk) {
    connection.Transact([&] {
      connection.Execute(DropSql(chunk));
      return true;
    });
  });
  return reply;
}

OriginalsRead RepostSweepService::Do(Connection& connection, const ReadOriginals& request) const {
  return ReaderService().Do(connection, request);
}

}  // namespace fanline::mysql
