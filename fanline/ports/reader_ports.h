// Ports of the reading side (the API, feedctl): the truth behind one reader's timeline, the live
// timeline, and the two scripts of a rebuild. Calls block, each up to its own deadline; one object
// per thread. The logic that uses them (timeline/) is passive: it names the next call and is handed
// the answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/ports/live_timelines.h"

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
  friend auto operator<=>(const PostsOf&, const PostsOf&) = default;
};
inline std::vector<PostsOf> PushedBy(const std::vector<UserId>& authors) {
  std::vector<PostsOf> posts;
  for (const UserId author : authors) posts.push_back({author, true});
  return posts;
}

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
};

// What the shards know of a user, without any list.
struct UserFacts {
  bool known = false;    // some row is about the user: an edge, past or present, or a post
  bool follows = false;  // somebody, now
};

// The first three reads may be answered by a former primary: they count once Confirm says that they
// were the truth. Outbox and LookUp are the truth when they are done.
class ReaderTruth {
 public:
  virtual ~ReaderTruth() = default;
  virtual Status Followees(UserId reader, std::vector<UserId>* out) = 0;
  // For each of `authors` that has a row, any order.
  virtual Status LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out) = 0;
  // Visible items of `posts` in the span, at most `limit` in all. The shards read about as many
  // rows as they answer.
  virtual Status Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit,
                       ItemsRead* out) = 0;
  // Whether all that was read since the last Confirm, failure or ForgetReads was the truth when it
  // was read. Call it before anything rests on them; done at once if nothing was read.
  virtual Status Confirm() = 0;
  // Another piece of work begins: nothing will rest on earlier reads, and Confirm leaves them out.
  virtual void ForgetReads() = 0;
  // Visible items of one author in the span, pushed or not, in the one order, at most `limit`.
  virtual Status Outbox(UserId author, const TimeSpan& span, uint32_t limit,
                        std::vector<Item>* out) = 0;
  virtual Status LookUp(UserId user, UserFacts* out) = 0;
};

enum class RebuildBegun {
  kCreated,       // the key exists under the token and from now on collects pushes (TTL 60 s)
  kAlreadyReady,  // somebody was faster
  kBusy,          // another rebuild is under way
  kRefused,       // the range was last served under another topic generation than this reader's
};

// How long a timeline lives if its rebuild found no item; reads do not prolong it.
inline constexpr std::chrono::minutes kEmptyTimelineTtl{5};

class ReaderTimelines {
 public:
  virtual ~ReaderTimelines() = default;

  // Rebuild script 1.
  virtual Status Begin(UserId reader, const std::string& token, RebuildBegun* begun) = 0;
  // Rebuild script 2. `items`: newest first, each once. *applied = false: the token is gone, start
  // again. `marked`: the followed authors who may have posts that are merged at read. A timeline
  // without any item or mark lives for kEmptyTimelineTtl: a made-up reader gets one too.
  virtual Status Finish(UserId reader, const std::string& token, const std::vector<Item>& items,
                        Floor floor, const std::vector<UserId>& marked, bool* applied) = 0;
  // Ends the token's rebuild, which cannot go on: there is no timeline then, and the next Begin
  // creates one. Does nothing if the token is gone.
  virtual Status Abandon(UserId reader, const std::string& token) = 0;

  struct Page {
    TimelineState state = TimelineState::kNotLive;
    std::vector<Item> items;  // newest first, strictly newer than the floor
    Marks marks;
    Floor floor = kNoFloor;
    bool reached_floor = false;  // the cache has nothing older: pull from the truth
    UnixMs as_of = 0;            // AppliedPosition::as_of of the reader's range
  };
  // Items behind `after`, at most `limit`. Refreshes the TTL of a ready timeline that holds an
  // item, at most once a minute.
  virtual Status Read(UserId reader, const std::optional<Position>& after, uint32_t limit,
                      Page* page) = 0;
};

}  // namespace fanline
