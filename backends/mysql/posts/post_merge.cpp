#include "backends/mysql/posts/post_merge.h"

#include <algorithm>

#include "backends/mysql/sql/sql_text.h"
#include "fanline/model/item.h"

namespace fanline::mysql {
namespace {

void AppendRow(std::string& sql, const PostChange& change) {
  const auto& [key, state] = change;
  // Names each member, so that a new one fails to compile until it is written here.
  const auto& [created_at, deleted, hidden, pushed, visibility, edit, original] = state;
  AppendSql(sql, "(", key.first, ",", key.second, ",",
            created_at ? std::to_string(*created_at) : "NULL", ",", deleted, ",", hidden, ",",
            visibility, ",", edit, ",", pushed, ",");
  if (original) {
    AppendSql(sql, original.post, ",", original.author, ")");
  } else {
    sql += "NULL,NULL)";
  }
}

}  // namespace

std::vector<PostChange> FoldEvents(std::span<const FeedEvent> events,
                                   const std::set<UserId>& pull) {
  std::map<PostKey, PostState> posts;
  for (const FeedEvent& event : events) {
    PostState& state = posts[{event.author, event.post}];
    state.pushed = !pull.contains(event.author);
    ApplyEvent(event, state);
  }
  return {posts.begin(), posts.end()};
}

std::vector<AuthorTime> NewestPublished(std::span<const FeedEvent> events) {
  std::map<UserId, UnixMs> newest;
  for (const FeedEvent& event : events) {
    if (event.kind != EventKind::kPublished) continue;
    UnixMs& at = newest[event.author];
    at = std::max(at, event.created_at);
  }
  return {newest.begin(), newest.end()};
}

std::vector<RepostKey> RepostsAmong(std::span<const PostChange> changes) {
  std::vector<RepostKey> reposts;
  for (const auto& [key, state] : changes) {
    if (state.original) reposts.push_back({state.original.post, key});
  }
  SortUnique(reposts);
  return reposts;
}

std::string AddRepostsSql(std::span<const RepostKey> reposts) {
  std::string sql = "INSERT IGNORE INTO repost (original_id, author_id, post_id) VALUES ";
  AppendJoined(sql, reposts, [](std::string& out, const RepostKey& repost) {
    AppendTuple(out, Raw(repost.first), Raw(repost.second.first), Raw(repost.second.second));
  });
  return sql;
}

// MariaDB assigns from left to right, and later assignments see earlier ones. So the original is
// decided before created_at_ms changes, and `hidden` before visibility_version does. A stored row
// keeps its `pushed`.
std::string MergePostsSql(std::span<const PostChange> changes) {
  std::string sql =
      "INSERT INTO author_post (author_id, post_id, created_at_ms, deleted, hidden,"
      " visibility_version, edit_version, pushed, original_id, original_author) VALUES ";
  AppendJoined(sql, changes, AppendRow);
  sql +=
      " ON DUPLICATE KEY UPDATE"
      " original_id = IF(created_at_ms IS NULL, VALUES(original_id), original_id),"
      " original_author = IF(created_at_ms IS NULL, VALUES(original_author), original_author),"
      " created_at_ms = COALESCE(created_at_ms, VALUES(created_at_ms)),"
      " deleted = GREATEST(deleted, VALUES(deleted)),"
      " hidden = IF(VALUES(visibility_version) > visibility_version, VALUES(hidden), hidden),"
      " visibility_version = GREATEST(visibility_version, VALUES(visibility_version)),"
      " edit_version = GREATEST(edit_version, VALUES(edit_version))";
  return sql;
}

std::string GrowLastAtSql(std::span<const AuthorTime> times) {
  std::string sql = "INSERT INTO author (author_id, last_at) VALUES ";
  AppendJoined(sql, times, [](std::string& out, const AuthorTime& time) {
    AppendTuple(out, Raw(time.first), time.second);
  });
  return sql + " ON DUPLICATE KEY UPDATE last_at = GREATEST(last_at, VALUES(last_at))";
}

}  // namespace fanline::mysql
