#include "api/touched.h"

#include <algorithm>

#include "fanline/ids.h"

namespace fanline::api {
namespace {

// The users whose shards are asked; of the first the first rows are read.
struct UsersOf {
  using Users = std::vector<UserId>;

  Users operator()(const FollowCall& call) const { return {call.edge.src}; }
  // The pair's row is with the lower of them; whether each follows the other, with each.
  Users operator()(const FriendshipCall& call) const {
    const auto [first, second] = std::minmax(call.user, call.other);
    return call.action ? Users{first, second} : Users{first};
  }
  Users operator()(const RelationCall& call) const { return {call.user}; }
  Users operator()(const ListCall& call) const {
    return call.relation_to ? Users{call.user, *call.relation_to} : Users{call.user};
  }
  // Of those with a version the truth is read when the mirror is behind.
  Users operator()(const CheckCall& call) const {
    Users users = {call.user};
    for (const CheckItem& item : call.items) {
      const bool looks = call.sides != Sides::kFollowing && item.min_version > 0;
      if (looks && IsValidId(item.user)) users.push_back(UserId{item.user});
    }
    return users;
  }
  Users operator()(const FamiliarCall& call) const { return {call.user, call.other}; }
  Users operator()(const CountsCall& call) const { return {call.user}; }
};

}  // namespace

Touched TouchedBy(const Call& call, const ShardMap& map) {
  const std::vector<UserId> users = std::visit(UsersOf(), call);
  Touched touched{map.ShardOf(users.front()), {}};
  for (const UserId user : users) touched.all.push_back(map.ShardOf(user));
  std::sort(touched.all.begin(), touched.all.end());
  touched.all.erase(std::unique(touched.all.begin(), touched.all.end()), touched.all.end());
  return touched;
}

}  // namespace fanline::api
