// Lists of relations: whom a user follows, who follows a user, and both; newest first, page by
// page. Also their numbers.
//
// A page begins behind the last entry of the previous page, by value. Whatever is written
// meanwhile, a walk shows no entry twice and skips none that kept its place. An edge that is
// followed again moves to the front.

#include <algorithm>

#include "backends/mysql/edges/relation_store.h"
#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

// The first comparison bounds the range that is read; the second is exact.
std::string NewestBehind(const std::optional<ListCursor>& after, const char* pos,
                         const char* user) {
  std::string sql;
  if (after) {
    AppendSql(sql, " AND ", pos, " <= ", after->pos, " AND (", pos, " < ", after->pos, " OR ", user,
              " < ", after->user, ")");
  }
  AppendSql(sql, " ORDER BY ", pos, " DESC, ", user, " DESC");
  return sql;
}

// Reads one entry more than it returns, which tells whether there is a next page.
ListPage ReadPage(Connection& connection, const ReadList& request) {
  const uint32_t most = std::clamp(request.limit, 1u, ReadList::kMostEntries);
  ListPage page;
  const bool chose = request.list != UserList::kFollowers;
  page.entries = connection.All(ListPageSql(request, most + 1), [chose](const Row& row) {
    ListEntry entry{UserId{row.UInt64(1)}, row.Int64(2)};
    if (chose) entry.delivery = static_cast<Delivery>(row.UInt64(3));
    return entry;
  });
  if (page.entries.size() <= most) return page;
  page.entries.resize(most);
  const ListEntry& last = page.entries.back();
  page.next = {last.pos, last.user, (request.after ? request.after->shown : 0) + most};
  return page;
}

// How many followers come before a page. A cursor says it too, but it comes from a client. Nearly
// every user's counter shows that there is nothing to count.
uint32_t FollowersBefore(Connection& connection, const ReadList& request, uint32_t most_shown) {
  const auto& after = request.after;
  const uint32_t before = after ? after->shown : 0;
  if (!after || before >= most_shown) return before;
  const uint64_t counted = connection.Number(
      Sql("SELECT COUNT(*) FROM (SELECT 1 FROM follower FORCE INDEX (newest) WHERE state = 1 AND"
          " dst = ",
          request.user, " AND pos >= ", after->pos, " AND (pos > ", after->pos, " OR src >= ",
          after->user, ") AND (SELECT fans_cnt FROM user_fan WHERE user_id = ", request.user,
          ") > ", most_shown, " LIMIT ", most_shown, ") AS seen"));
  return std::max(before, static_cast<uint32_t>(counted));
}

ListPage ReadFollowers(Connection& connection, ReadList request, uint32_t most_shown) {
  const uint32_t before = FollowersBefore(connection, request, most_shown);
  if (before >= most_shown) return {};
  request.limit = std::min(request.limit, most_shown - before);
  ListPage page = ReadPage(connection, request);
  if (page.next) page.next->shown = before + static_cast<uint32_t>(page.entries.size());
  if (page.next && page.next->shown >= most_shown) page.next.reset();
  return page;
}

}  // namespace

std::string ListPageSql(const ReadList& request, uint32_t limit) {
  const UserId user = request.user;
  switch (request.list) {
    case UserList::kFollowing:
      return Sql(
          "SELECT dst, pos, delivery FROM following FORCE INDEX (newest)"
          " WHERE state = 1 AND src = ",
          user, NewestBehind(request.after, "pos", "dst"), " LIMIT ", limit);
    case UserList::kFollowers:
      return Sql("SELECT src, pos FROM follower FORCE INDEX (newest) WHERE state = 1 AND dst = ",
                 user, NewestBehind(request.after, "pos", "src"), " LIMIT ", limit);
    case UserList::kFriends:
      break;
  }
  // Both rows are the user's own and lie on one shard. The statement walks the followed users in
  // order and looks each up among the followers by its whole key, until the page is full.
  return Sql(
      "SELECT STRAIGHT_JOIN f.dst, f.pos, f.delivery FROM following AS f FORCE INDEX (newest)"
      " JOIN follower AS r FORCE INDEX (PRIMARY) ON r.dst = ",
      user, " AND r.bucket = CRC32(f.dst) % ", kBuckets,
      " AND r.src = f.dst AND r.state = 1 WHERE f.state = 1 AND f.src = ", user,
      NewestBehind(request.after, "f.pos", "f.dst"), " LIMIT ", limit);
}

ListRead RelationService::Do(Connection& connection, const ReadList& request) const {
  return {.status = {},
          .page = request.list == UserList::kFollowers
                      ? ReadFollowers(connection, request, most_followers_shown)
                      : ReadPage(connection, request)};
}

uint64_t MutedOf(Connection& connection, UserId user) {
  return connection.Number(
      Sql("SELECT COUNT(*) FROM following FORCE INDEX (newest) WHERE state = 1 AND delivery = 2"
          " AND src = ",
          user));
}

RelationCounts RelationCountsOf(Connection& connection, UserId user) {
  RelationCounts counts;
  connection.Query(
      Sql("SELECT COALESCE((SELECT following_cnt FROM user_rel WHERE user_id = ", user,
          "), 0), COALESCE((SELECT fans_cnt FROM user_fan WHERE user_id = ", user, "), 0)"),
      [&](const Row& row) {
        counts = {row.Int64(1), row.Int64(2)};
      });
  return counts;
}

}  // namespace fanline::mysql
