// What the API serves: one row per operation. openapi.yaml has the same rows, and a test that holds
// the two together.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/problem.h"

namespace fanline::api {

enum class Operation {
  kFollow,
  kUnfollow,
  kGetRelation,
  kListFollowing,
  kListFollowers,
  kListFriends,
  kGetFriendship,
  kChangeFriendship,
  kCheckRelations,
  kListFamiliarFollowers,
  kGetCounts,
};

struct Route {
  Operation operation;
  std::string_view method;
  std::string_view path;  // "{...}" stands for one segment
  std::string_view name;  // operationId; a metric label
};

std::span<const Route> Routes();

struct RouteMatch {
  const Route* route = nullptr;
  std::vector<std::string> segments;  // of the "{...}", in their order
};

// HEAD is served as GET. A Problem: kNotFound, or kMethodNotAllowed with what is allowed.
std::variant<RouteMatch, Problem> Match(std::string_view method, std::string_view path);

}  // namespace fanline::api
