// Requests about the reposts of a post, for programs that serve users. A repost lies on the shard
// of who reposts, so who reposted a post is asked of all shards.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/original.h"
#include "fanline/model/post_state.h"

namespace fanline {

// Users of one shard who repost a post visibly, in order of their ids. Reads at most `rows`
// reposts, and as many as are counted: an answer may be short, and yet have a `next`.
struct ReadReposters {
  using Reply = struct RepostersRead;
  uint64_t id = 0;
  Shard shard = 0;
  Original original{};
  std::optional<UserId> after = {};
  uint32_t rows = 0;
  uint32_t counted = 0;  // 0: nobody is counted
};
struct RepostersRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  struct Reposter {
    UserId user{};
    UnixMs at = 0;  // created_at of the newest of his reposts
    friend bool operator==(const Reposter&, const Reposter&) = default;
  };
  std::vector<Reposter> users = {};
  std::optional<UserId> next = {};  // there may be more behind this one; none: those were all
  uint64_t count = 0;               // of users, by the reposts that were counted
  bool more = false;                // there may be more reposts than were to be counted
  // On the shard of the original's author, if it has a row.
  std::optional<PostState> state = {};
};

// A user's reposts of a post that are not deleted, at most `limit`, in order of their ids.
struct ReadRepostsBy {
  using Reply = struct RepostsByRead;
  uint64_t id = 0;
  Shard shard = 0;  // the user's
  UserId user{};
  PostId original{};
  uint32_t limit = 0;
};
struct RepostsByRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  std::vector<PostId> posts = {};
};

}  // namespace fanline
