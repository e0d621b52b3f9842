// Port RelationStore in memory: both directions of an edge change at once. Fails on demand.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "fanline/ports/relation_store.h"

namespace fanline::fakes {

class FakeRelationStore : public RelationStore {
 public:
  size_t most_followed = 5'000;
  size_t changes = SIZE_MAX;     // allowed to each user; then one a minute
  Status fail = Status::Done();  // what every call answers, unless done

  Status ChangeFollowing(const EdgeKey& edge, bool live, uint64_t unix_us,
                         FollowingChanged* out) override;
  Status ReadPair(UserId user, UserId other, PairState* out) override;
  Status ChangeFriendship(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                          FriendshipStep* out) override;
  Status ReadFriendship(UserId one, UserId other, Friendship* out) override;
  Status ReadList(UserList list, UserId user, const std::optional<ListCursor>& after,
                  uint32_t limit, ListPage* out) override;
  Status Counts(UserId user, RelationCounts* out) override;
  Status Check(UserId viewer, std::span<const CheckItem> items, Sides sides,
               std::vector<CheckAnswer>* out) override;
  Status FollowedWhoFollow(UserId viewer, UserId followed, uint32_t limit,
                           std::vector<UserId>* out) override;

 private:
  EdgeState Of(UserId src, UserId dst) const;
  bool Lists(UserList list, const EdgeKey& key, UserId user) const;
  std::vector<ListEntry> All(UserList list, UserId user) const;  // newest first

  bool Full(const EdgeKey& edge) const;
  std::optional<std::chrono::seconds> TakeChange(UserId user);

  std::map<UserId, size_t> taken_;
  std::map<EdgeKey, EdgeState> edges_;
  std::map<std::pair<UserId, UserId>, Friendship> friendships_;  // smaller id first
};

}  // namespace fanline::fakes
