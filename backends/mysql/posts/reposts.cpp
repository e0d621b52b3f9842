#include "backends/mysql/posts/reposts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

// Rows of `repost` as r, at most `rows`, each with its visible post as p, or NULL.
std::string FromReposts(const Original& original, const std::optional<UserId>& after,
                        uint32_t rows) {
  std::string sql =
      Sql(" FROM (SELECT author_id, post_id FROM repost FORCE INDEX (PRIMARY) WHERE original_id = ",
          original.post);
  if (after) AppendSql(sql, " AND author_id > ", *after);
  AppendSql(sql, " ORDER BY author_id, post_id LIMIT ", rows,
            ") AS r LEFT JOIN author_post AS p FORCE INDEX (PRIMARY) ON p.author_id = r.author_id"
            " AND p.post_id = r.post_id AND p.original_id = ",
            original.post, " AND p.original_author = ", original.author,
            " AND p.created_at_ms > 0 AND p.deleted = 0 AND p.hidden = 0");
  return sql;
}

void ReadUsers(Connection& connection, const ReadReposters& request, RepostersRead& reply) {
  struct Reposted {
    UserId user{};
    UnixMs at = 0;  // 0: not visible
  };
  const auto rows = connection.All(Sql("SELECT r.author_id, COALESCE(p.created_at_ms, 0)",
                                       FromReposts(request.original, request.after, request.rows)),
                                   [](const Row& row) {
                                     return Reposted{UserId{row.UInt64(1)}, row.Int64(2)};
                                   });
  std::map<UserId, UnixMs> newest;
  for (const Reposted& row : rows) newest[row.user] = std::max(newest[row.user], row.at);
  // The last one's reposts may have been cut, unless they are all that was read.
  if (rows.size() >= request.rows && !newest.empty()) {
    if (newest.size() > 1) newest.erase(std::prev(newest.end()));
    reply.next = newest.rbegin()->first;
  }
  for (const auto& [user, at] : newest) {
    if (at > 0) reply.users.push_back({user, at});
  }
}

}  // namespace

RepostersRead RepostsService::Do(Connection& connection, const ReadReposters& request) const {
  RepostersRead reply{.shard = connection.shard(), .status = {}};
  const PostKey key = request.original.key();
  for (const auto& [found, state] : ReadPostRows(connection, {key})) reply.state = state;
  if (request.rows > 0) ReadUsers(connection, request, reply);
  if (request.counted == 0) return reply;
  connection.Query(Sql("SELECT COUNT(DISTINCT p.author_id), COUNT(*)",
                       FromReposts(request.original, {}, request.counted)),
                   [&](const Row& row) {
                     reply.count = row.UInt64(1);
                     reply.more = row.UInt64(2) >= request.counted;
                   });
  return reply;
}

RepostsByRead RepostsService::Do(Connection& connection, const ReadRepostsBy& request) const {
  RepostsByRead reply{.shard = connection.shard(), .status = {}};
  reply.posts = connection.All(
      Sql("SELECT STRAIGHT_JOIN r.post_id FROM repost AS r FORCE INDEX (PRIMARY) JOIN author_post "
          "AS"
          " p FORCE INDEX (PRIMARY) ON p.author_id = r.author_id AND p.post_id = r.post_id AND"
          " p.original_id = r.original_id WHERE r.original_id = ",
          request.original, " AND r.author_id = ", request.user,
          " AND p.deleted = 0 ORDER BY r.post_id LIMIT ", request.limit),
      [](const Row& row) { return PostId{row.UInt64(1)}; });
  return reply;
}

}  // namespace fanline::mysql
