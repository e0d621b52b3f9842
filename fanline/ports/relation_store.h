// Requests of programs that serve users: who follows whom, lists, counters, and the steps of a
// friendship's change (friendship_run.h). A change of an edge is a ChangeEdge (forward_edges.h),
// one of mutes a ChangeMutes (mutes.h).
//
// Each is served by one shard, that of the user who is named first unless it is said otherwise.
// Changes go to the truth (forward rows, friend requests); the other direction follows a moment
// later through the mirror. Every change may be repeated: a state that already holds stays.
//
// kLater, naming the shard: it is away, or busy; a change may still have been made. kNever: a rule
// of the store forbids the request, or it cannot be carried out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/model/friendship.h"
#include "fanline/model/relation.h"
#include "fanline/ports/mutes.h"
#include "fanline/ports/port.h"
#include "fanline/ports/reposts.h"

namespace fanline {

inline Relation RelationOf(bool following, bool followed_by) {
  return static_cast<Relation>((following ? static_cast<int>(Relation::kFollowing) : 0) +
                               (followed_by ? static_cast<int>(Relation::kFollower) : 0));
}

// The relation of two users, seen from the first.
struct PairState {
  EdgeState following;    // the forward row, the truth
  EdgeState followed_by;  // the reverse row of the other edge, which follows its forward row

  Relation relation() const { return RelationOf(following.live, followed_by.live); }
};

struct ReadPair {
  using Reply = struct PairRead;
  uint64_t id = 0;
  UserId user{};
  UserId other{};
};
struct PairRead {
  uint64_t id = 0;
  Status status;
  PairState pair;
};

enum class UserList { kFollowing, kFollowers, kFriends };

struct ListEntry {
  UserId user{};
  UnixMs pos = 0;  // when the one became a follower of the other
  // Of followed users. What followers chose is theirs to know.
  std::optional<Delivery> delivery = {};
  friend bool operator==(const ListEntry&, const ListEntry&) = default;
};

struct ListPage {
  std::vector<ListEntry> entries;
  std::optional<ListCursor> next;  // none: that was the last page
};

// At most `limit` entries behind `after`, newest first.
struct ReadList {
  static constexpr uint32_t kMostEntries = 500;  // of a page; `limit` is clamped to 1 .. this

  using Reply = struct ListRead;
  uint64_t id = 0;
  UserList list = UserList::kFollowing;
  UserId user{};
  std::optional<ListCursor> after = {};
  uint32_t limit = kMostEntries;
};
struct ListRead {
  uint64_t id = 0;
  Status status;
  ListPage page;
};

struct RelationCounts {
  int64_t following = 0;  // exact and without a limit; negative: drift, to be repaired
  int64_t followers = 0;
};

struct CountRelations {
  using Reply = struct RelationsCounted;
  uint64_t id = 0;
  UserId user{};
};
struct RelationsCounted {
  uint64_t id = 0;
  Status status;
  RelationCounts counts;
};

enum class Sides {  // those to read; a reply says nothing about the other
  kFollowing = 1,
  kFollowers = 2,
  kBoth = 3,
};

// How `user` stands to each of `others`: whether they follow them (forward rows, the truth), and
// who of them follows `user` (reverse rows, which follow the forward rows).
struct CheckUsers {
  using Reply = struct UsersChecked;
  uint64_t id = 0;
  UserId user{};
  std::vector<UserId> others = {};  // in any order, also more than once
  Sides sides = Sides::kBoth;
};
struct Standing {
  bool followed = false;
  EdgeState follower = {};  // the reverse row; ver 0: there is none

  Relation relation() const { return RelationOf(followed, follower.live); }
  friend bool operator==(const Standing&, const Standing&) = default;
};
struct UsersChecked {
  uint64_t id = 0;
  Status status;
  std::vector<Standing> standings;  // one of each of `others`, in their order
};

// The forward rows of edges whose src are all of one shard, which serves it.
struct ReadForward {
  using Reply = struct ForwardRead;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<EdgeKey> edges = {};
};
struct ForwardRead {
  uint64_t id = 0;
  Status status;
  std::vector<EdgeState> states;  // in the request's order; ver 0: there is no row
};

// ---- friendships: the row of a pair is on the shard of the smaller id

struct ReadFriendship {
  using Reply = struct FriendshipRead;
  uint64_t id = 0;
  UserId one{};
  UserId other{};
};
struct FriendshipRead {
  uint64_t id = 0;
  Status status;
  Friendship now;  // the truth: its server was the primary after it was read
};

// Whether edge.src may follow one user more, or follows edge.dst already.
struct AskRoom {
  using Reply = struct RoomAsked;
  uint64_t id = 0;
  EdgeKey edge;
};
struct RoomAsked {
  uint64_t id = 0;
  Status status;                    // kNever: there is no room
  std::optional<UserId> full = {};  // with kNever: edge.src
};

// Uses up one of the changes that the user may make in an hour (ChangesAnHour in forward_edges.h).
// Not idempotent: once repeated, two are used up.
struct UseUpChange {
  using Reply = struct ChangeUsedUp;
  uint64_t id = 0;
  UserId user{};
};
struct ChangeUsedUp {
  uint64_t id = 0;
  Status status;                                      // kNever: there is none left
  std::optional<std::chrono::seconds> again_in = {};  // with kNever: the next is allowed then
};

// Announces to an edge that `version` of its pair's friendship may come
// (docs/decisions/0010-friendships-are-announced.md). Served by the shard of edge.src.
struct AnnouncePair {
  using Reply = struct PairAnnounced;
  uint64_t id = 0;
  EdgeKey edge;
  uint64_t version = 0;
};
struct PairAnnounced {
  uint64_t id = 0;
  Status status;
  // The highest version of the pair that was written or settled at this edge before. A version up
  // to that one no longer has any effect.
  uint64_t settled = 0;
};

// `who` takes `action`: writes the pair's row at `version`, and a row of log1 if the two became
// friends or no longer are.
struct WriteFriendship {
  using Reply = struct FriendshipWritten;
  uint64_t id = 0;
  FriendAction action = FriendAction::kRequest;
  UserId who{};
  UserId whom{};
  uint64_t version = 0;
  bool announced = false;  // `version`, to both edges
  uint64_t unix_us = 0;    // wall time
};
struct FriendshipWritten {
  uint64_t id = 0;
  Status status;
  Friendship now;
  bool changed = false;  // false: nothing was written, since nothing is to be changed or may be
  // Nothing was written: another change came first, which leaves no room for `version`, or makes
  // this one begin or end a friendship that was not announced.
  bool overtaken = false;
};

using RelationPort =
    Port<ReadPair, ReadList, CountRelations, CheckUsers, ReadForward, ReadFriendship, AskRoom,
         UseUpChange, AnnouncePair, WriteFriendship, ChangeMutes, ReadReposters, ReadRepostsBy>;

}  // namespace fanline
