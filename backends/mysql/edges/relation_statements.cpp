#include "backends/mysql/edges/relation_statements.h"

#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {
namespace {

// The first comparison bounds the range that is read; the second is exact.
void AppendBehind(std::string& sql, const std::optional<ListCursor>& after, const char* pos,
                  const char* user) {
  if (!after) return;
  sql += std::string(" AND ") + pos + " <= ";
  AppendNumber(sql, after->pos);
  sql += std::string(" AND (") + pos + " < ";
  AppendNumber(sql, after->pos);
  sql += std::string(" OR ") + user + " < ";
  AppendId(sql, after->user);
  sql += ')';
}

void AppendNewestFirst(std::string& sql, const char* pos, const char* user, uint32_t limit) {
  sql += std::string(" ORDER BY ") + pos + " DESC, " + user + " DESC";
  AppendLimit(sql, limit);
}

}  // namespace

std::string FollowingPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit) {
  std::string sql =
      "SELECT dst, pos FROM following FORCE INDEX (newest) WHERE state = 1 AND src = ";
  AppendId(sql, user);
  AppendBehind(sql, after, "pos", "dst");
  AppendNewestFirst(sql, "pos", "dst", limit);
  return sql;
}

std::string FollowersPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit) {
  std::string sql = "SELECT src, pos FROM follower FORCE INDEX (newest) WHERE state = 1 AND dst = ";
  AppendId(sql, user);
  AppendBehind(sql, after, "pos", "src");
  AppendNewestFirst(sql, "pos", "src", limit);
  return sql;
}

// For nearly every user the counter shows that there is nothing to count.
std::string FollowersBeforeSql(UserId user, const ListCursor& after, uint32_t most) {
  std::string sql = "SELECT COUNT(*) FROM (SELECT 1 FROM follower FORCE INDEX (newest) WHERE ";
  sql += "state = 1 AND dst = ";
  AppendId(sql, user);
  sql += " AND pos >= ";
  AppendNumber(sql, after.pos);
  sql += " AND (pos > ";
  AppendNumber(sql, after.pos);
  sql += " OR src >= ";
  AppendId(sql, after.user);
  sql += ") AND (SELECT fans_cnt FROM user_fan WHERE user_id = ";
  AppendId(sql, user);
  sql += ") > ";
  AppendNumber(sql, most);
  AppendLimit(sql, most);
  return sql + ") AS seen";
}

// Both rows are the user's own and lie on one shard. The statement walks the followed users in
// order and looks each up among the followers by its whole key, until the page is full.
std::string FriendsPageSql(UserId user, const std::optional<ListCursor>& after, uint32_t limit) {
  std::string sql =
      "SELECT STRAIGHT_JOIN f.dst, f.pos FROM following AS f FORCE INDEX (newest)"
      " JOIN follower AS r FORCE INDEX (PRIMARY) ON r.dst = ";
  AppendId(sql, user);
  sql += " AND r.bucket = CRC32(f.dst) % ";
  AppendNumber(sql, kBuckets);
  sql += " AND r.src = f.dst AND r.state = 1 WHERE f.state = 1 AND f.src = ";
  AppendId(sql, user);
  AppendBehind(sql, after, "f.pos", "f.dst");
  AppendNewestFirst(sql, "f.pos", "f.dst", limit);
  return sql;
}

std::string FollowedAmongSql(UserId src, std::span<const UserId> users) {
  std::string sql = "SELECT dst FROM following FORCE INDEX (PRIMARY) WHERE state = 1 AND src = ";
  AppendId(sql, src);
  sql += " AND dst IN ";
  AppendInList(sql, users);
  return sql;
}

std::string ForwardRowsSql(std::span<const EdgeKey> edges) {
  std::string sql =
      "SELECT src, dst, ver, state, pos FROM following FORCE INDEX (PRIMARY)"
      " WHERE (src, dst) IN ";
  AppendList(sql, edges, [](std::string& out, const EdgeKey& edge) {
    AppendTuple(out, Raw(edge.src), Raw(edge.dst));
  });
  return sql;
}

std::string ReverseRowsSql(std::span<const EdgeKey> edges) {
  std::string sql =
      "SELECT src, dst, ver, state, pos FROM follower FORCE INDEX (PRIMARY)"
      " WHERE (dst, bucket, src) IN ";
  AppendReverseKeys(sql, edges);
  return sql;
}

}  // namespace fanline::mysql
