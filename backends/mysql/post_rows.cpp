#include "backends/mysql/post_rows.h"

#include "backends/mysql/chunks.h"

namespace fanline::mysql {
namespace {

PostState StateOf(const Row& row) {
  PostState state;
  state.created_at = row.OptionalInt64(3);
  state.deleted = row.Bool(4);
  state.hidden = row.Bool(5);
  state.pushed = row.Bool(6);
  state.visibility_version = row.UInt64(7);
  state.edit_version = row.UInt64(8);
  return state;
}

}  // namespace

std::map<PostKey, PostState> ReadPostRows(Connection& connection, std::vector<PostKey> keys) {
  SortUnique(keys);
  std::map<PostKey, PostState> rows;
  ForEachChunk(keys, kListLimit, [&](std::span<const PostKey> chunk) {
    connection.Query(PostRowsSql(chunk), [&](const Row& row) {
      rows.emplace(PostKey{UserId{row.UInt64(1)}, PostId{row.UInt64(2)}}, StateOf(row));
    });
  });
  return rows;
}

}  // namespace fanline::mysql
