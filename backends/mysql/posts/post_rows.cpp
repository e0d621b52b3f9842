#include "backends/mysql/posts/post_rows.h"

#include <algorithm>

#include "backends/mysql/sql/chunks.h"
#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/item.h"

namespace fanline::mysql {
namespace {

constexpr const char* kPostRows =
    "SELECT author_id, post_id, created_at_ms, deleted, hidden, pushed, visibility_version,"
    " edit_version, original_id, original_author FROM author_post FORCE INDEX (PRIMARY) WHERE ";

PostState StateOf(const Row& row) {
  PostState state;
  // Names each member, so that a new one fails to compile until it is read here.
  auto& [created_at, deleted, hidden, pushed, visibility, edit, original] = state;
  created_at = row.OptionalInt64(3);
  deleted = row.Bool(4);
  hidden = row.Bool(5);
  pushed = row.Bool(6);
  visibility = row.UInt64(7);
  edit = row.UInt64(8);
  original = OriginalOf(row, 9);
  return state;
}

}  // namespace

Original OriginalOf(const Row& row, uint32_t column) {
  if (row.IsNull(column) || row.IsNull(column + 1)) return {};
  return {PostId{row.UInt64(column)}, UserId{row.UInt64(column + 1)}};
}

std::string PostKeyList(std::span<const PostKey> keys) {
  std::string list;
  AppendList(list, keys, [](std::string& out, const PostKey& key) {
    AppendTuple(out, Raw(key.first), Raw(key.second));
  });
  return list;
}

std::map<PostKey, PostState> ReadPostRows(Connection& connection, std::vector<PostKey> keys) {
  SortUnique(keys);
  std::map<PostKey, PostState> rows;
  QueryChunks(
      connection, keys, kListLimit,
      [](std::span<const PostKey> chunk) {
        return Sql(kPostRows, "(author_id, post_id) IN ", PostKeyList(chunk));
      },
      [&](const Row& row) {
        rows.emplace(PostKey{UserId{row.UInt64(1)}, PostId{row.UInt64(2)}}, StateOf(row));
      });
  return rows;
}

Item ItemOf(const Row& row) {
  return {PostId{row.UInt64(2)}, row.Int64(3), UserId{row.UInt64(1)}, OriginalOf(row, 4)};
}

std::string OutboxSql(UserId author, bool pushed, bool reposts, const TimeSpan& span,
                      uint32_t limit) {
  std::string sql =
      Sql("(SELECT author_id, post_id, created_at_ms, original_id, original_author"
          " FROM author_post FORCE INDEX (outbox)"
          " WHERE author_id = ",
          author, " AND pushed = ", pushed, " AND deleted = 0 AND hidden = 0 AND created_at_ms > ",
          span.above.value_or(0));
  if (!reposts) sql += " AND original_id IS NULL";
  if (span.up_to) AppendSql(sql, " AND created_at_ms <= ", *span.up_to);
  if (const auto& after = span.behind) {
    // The first comparison bounds the range that is read; the second is exact.
    AppendSql(sql, " AND created_at_ms <= ", after->created_at, " AND (created_at_ms < ",
              after->created_at, " OR post_id < ", after->post, ")");
  }
  AppendSql(sql, " ORDER BY created_at_ms DESC, post_id DESC LIMIT ", limit, ")");
  return sql;
}

}  // namespace fanline::mysql
