// What a request asks for, read strictly: a parameter or member that nobody declared, a value that
// is not in its one spelling or out of bounds is refused with advice, never guessed at. Pure.
//
// Ids are decimal numbers in paths and queries; in JSON they are strings, and integers up to 2^53-1
// are taken too (beyond that a client's JSON library may have rounded them).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/http.h"
#include "api/routes.h"
#include "fanline/relation_store.h"

namespace fanline::api {

struct FollowCall {
  EdgeKey edge;
  bool live = false;
};

struct RelationCall {
  UserId user{}, other{};
  uint64_t min_version = 0;  // 0: any
};

struct FriendshipCall {
  UserId user{}, other{};
  std::optional<FriendAction> action;  // none: read it
};

struct ListCall {
  UserList list = UserList::kFollowing;
  UserId user{};
  std::optional<ListCursor> after;
  uint32_t limit = 0;
  std::optional<UserId> relation_to;
};

struct CheckCall {
  UserId user{};
  Sides sides = Sides::kBoth;
  std::vector<CheckItem> items;
  std::vector<std::optional<Problem>> bad;  // beside each item: what is wrong with it alone
};

struct FamiliarCall {
  UserId user{}, other{};
  uint32_t limit = 0;
};

struct CountsCall {
  UserId user{};
};

using Call = std::variant<FollowCall, RelationCall, FriendshipCall, ListCall, CheckCall,
                          FamiliarCall, CountsCall>;

std::variant<Call, Problem> ReadCall(const RouteMatch& match, const Request& request);

}  // namespace fanline::api
