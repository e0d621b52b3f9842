// Requests about the reposts of a post, for programs that serve users, and for who sweeps reposts
// of posts that are gone. A repost lies on the shard of who reposts, so who reposted a post is
// asked of all shards.
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

// A place in the order of table `repost`: that of a row. The default is in front of all.
struct RepostPlace {
  PostId original{};
  UserId author{};
  PostId post{};
  friend auto operator<=>(const RepostPlace&, const RepostPlace&) = default;
};

// Reads the next `limit` rows of table `repost` behind the place, and deletes those whose posts are
// deleted: no event brings these back. Repeating it does no harm.
struct SweepReposts {
  using Reply = struct RepostsSwept;
  uint64_t id = 0;
  Shard shard = 0;
  RepostPlace after = {};
  uint32_t limit = 0;
};
struct RepostsSwept {
  uint64_t id = 0;
  Status status;
  struct Repost {
    PostKey post;
    Original original;
    friend bool operator==(const Repost&, const Repost&) = default;
  };
  std::vector<Repost> reposts = {};  // those that are not deleted, any order
  RepostPlace last = {};             // of the rows that were read; none was: the place asked for
  uint64_t rows = 0;                 // that were read
  bool over = false;                 // these were the last rows
};

}  // namespace fanline
