// Requests: reads of the truth by a pusher (primaries of the shards, autocommit, no open
// transaction across reads). A reply reports what was committed at some moment after Submit, as
// "look again" needs. An adapter may merge requests of one shard into one statement. Everything
// about one author lies on one shard. Posts and followers are asked apart, so that they may have
// different servers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/model/post_state.h"
#include "fanline/ports/mutes.h"

namespace fanline {

// Keyset position in one author's followers within a range: after (bucket, reader).
struct FollowerCursor {
  Bucket bucket = 0;
  UserId reader{};
  friend bool operator==(const FollowerCursor&, const FollowerCursor&) = default;
};

// The states of some posts, whose authors lie on one shard. At least one.
struct ReadPostStates {
  using Reply = struct PostStates;
  uint64_t id = 0;
  std::vector<PostKey> posts;
};
struct PostStates {
  uint64_t id = 0;
  Status status;
  std::vector<PostState> posts;  // in the request's order; without a row a default PostState
};

// One page of an author's followers in a range.
struct ReadFollowerPage {
  using Reply = struct FollowerPage;
  uint64_t id = 0;
  Range range = 0;
  UserId author{};
  std::optional<FollowerCursor> after;  // none: from the range's first bucket
  uint32_t limit = 0;                   // followers at most
};
struct FollowerPage {
  uint64_t id = 0;
  Status status;
  std::vector<UserId> followers;       // of edges that bring posts, in (bucket, reader) order
  std::vector<UserId> no_reposts;      // of these, in order: but no reposts (Delivery)
  std::optional<FollowerCursor> next;  // none: that was the last page
};

// Reads what a sync of one reader with one author needs: the edge as `follower` has it, and which
// items must be there. If the window is 0, only the edge is read.
struct ReadSync {
  using Reply = struct SyncTruth;
  uint64_t id = 0;
  UserId reader{};
  UserId author{};
  uint32_t window = 0;  // visible items at most
};
struct SyncTruth {
  uint64_t id = 0;
  Status status;
  bool following = false;     // the reader follows the author, and the follow brings something
  bool no_reposts = false;    // but no reposts: `visible` holds none
  bool marked = false;        // following, and the author may have posts that are merged at read
  std::vector<Item> visible;  // following: newest first, pushed = 1 only
  std::optional<UnixMs> newest_unread;  // time of the newest visible item beyond `window`
};

}  // namespace fanline
