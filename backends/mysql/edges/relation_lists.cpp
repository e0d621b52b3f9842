#include "backends/mysql/edges/relation_lists.h"

#include <algorithm>
#include <string>

#include "backends/mysql/edges/relation_statements.h"

namespace fanline::mysql {
namespace {

using PageSql = std::string (*)(UserId, const std::optional<ListCursor>&, uint32_t);

// Reads one entry more than it returns, which tells whether there is a next page.
ListPage ReadPage(Connection& connection, PageSql sql, const ReadList& request) {
  const uint32_t most = std::clamp(request.limit, 1u, ReadList::kMostEntries);
  ListPage page;
  connection.Query(sql(request.user, request.after, most + 1), [&](const Row& row) {
    page.entries.push_back({UserId{row.UInt64(1)}, row.Int64(2)});
  });
  if (page.entries.size() <= most) return page;
  page.entries.resize(most);
  const ListEntry& last = page.entries.back();
  page.next = {last.pos, last.user, (request.after ? request.after->shown : 0) + most};
  return page;
}

// How many followers come before a page. A cursor says it too, but it comes from a client.
uint32_t FollowersBefore(Connection& connection, const ReadList& request, uint32_t most_shown) {
  const auto& after = request.after;
  uint32_t before = after ? after->shown : 0;
  if (!after || before >= most_shown) return before;
  connection.Query(FollowersBeforeSql(request.user, *after, most_shown), [&](const Row& row) {
    before = std::max(before, static_cast<uint32_t>(row.UInt64(1)));
  });
  return before;
}

ListPage ReadFollowers(Connection& connection, ReadList request, uint32_t most_shown) {
  const uint32_t before = FollowersBefore(connection, request, most_shown);
  if (before >= most_shown) return {};
  request.limit = std::min(request.limit, most_shown - before);
  ListPage page = ReadPage(connection, FollowersPageSql, request);
  if (page.next) page.next->shown = before + static_cast<uint32_t>(page.entries.size());
  if (page.next && page.next->shown >= most_shown) page.next.reset();
  return page;
}

}  // namespace

ListPage ListRelations(Connection& connection, const ReadList& request,
                       uint32_t most_followers_shown) {
  switch (request.list) {
    case UserList::kFollowing:
      return ReadPage(connection, FollowingPageSql, request);
    case UserList::kFollowers:
      return ReadFollowers(connection, request, most_followers_shown);
    case UserList::kFriends:
      return ReadPage(connection, FriendsPageSql, request);
  }
  return {};
}

RelationCounts RelationCountsOf(Connection& connection, UserId user) {
  const std::string id = ToString(user);
  RelationCounts counts;
  connection.Query("SELECT COALESCE((SELECT following_cnt FROM user_rel WHERE user_id = " + id +
                       "), 0), COALESCE((SELECT fans_cnt FROM user_fan WHERE user_id = " + id +
                       "), 0)",
                   [&](const Row& row) {
                     counts = {row.Int64(1), row.Int64(2)};
                   });
  return counts;
}

}  // namespace fanline::mysql
