// Port: the relation store, for programs that serve users. Changes go to the truth (forward rows,
// friend requests); the other direction follows a moment later through the mirror.
//
// Blocking, each call bounded by the adapter's timeouts; one thread at a time. Every change may be
// repeated: a state that already holds stays, and its version is returned.
//
// A call answers Later, naming the shard, when a shard is away; a change may still have been made.
// It answers Never, with the reason, when a rule of the store forbids the request.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/edge.h"
#include "fanline/model/friendship.h"
#include "fanline/model/relation.h"

namespace fanline {

struct FollowingChanged {
  EdgeState edge;           // as it is now; ver 0: there is no row. ver is the token of freshness
  bool changed = false;     // false: it was so already
  bool over_limit = false;  // with Never: src already follows the maximum
  // With Never: src has used up its changes of the hour (ChangesAnHour in forward_edges.h); the
  // next is allowed after this time.
  std::optional<std::chrono::seconds> again_in = {};
};

struct FriendshipStep {
  Friendship now;
  bool changed = false;
  // With Never: this one already follows the maximum, so they cannot become friends.
  std::optional<UserId> over_limit = {};
  std::optional<std::chrono::seconds> again_in = {};  // as above, for the one who asks or accepts
};

// The relation of two users, seen from the first.
struct PairState {
  EdgeState following;    // the forward row, the truth
  EdgeState followed_by;  // the reverse row of the other edge, which follows its forward row

  Relation relation() const {
    return static_cast<Relation>((following.live ? static_cast<int>(Relation::kFollowing) : 0) +
                                 (followed_by.live ? static_cast<int>(Relation::kFollower) : 0));
  }
};

enum class UserList { kFollowing, kFollowers, kFriends };

struct ListEntry {
  UserId user{};
  UnixMs pos = 0;  // when the one became a follower of the other
  friend bool operator==(const ListEntry&, const ListEntry&) = default;
};

struct ListPage {
  std::vector<ListEntry> entries;
  std::optional<ListCursor> next;  // none: that was the last page
};

struct RelationCounts {
  int64_t following = 0;  // exact and without a limit; negative: drift, to be repaired
  int64_t followers = 0;
};

struct CheckItem {
  uint64_t user = 0;  // as the client sent it
  // The answer must know this version of the edge from `user`; 0: any will do. When the reverse row
  // is older, the forward row is read.
  uint64_t min_version = 0;
};

struct CheckAnswer {
  Relation relation = Relation::kNone;
  std::string error;  // empty: `relation` is the answer. Else what is wrong with this item alone
  friend bool operator==(const CheckAnswer&, const CheckAnswer&) = default;
};

enum class Sides {  // those to read; an answer says nothing about the other
  kFollowing = 1,   // one statement or two on the viewer's shard
  kFollowers = 2,   // the same on the followed user's shard
  kBoth = 3,
};

class RelationStore {
 public:
  // The most entries of a list of followed users that one request reads. An import is held to no
  // limit, so such a list has no bound.
  static constexpr size_t kMostLookedThrough = 10'000;

  virtual ~RelationStore() = default;

  // src follows dst, or no longer does. `unix_us`: wall time, which keeps versions time-like.
  virtual Status ChangeFollowing(const EdgeKey& edge, bool live, uint64_t unix_us,
                                 FollowingChanged* out) = 0;
  virtual Status ReadPair(UserId user, UserId other, PairState* out) = 0;

  // Never: the friendship's state forbids the action (Decide in fanline/model/friendship.h), or a
  // limit does. Only requests and acceptances are held to the limits.
  virtual Status ChangeFriendship(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                                  FriendshipStep* out) = 0;
  virtual Status ReadFriendship(UserId one, UserId other, Friendship* out) = 0;

  // At most `limit` entries behind `after`, newest first.
  virtual Status ReadList(UserList list, UserId user, const std::optional<ListCursor>& after,
                          uint32_t limit, ListPage* out) = 0;
  virtual Status Counts(UserId user, RelationCounts* out) = 0;

  // The relation of `viewer` to each, in the request's order.
  virtual Status Check(UserId viewer, std::span<const CheckItem> items, Sides sides,
                       std::vector<CheckAnswer>* out) = 0;
  // Looks through the kMostLookedThrough users whom `viewer` followed last. Returns the first
  // `limit` of them who follow `followed`, most recently followed first.
  virtual Status FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                                   std::vector<UserId>* out) = 0;
};

}  // namespace fanline
