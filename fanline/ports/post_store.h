// Requests: the dispatcher's writes of truth, rows of `author_post`. One request = one transaction
// on one shard; either all of it is committed or none. Idempotent: the rule is ApplyEvent in
// post_state.h. The author's last_at grows in the same transaction (published events only). Whether
// a post is pushed is decided when its row is made, by the author's mode (table author_mode).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/author_mode.h"
#include "fanline/model/bucket.h"
#include "fanline/model/event.h"

namespace fanline {

struct ApplyEvents {
  using Reply = struct EventsApplied;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<FeedEvent> events;  // any order, any mix of authors of that shard
  // After the commit the followers are read of authors who have at most this many; 0: of none.
  uint32_t most_followers = 0;
};
struct EventsApplied {
  uint64_t id = 0;
  Status status;  // kNever: one of the events cannot be stored; the caller finds it by halving
  struct Applied {
    bool pushed = true;      // read back. true: to be fanned out, false: merged at read
    AuthorMode mode;         // the author's; if the row is new, it was made by this mode
    uint64_t followers = 0;  // the author's counter row
    // Every bucket that held a follower after the commit, each once, ascending. None: not asked
    // for, too many or not readable, so any bucket may hold one.
    std::optional<std::vector<Bucket>> buckets{};
  };
  std::vector<Applied> applied;  // one per event, in the request's order
  Status followers{};            // of the read of followers; the events are committed in any case
};

// What those of `posts` show that are reposts, by their rows. Not proved to be the truth of now: a
// lack of it does no harm (dispatcher/original_reads.h).
struct ReadShown {
  using Reply = struct ShownRead;
  uint64_t id = 0;
  Shard shard = 0;  // of all their authors
  std::vector<PostKey> posts = {};
};
struct ShownRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  std::map<PostKey, Original> shown = {};
};

// Notes that all hints of one of the author's posts that are merged at read were appended: later
// ones need none. If this gets lost, another post's hints are appended for nothing.
struct AnnounceAuthor {
  using Reply = Acknowledged<AnnounceAuthor>;
  uint64_t id = 0;
  Shard shard = 0;
  UserId author{};
};
using AuthorAnnounced = AnnounceAuthor::Reply;

// Switches an author's mode automatically, unless it was changed (also by hand) since `version` was
// read. Like a switch by hand, a switch to pull marks the author.
struct SwitchAuthor {
  using Reply = struct AuthorSwitched;
  uint64_t id = 0;
  Shard shard = 0;
  UserId author{};
  bool pull = false;
  uint64_t version = 0;
};
struct AuthorSwitched {
  uint64_t id = 0;
  Status status;
  bool switched = false;
};

// Stores the pusher's estimate of what a post of an author costs. One request writes one row; the
// last one wins. A lost one costs nothing: the author's next posts are weighed again.
struct WeighAuthor {
  using Reply = Acknowledged<WeighAuthor>;
  uint64_t id = 0;
  Shard shard = 0;  // of the author
  UserId author{};
  uint64_t live = 0;  // followers with a live timeline in all ranges
  Duration lag{};     // from publish to delivery
};
using AuthorWeighed = WeighAuthor::Reply;

}  // namespace fanline
