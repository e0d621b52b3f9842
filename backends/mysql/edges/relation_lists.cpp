#include "backends/mysql/edges/relation_lists.h"

#include <algorithm>
#include <string>

#include "backends/mysql/edges/relation_statements.h"

namespace fanline::mysql {

Status RelationLists::Following(UserId user, const std::optional<ListCursor>& after, uint32_t limit,
                                ListPage* out) {
  return ReadPage(FollowingPageSql, user, after, limit, out);
}

Status RelationLists::Followers(UserId user, const std::optional<ListCursor>& after, uint32_t limit,
                                ListPage* out) {
  *out = {};
  uint32_t shown = 0;
  Status status = FollowersBefore(user, after, &shown);
  if (!status.done() || shown >= most_followers_shown_) return status;
  status =
      ReadPage(FollowersPageSql, user, after, std::min(limit, most_followers_shown_ - shown), out);
  if (out->next) out->next->shown = shown + static_cast<uint32_t>(out->entries.size());
  if (out->next && out->next->shown >= most_followers_shown_) out->next.reset();
  return status;
}

Status RelationLists::FollowersBefore(UserId user, const std::optional<ListCursor>& after,
                                      uint32_t* out) {
  *out = after ? after->shown : 0;
  if (!after || *out >= most_followers_shown_) return Status::Done();
  const std::string sql = FollowersBeforeSql(user, *after, most_followers_shown_);
  return connections_.Run(map_.ShardOf(user), [&](Connection& connection) {
    connection.Query(sql, [&](const Row& row) {
      *out = std::max(after->shown, static_cast<uint32_t>(row.UInt64(1)));
    });
  });
}

Status RelationLists::Friends(UserId user, const std::optional<ListCursor>& after, uint32_t limit,
                              ListPage* out) {
  return ReadPage(FriendsPageSql, user, after, limit, out);
}

// Reads one entry more than it returns, which tells whether there is a next page.
Status RelationLists::ReadPage(PageSql sql, UserId user, const std::optional<ListCursor>& after,
                               uint32_t limit, ListPage* out) {
  const uint32_t most = std::clamp(limit, 1u, kMostPerPage);
  *out = {};
  Status status = connections_.Run(map_.ShardOf(user), [&](Connection& connection) {
    out->entries.clear();
    connection.Query(sql(user, after, most + 1), [&](const Row& row) {
      out->entries.push_back({UserId{row.UInt64(1)}, row.Int64(2)});
    });
  });
  if (!status.done() || out->entries.size() <= most) return status;
  out->entries.resize(most);
  const ListEntry& last = out->entries.back();
  out->next = {last.pos, last.user, (after ? after->shown : 0) + most};
  return status;
}

Status RelationLists::Counts(UserId user, RelationCounts* out) {
  const std::string id = ToString(user);
  const std::string sql =
      "SELECT COALESCE((SELECT following_cnt FROM user_rel WHERE user_id = " + id +
      "), 0), COALESCE((SELECT fans_cnt FROM user_fan WHERE user_id = " + id + "), 0)";
  return connections_.Run(map_.ShardOf(user), [&](Connection& connection) {
    connection.Query(sql, [&](const Row& row) { *out = {row.Int64(1), row.Int64(2)}; });
  });
}

}  // namespace fanline::mysql
