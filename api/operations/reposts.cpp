// Who reposts a post, and the undoing of a user's reposts by the post that they show.
#include <algorithm>
#include <map>
#include <memory>

#include "api/operations/exchange.h"

namespace fanline::api {
namespace {

// Of a shard, beside what a page needs; some may be undone, or be by one user.
constexpr uint32_t kSpareRows = 200;
constexpr uint32_t kMostCounted = 5'000;  // of each shard
constexpr uint32_t kMostUndone = 100;

struct Reposters {
  Original original{};
  std::optional<UserId> after = {};
  uint32_t limit = 0;
  Shard home = 0;  // of the original's author
  uint32_t under_way = 0;
  std::optional<PostState> state = {};
  std::vector<RepostersRead::Reposter> users = {};
  std::optional<UserId> known_to = {};  // up to this one, all are among `users`; none: all are
  uint64_t count = 0;
  bool more = false;
};

void Take(Reposters& all, const RepostersRead& read) {
  OrFail(read.status);
  if (read.shard == all.home) all.state = read.state;
  all.users.insert(all.users.end(), read.users.begin(), read.users.end());
  if (read.next) all.known_to = all.known_to ? std::min(*all.known_to, *read.next) : *read.next;
  all.count += read.count;
  all.more |= read.more;
}

void AnswerWith(Reposters& all, Exchange& shards) {
  if (!all.state || !all.state->visible()) {
    throw Refused{{Code::kNotFound, "user " + ToString(all.original.author) +
                                        " has no visible post " + ToString(all.original.post)}};
  }
  auto& users = all.users;
  if (all.known_to)
    std::erase_if(users, [&](const auto& each) { return each.user > *all.known_to; });
  std::sort(users.begin(), users.end(),
            [](const auto& a, const auto& b) { return a.user < b.user; });
  std::optional<UserId> next = all.known_to;
  if (users.size() > all.limit) {
    users.resize(all.limit);
    next = users.back().user;
  }
  Json items = Json::array();
  for (const auto& [user, at] : users) {
    items.push_back({{"id", ToString(user)}, {"reposted_at_ms", at}});
  }
  Json body = {{"items", std::move(items)}};
  if (!all.after) {
    body["count"] = all.count;
    body["at_least"] = all.more;
  }
  if (next) body["next_cursor"] = ToString(*next);
  shards.Answer(body);
}

Json ToJson(UserId user, PostId original, const std::vector<PostId>& posts) {
  Json ids = Json::array();
  for (const PostId post : posts) ids.push_back(ToString(post));
  return {
      {"user", ToString(user)}, {"original_id", ToString(original)}, {"undone", std::move(ids)}};
}

}  // namespace

Call ListReposts(const Asked& asked) {
  asked.Takes({"author_id", "limit", "cursor"});
  const std::string* author = asked.Find("author_id");
  if (author == nullptr) {
    throw Refused{{Code::kBadParameter, "author_id is missing; name the post's author"}};
  }
  Reposters all{.original = {asked.Post(), Asked::Id(*author, "author_id")},
                .limit = asked.Limit()};
  if (const std::string* cursor = asked.Find("cursor")) {
    const auto after = ParseId(*cursor);
    if (!after) {
      throw Refused{{Code::kBadCursor, Quoted(*cursor) + " is no cursor; send next_cursor of the "
                                                         "page before as it came, or none"}};
    }
    all.after = UserId{*after};
  }
  return {.begin = [all](Exchange& shards) {
    const auto shared = std::make_shared<Reposters>(all);
    shared->home = shards.map().ShardOf(all.original.author);
    shared->under_way = shards.map().shards();
    for (Shard shard = 0; shard < shards.map().shards(); ++shard) {
      shards.Ask(ReadReposters{.shard = shard,
                               .original = all.original,
                               .after = all.after,
                               .rows = all.limit + kSpareRows,
                               .counted = all.after ? 0 : kMostCounted},
                 [shared, &shards](const RepostersRead& read) {
                   Take(*shared, read);
                   if (--shared->under_way == 0) AnswerWith(*shared, shards);
                 });
    }
  }};
}

Call UndoReposts(const Asked& asked) {
  asked.Takes({});
  const UserId user = asked.User();
  const PostId original = asked.Post(1);
  return {.find = [user, original](Exchange& shards, const Call::Publish& publish) {
    shards.Ask(
        ReadRepostsBy{0, shards.map().ShardOf(user), user, original, kMostUndone},
        [user, original, publish](const RepostsByRead& read) {
          OrFail(read.status);
          if (read.posts.empty()) {
            throw Refused{{Code::kNotFound,
                           "user " + ToString(user) + " has no repost of " + ToString(original) +
                               "; one of the last seconds may not be stored yet: ask again, "
                               "or delete it by its own id"}};
          }
          std::vector<FeedEvent> events;
          for (const PostId post : read.posts) {
            events.push_back({.kind = EventKind::kDeleted, .post = post, .author = user});
          }
          publish(events, {.status = 202, .body = ToJson(user, original, read.posts).dump()});
        });
  }};
}

}  // namespace fanline::api
