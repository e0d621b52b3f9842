// Port: the relation store, for programs that serve users. Changes go to the truth (forward rows,
// friend requests); the other direction follows a moment later through the mirror.
//
// Blocking, each call bounded by the adapter's timeouts; one thread at a time. Every change may be
// repeated: a state that holds already stays, and its version is answered.
//
// A call answers Later, naming the shard, when a shard is away; a change may have been made all the
// same. It answers Never, with the reason, when a rule of the store forbids the request.
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
  bool over_limit = false;  // with Never: src follows as many as there may be
  // With Never: src has made all changes of an hour (ChangesAnHour in forward_edges.h); the next is
  // allowed after so long.
  std::optional<std::chrono::seconds> again_in = {};
};

struct FriendshipStep {
  Friendship now;
  bool changed = false;
  // With Never: they would become friends, and this one follows as many as there may be.
  std::optional<UserId> over_limit = {};
  std::optional<std::chrono::seconds> again_in = {};  // as above, of the one who asks or accepts
};

// How two users stand to each other, seen from the first.
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

enum class Sides {  // those that are read; an answer says nothing about the other
  kFollowing = 1,   // one statement or two on the viewer's shard
  kFollowers = 2,   // the same on the followed user's shard
  kBoth = 3,
};

class RelationStore {
 public:
  // An import is held to no limit, so a list of followed users has no bound. A request reads so
  // many of its entries at most.
  static constexpr size_t kMostLookedThrough = 10'000;

  virtual ~RelationStore() = default;

  // src follows dst, or no longer does. `unix_us`: wall time, which keeps versions time-like.
  virtual Status ChangeFollowing(const EdgeKey& edge, bool live, uint64_t unix_us,
                                 FollowingChanged* out) = 0;
  virtual Status ReadPair(UserId user, UserId other, PairState* out) = 0;

  // Never: the friendship's state forbids the action (Decide in fanline/model/friendship.h), or one
  // of the limits does. Only what asks for a friendship or begins it is held to them.
  virtual Status ChangeFriendship(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                                  FriendshipStep* out) = 0;
  virtual Status ReadFriendship(UserId one, UserId other, Friendship* out) = 0;

  // At most `limit` entries behind `after`, newest first.
  virtual Status ReadList(UserList list, UserId user, const std::optional<ListCursor>& after,
                          uint32_t limit, ListPage* out) = 0;
  virtual Status Counts(UserId user, RelationCounts* out) = 0;

  // How `viewer` stands to each, in the order asked.
  virtual Status Check(UserId viewer, std::span<const CheckItem> items, Sides sides,
                       std::vector<CheckAnswer>* out) = 0;
  // Of the kMostLookedThrough whom `viewer` followed last, those who follow `followed`: the first
  // `limit`, most recently followed first.
  virtual Status FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                                   std::vector<UserId>* out) = 0;
};

}  // namespace fanline
