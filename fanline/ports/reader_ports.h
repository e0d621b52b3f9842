// Ports of the reading side (the API, feedctl): the truth behind one reader's timeline, as
// requests, and the live timeline with the two scripts of a rebuild. The logic that uses them
// (timeline/) is passive.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/model/post_state.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/mutes.h"
#include "fanline/ports/port.h"

namespace fanline {

struct AuthorLastAt {
  UserId author{};
  UnixMs last_at = 0;      // >= created_at of every visible post; 0 = never posted
  bool marked = false;     // there may be posts that are merged at read
  bool announced = false;  // and hints told the live timelines of followers
};

// One half of an author's posts: those that are pushed, or those that are merged at read.
struct PostsOf {
  UserId author{};
  bool pushed = true;
  bool reposts = true;  // those among them, too
  friend auto operator<=>(const PostsOf&, const PostsOf&) = default;
};

struct Position {  // a place in a timeline: the last item seen
  UnixMs created_at = 0;
  PostId post{};
};

// The span of time a read asks for. Each bound that is set holds.
struct TimeSpan {
  std::optional<UnixMs> above;  // later than
  std::optional<UnixMs> up_to;  // not later than
  std::optional<Position> behind;
};

// What one read of many authors found before it reached its limit.
struct ItemsRead {
  std::vector<Item> items;         // author by author, each one's newest first
  std::optional<PostsOf> partial;  // the read ended within these, which are the last of `items`
  std::vector<PostsOf> unread;     // nothing of these was read
  size_t of_partial = 0;           // how many of `items`, the last, are of `partial`
};

// What the shards know of a user, without any list.
struct UserFacts {
  bool known = false;    // some row is about the user: an edge, past or present, or a post
  bool follows = false;  // somebody, now
};

// ---- the truth
// Each request names the shard that serves it, and so does its reply. kLater: the shard is away, or
// busy. reader_truth.h asks several shards for what one reader needs.

// Which server answered, and which of its starts. Its reads were the truth if it is still the
// primary afterwards.
using ServerId = uint64_t;

struct ReadFollowees {
  using Reply = struct FolloweesRead;
  uint64_t id = 0;
  Shard shard = 0;  // the reader's
  UserId reader{};
};
struct FolloweesRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  ServerId server = 0;
  std::vector<UserId> authors = {};     // whose posts are wanted
  std::vector<UserId> no_reposts = {};  // of these, ascending: but no reposts (Delivery)
  Mutes mutes = {};                     // the reader's, unless they are empty
};

struct ReadLastAt {
  using Reply = struct LastAtRead;
  uint64_t id = 0;
  Shard shard = 0;  // of all of them
  std::vector<UserId> of = {};
};
struct LastAtRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  ServerId server = 0;
  std::vector<AuthorLastAt> authors = {};  // each that has a row, any order
};

// Visible items of `posts` in the span, at most `limit` in all. The shard reads about as many rows
// as it answers, and passes over reposts that are not wanted.
struct ReadItems {
  using Reply = struct ItemsAnswered;
  uint64_t id = 0;
  Shard shard = 0;  // of all authors
  std::vector<PostsOf> posts = {};
  TimeSpan span = {};
  uint32_t limit = 0;
  bool proved = false;  // the reply is the truth if it is done, and needs no ConfirmReads
};
struct ItemsAnswered {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  ServerId server = 0;
  ItemsRead read = {};
};

// Whether `server` answers here and is the primary, so that what it answered before was the truth.
struct ConfirmReads {
  using Reply = struct ReadsConfirmed;
  uint64_t id = 0;
  Shard shard = 0;
  ServerId server = 0;
};
struct ReadsConfirmed {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
};

// Visible items of one author in the span, pushed or not, in the one order, at most `limit`. The
// truth if it is done, and so is the next.
struct ReadOutbox {
  using Reply = struct OutboxRead;
  uint64_t id = 0;
  Shard shard = 0;  // the author's
  UserId author{};
  TimeSpan span = {};
  uint32_t limit = 0;
};
struct OutboxRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  std::vector<Item> items = {};
};

// The states of posts that were reposted. The truth if it is done.
struct ReadOriginals {
  using Reply = struct OriginalsRead;
  uint64_t id = 0;
  Shard shard = 0;  // of all their authors
  std::vector<Original> originals = {};
};
struct OriginalsRead {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  // In the request's order; without a row a default PostState. Nothing: nobody knows.
  std::vector<std::optional<PostState>> states = {};
};

// Which of the originals some of the authors reposted, visibly, at the place or in front of it. Of
// an original that many reposted, the shard looks for the authors' own reposts; of the others it
// reads all. So it reads at most a thousand rows for each original, or one for each author. The
// truth if it is done.
struct FindSources {
  using Reply = struct SourcesFound;
  uint64_t id = 0;
  Shard shard = 0;  // the authors'
  std::vector<Original> originals = {};
  std::vector<UserId> by = {};  // ascending
  Position in_front_of = {};
};
struct SourcesFound {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  std::vector<Original> originals = {};
};

struct LookUpUser {
  using Reply = struct UserLookedUp;
  uint64_t id = 0;
  Shard shard = 0;  // the user's
  UserId user{};
};
struct UserLookedUp {
  uint64_t id = 0;
  Shard shard = 0;
  Status status;
  UserFacts facts = {};
};

// ---- live timelines

enum class RebuildBegun {
  kCreated,       // the key exists under the token and from now on collects pushes (TTL 60 s)
  kAlreadyReady,  // somebody was faster
  kBusy,          // another rebuild is under way
  kRefused,       // the range was last served under another topic generation than this reader's
};

// How long a timeline lives if its rebuild found no item; reads do not prolong it.
inline constexpr std::chrono::minutes kEmptyTimelineTtl{5};

struct LivePage {
  TimelineState state = TimelineState::kNotLive;
  std::vector<Item> items;  // newest first, strictly newer than the floor
  Marks marks;
  uint64_t mutes = 0;  // Mutes::mark of the reader's, as the timeline was last told
  Floor floor = kNoFloor;
  bool reached_floor = false;  // the cache has nothing older: pull from the truth
  std::vector<Item> in_front;  // if it was asked for; without their times, any order
  UnixMs as_of = 0;            // AppliedPosition::as_of of the reader's range
};

// Items behind `after`, at most `limit`; and those at that place and in front of it, if `in_front`.
// Refreshes the TTL of a ready timeline that holds an item,
// at most once a minute. kLater, as for the others: Redis is away, or busy.
struct ReadLivePage {
  using Reply = struct LivePageRead;
  uint64_t id = 0;
  UserId reader{};
  std::optional<Position> after = {};
  uint32_t limit = 0;
  bool in_front = false;
};
struct LivePageRead {
  uint64_t id = 0;
  Status status;
  LivePage page = {};
};

// Rebuild script 1.
struct BeginRebuild {
  using Reply = struct RebuildBegan;
  uint64_t id = 0;
  UserId reader{};
  std::string token = {};
};
struct RebuildBegan {
  uint64_t id = 0;
  Status status;
  RebuildBegun begun{};
};

// Rebuild script 2. A timeline without any item, mark or mutes lives for kEmptyTimelineTtl: a
// made-up reader gets one too.
struct FinishRebuild {
  using Reply = struct RebuildFinished;
  uint64_t id = 0;
  UserId reader{};
  std::string token = {};
  std::vector<Item> items = {};  // newest first, each once
  Floor floor = kNoFloor;
  std::vector<Mark> marks = {};  // of the followed who may have posts that are merged at read
  uint64_t mutes = 0;            // Mutes::mark of the reader's
};
struct RebuildFinished {
  uint64_t id = 0;
  Status status;
  bool applied = false;  // if not, start again: the token is gone, or removals left too few items
};

// Ends the token's rebuild, which cannot go on: there is no timeline then, and the next
// BeginRebuild creates one. Does nothing if the token is gone.
struct AbandonRebuild {
  using Reply = Acknowledged<AbandonRebuild>;
  uint64_t id = 0;
  UserId reader{};
  std::string token = {};
};
using RebuildAbandoned = AbandonRebuild::Reply;

using TimelinePort = Port<ReadLivePage, BeginRebuild, FinishRebuild, AbandonRebuild>;

}  // namespace fanline
