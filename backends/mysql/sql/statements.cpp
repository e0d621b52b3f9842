#include "backends/mysql/sql/statements.h"

#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/item.h"

namespace fanline::mysql {
namespace {

void AppendKeys(std::string& sql, std::span<const PostKey> keys) {
  AppendList(sql, keys, [](std::string& out, const PostKey& key) {
    AppendTuple(out, Raw(key.first), Raw(key.second));
  });
}

void AppendBuckets(std::string& sql, Bucket first, Bucket last) {
  sql += " AND bucket BETWEEN ";
  AppendNumber(sql, first);
  sql += " AND ";
  AppendNumber(sql, last);
}

constexpr const char* kNowMs = "FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)";

std::string SinceSql(const char* column) { return std::string(" ") + kNowMs + " - " + column; }

constexpr const char* kPostRows =
    "SELECT author_id, post_id, created_at_ms, deleted, hidden, pushed, visibility_version,"
    " edit_version FROM author_post FORCE INDEX (PRIMARY) WHERE ";

// Here and below FORCE INDEX is needed. Otherwise the optimizer scans a table whose statistics are
// stale or small, or it thinks (dst, state, pos) as good and sorts every page.
constexpr const char* kLiveFollowers = " FROM follower FORCE INDEX (PRIMARY) WHERE state = 1 AND ";

constexpr const char* kChanges =
    "SELECT id, kind, src, dst, ver, state, pos, FLOOR(UNIX_TIMESTAMP(ts) * 1000)"
    " FROM log1 FORCE INDEX ";

std::string FollowersOfSql(UserId author) {
  std::string sql = std::string("SELECT src") + kLiveFollowers + "dst = ";
  AppendId(sql, author);
  return sql;
}

// One author's newest items in the span, either the pushed ones or the others.
void AppendOutbox(std::string& sql, UserId author, bool pushed, const TimeSpan& span,
                  uint32_t limit) {
  sql +=
      "(SELECT author_id, post_id, created_at_ms FROM author_post FORCE INDEX (outbox)"
      " WHERE author_id = ";
  AppendId(sql, author);
  sql += " AND pushed = ";
  AppendNumber(sql, pushed ? 1 : 0);
  sql += " AND deleted = 0 AND hidden = 0 AND created_at_ms > ";
  AppendNumber(sql, span.above.value_or(0));
  if (span.up_to) {
    sql += " AND created_at_ms <= ";
    AppendNumber(sql, *span.up_to);
  }
  if (const auto& after = span.behind) {
    // The first comparison bounds the range that is read; the second is exact.
    sql += " AND created_at_ms <= ";
    AppendNumber(sql, after->created_at);
    sql += " AND (created_at_ms < ";
    AppendNumber(sql, after->created_at);
    sql += " OR member > '";
    sql += std::string_view(MemberText(after->post));
    sql += "')";
  }
  sql += " ORDER BY created_at_ms DESC, member";
  AppendLimit(sql, limit);
  sql += ')';
}

}  // namespace

void AppendReverseKeys(std::string& sql, std::span<const EdgeKey> edges) {
  AppendList(sql, edges, [](std::string& out, const EdgeKey& edge) {
    AppendTuple(out, Raw(edge.dst), BucketOf(edge.src), Raw(edge.src));
  });
}

std::string PostRowsSql(std::span<const PostKey> posts) {
  std::string sql = std::string(kPostRows) + "(author_id, post_id) IN ";
  AppendKeys(sql, posts);
  return sql;
}

std::string PostRowsFromSql(const PostKey& from, size_t limit) {
  std::string sql = std::string(kPostRows) + "author_id = ";
  AppendId(sql, from.first);
  sql += " AND post_id >= ";
  AppendId(sql, from.second);
  sql += " ORDER BY post_id";
  AppendLimit(sql, static_cast<uint32_t>(limit));
  return sql;
}

std::string FollowersOfManySql(std::span<const FollowersIn> parts, uint32_t limit) {
  std::string sql = std::string("SELECT dst, bucket, src") + kLiveFollowers;
  const char* before = "((dst IN ";
  for (const FollowersIn& part : parts) {
    sql += std::exchange(before, " OR (dst IN ");
    AppendInList(sql, part.authors);
    AppendBuckets(sql, part.first, part.last);
    sql += ')';
  }
  sql += ") ORDER BY dst, bucket, src";
  AppendLimit(sql, limit);
  return sql;
}

std::string FollowerBucketsSql(std::span<const UserId> authors, uint32_t limit) {
  std::string sql =
      "SELECT dst, bucket FROM follower FORCE INDEX (newest) WHERE state = 1 AND dst IN ";
  AppendInList(sql, authors);
  AppendLimit(sql, limit);
  return sql;
}

std::string FollowersInBucketSql(UserId author, Bucket bucket, UserId after, uint32_t limit) {
  std::string sql = FollowersOfSql(author);
  sql += " AND bucket = ";
  AppendNumber(sql, bucket);
  sql += " AND src > ";
  AppendId(sql, after);
  sql += " ORDER BY src";
  AppendLimit(sql, limit);
  return sql;
}

std::string FollowersInBucketsSql(UserId author, Bucket first, Bucket last, uint32_t limit) {
  std::string sql = FollowersOfSql(author);
  AppendBuckets(sql, first, last);
  sql += " ORDER BY bucket, src";
  AppendLimit(sql, limit);
  return sql;
}

std::string LiveEdgesSql(std::span<const EdgeKey> edges) {
  std::string sql =
      "SELECT dst, src FROM follower FORCE INDEX (PRIMARY) WHERE state = 1"
      " AND (dst, bucket, src) IN ";
  AppendReverseKeys(sql, edges);
  return sql;
}

std::string OutboxesSql(std::span<const UserId> authors, uint32_t limit) {
  std::string sql;
  for (const UserId author : authors) {
    if (!sql.empty()) sql += " UNION ALL ";
    AppendOutbox(sql, author, true, {}, limit);
  }
  return sql;
}

std::string OutboxSql(UserId author, const TimeSpan& span, uint32_t limit) {
  std::string sql;
  AppendOutbox(sql, author, true, span, limit);
  sql += " UNION ALL ";
  AppendOutbox(sql, author, false, span, limit);
  return sql;
}

std::string FollowsSomebodySql(UserId user) {
  std::string sql = "SELECT 1 FROM following FORCE INDEX (newest) WHERE state = 1 AND src = ";
  AppendId(sql, user);
  return sql + " LIMIT 1";
}

std::string IsKnownSql(UserId user) {
  const std::string id = ToString(user);
  return "SELECT EXISTS (SELECT 1 FROM following FORCE INDEX (PRIMARY) WHERE src = " + id +
         ") OR EXISTS (SELECT 1 FROM follower FORCE INDEX (PRIMARY) WHERE dst = " + id +
         ") OR EXISTS (SELECT 1 FROM author WHERE author_id = " + id + ")";
}

std::string ItemsSql(std::span<const UserId> authors, bool pushed, const TimeSpan& span,
                     uint32_t limit) {
  std::string sql =
      "SELECT author_id, post_id, created_at_ms FROM author_post FORCE INDEX (outbox)"
      " WHERE pushed = ";
  sql += pushed ? '1' : '0';
  sql += " AND deleted = 0 AND hidden = 0 AND author_id IN ";
  AppendInList(sql, authors);
  // An unpublished post has created_at_ms NULL; it sorts last and is not an item.
  sql += " AND created_at_ms > ";
  AppendNumber(sql, span.above.value_or(0));
  auto latest = span.up_to;
  if (span.behind) latest = std::min(latest.value_or(kMaxCreatedAt), span.behind->created_at);
  if (latest) {
    sql += " AND created_at_ms <= ";
    AppendNumber(sql, *latest);
  }
  if (span.behind && *latest == span.behind->created_at) {
    sql += " AND NOT (created_at_ms = ";
    AppendNumber(sql, span.behind->created_at);
    sql += " AND member <= ";
    sql += Quoted(MemberText(span.behind->post));
    sql += ")";
  }
  sql += " ORDER BY author_id, created_at_ms DESC, member";
  AppendLimit(sql, limit);
  return sql;
}

std::string FolloweesSql(UserId reader) {
  std::string sql = "SELECT dst FROM following WHERE state = 1 AND src = ";
  AppendId(sql, reader);
  return sql;
}

std::string LastAtSql(std::span<const UserId> authors) {
  std::string sql =
      "SELECT author_id, last_at, COALESCE(marked, 0), COALESCE(announced, 0)"
      " FROM author FORCE INDEX (PRIMARY) LEFT JOIN author_mode USING (author_id) WHERE author_id "
      "IN ";
  AppendInList(sql, authors);
  return sql;
}

std::string ModesSql(std::span<const UserId> authors) {
  std::string sql = "SELECT author_id, pull," + SinceSql("NULLIF(announced, 0)") +
                    ", marked, by_hand, version," + SinceSql("since") + ", live, lag_ms," +
                    SinceSql("weighed") +
                    " FROM author_mode FORCE INDEX (PRIMARY) WHERE author_id IN ";
  AppendInList(sql, authors);
  return sql;
}

// MariaDB assigns from left to right. A column has its stored value until its own assignment.
std::string SwitchAuthorSql(UserId author, bool pull, uint64_t version) {
  std::string sql =
      pull ? "UPDATE author_mode SET pull = 1, marked = 1" : "UPDATE author_mode SET pull = 0";
  sql += std::string(", since = ") + kNowMs + ", version = version + 1 WHERE author_id = ";
  AppendId(sql, author);
  sql += " AND version = ";
  AppendNumber(sql, version);
  return sql;
}

std::string CountPulledSql() {
  return "SELECT by_hand, COUNT(*) FROM author_mode FORCE INDEX (pulled) WHERE pull = 1"
         " GROUP BY by_hand";
}

std::string WeighAuthorSql(UserId author, uint64_t live, std::chrono::milliseconds lag) {
  std::string sql = "INSERT INTO author_mode (author_id, live, lag_ms, weighed) VALUES (";
  AppendId(sql, author);
  sql += ',';
  AppendNumber(sql, live);
  sql += ',';
  AppendNumber(sql, lag.count());
  sql += std::string(",") + kNowMs +
         ") ON DUPLICATE KEY UPDATE live = VALUES(live), lag_ms = VALUES(lag_ms),"
         " weighed = VALUES(weighed)";
  return sql;
}

std::string FansCountSql(std::span<const UserId> authors) {
  std::string sql =
      "SELECT user_id, fans_cnt FROM user_fan FORCE INDEX (PRIMARY) WHERE user_id IN ";
  AppendInList(sql, authors);
  return sql;
}

std::string BelowZeroSql(std::span<const UserId> authors) {
  std::string sql =
      "SELECT user_id FROM user_fan FORCE INDEX (PRIMARY) WHERE fans_cnt < 0 AND user_id IN ";
  AppendInList(sql, authors);
  return sql;
}

std::string PendingChangesSql(uint64_t after, uint32_t limit) {
  std::string sql = std::string(kChanges) + "(pending) WHERE done = 0 AND id > ";
  AppendNumber(sql, after);
  sql += " ORDER BY id";
  AppendLimit(sql, limit);
  return sql;
}

std::string PendingOfSql(std::span<const uint64_t> ids) {
  std::string sql = std::string(kChanges) + "(PRIMARY) WHERE done = 0 AND id IN ";
  AppendInList(sql, ids);
  return sql;
}

std::string OldestDoneSql(std::chrono::seconds keep, uint32_t limit) {
  std::string sql = "SELECT id, ts < NOW(3) - INTERVAL ";
  AppendNumber(sql, keep.count());
  sql += " SECOND FROM log1 FORCE INDEX (pending) WHERE done = 1 ORDER BY id";
  AppendLimit(sql, limit);
  return sql;
}

std::string AnnounceAuthorSql(UserId author) {
  std::string sql =
      std::string("UPDATE author_mode SET announced = ") + kNowMs + " WHERE author_id = ";
  AppendId(sql, author);
  return sql;
}

std::string NotPushedSql(std::span<const PostKey> posts) {
  std::string sql =
      "SELECT author_id, post_id FROM author_post FORCE INDEX (PRIMARY) WHERE pushed = 0"
      " AND (author_id, post_id) IN ";
  AppendKeys(sql, posts);
  return sql;
}

}  // namespace fanline::mysql
