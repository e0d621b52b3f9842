#include "api/operations/routes.h"

#include <optional>

namespace fanline::api {

// Each is defined in a file in this folder.
Call Follow(const Asked&);
Call Unfollow(const Asked&);
Call SetDelivery(const Asked&);
Call GetRelation(const Asked&);
Call ListFollowing(const Asked&);
Call ListFollowers(const Asked&);
Call ListFriends(const Asked&);
Call GetFriendship(const Asked&);
Call ChangeFriendship(const Asked&);
Call CheckRelations(const Asked&);
Call ListFamiliarFollowers(const Asked&);
Call GetCounts(const Asked&);
Call GetMutes(const Asked&);
Call PutMutes(const Asked&);
Call Mute(const Asked&);
Call Unmute(const Asked&);
Call GetTimeline(const Asked&);
Call CountTimeline(const Asked&);
Call GetPosts(const Asked&);
Call CountPosts(const Asked&);
Call PublishPost(const Asked&);
Call DeletePost(const Asked&);
Call ChangePost(const Asked&);
Call ListReposts(const Asked&);
Call UndoReposts(const Asked&);

namespace {

constexpr Route kRoutes[] = {
    {"PUT", "/v1/users/{user}/following/{other}", "follow", Follow},
    {"DELETE", "/v1/users/{user}/following/{other}", "unfollow", Unfollow},
    {"PATCH", "/v1/users/{user}/following/{other}", "setDelivery", SetDelivery},
    {"GET", "/v1/users/{user}/following/{other}", "getRelation", GetRelation},
    {"GET", "/v1/users/{user}/following", "listFollowing", ListFollowing},
    {"GET", "/v1/users/{user}/followers", "listFollowers", ListFollowers},
    {"GET", "/v1/users/{user}/friends", "listFriends", ListFriends},
    {"GET", "/v1/users/{user}/friendships/{other}", "getFriendship", GetFriendship},
    {"POST", "/v1/users/{user}/friendships/{other}/{action}", "changeFriendship", ChangeFriendship},
    {"POST", "/v1/users/{user}/relations:check", "checkRelations", CheckRelations},
    {"GET", "/v1/users/{user}/familiar-followers/{other}", "listFamiliarFollowers",
     ListFamiliarFollowers},
    {"GET", "/v1/users/{user}/counts", "getCounts", GetCounts},
    {"GET", "/v1/users/{user}/mutes", "getMutes", GetMutes},
    {"PUT", "/v1/users/{user}/mutes", "putMutes", PutMutes},
    {"PUT", "/v1/users/{user}/mutes/{other}", "mute", Mute},
    {"DELETE", "/v1/users/{user}/mutes/{other}", "unmute", Unmute},
    {"GET", "/v1/users/{user}/timeline", "getTimeline", GetTimeline},
    {"GET", "/v1/users/{user}/timeline:count", "countTimeline", CountTimeline},
    {"GET", "/v1/users/{user}/posts", "getPosts", GetPosts},
    {"GET", "/v1/users/{user}/posts:count", "countPosts", CountPosts},
    {"POST", "/v1/posts", "publishPost", PublishPost},
    {"DELETE", "/v1/posts/{post}", "deletePost", DeletePost},
    {"POST", "/v1/posts/{post}/{action}", "changePost", ChangePost},
    {"GET", "/v1/posts/{post}/reposts", "listReposts", ListReposts},
    {"DELETE", "/v1/users/{user}/reposts/{post}", "undoReposts", UndoReposts},
};

// Removes the text up to and including the next '/' from `rest`; returns it without the '/'.
std::string_view NextSegment(std::string_view& rest) {
  const size_t slash = rest.find('/');
  const std::string_view segment = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return segment;
}

// The captured segments; nothing when the path is of another shape.
std::optional<std::vector<std::string>> Capture(std::string_view shape, std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('/')) return std::nullopt;
  shape.remove_prefix(1);
  path.remove_prefix(1);
  std::vector<std::string> captured;
  while (!shape.empty() && !path.empty()) {
    const std::string_view wanted = NextSegment(shape);
    const std::string_view segment = NextSegment(path);
    if (wanted.starts_with('{')) {
      captured.emplace_back(segment);
    } else if (wanted != segment) {
      return std::nullopt;
    }
  }
  if (!shape.empty() || !path.empty()) return std::nullopt;
  return captured;
}

}  // namespace

std::span<const Route> Routes() { return kRoutes; }

std::variant<RouteMatch, Problem> Match(std::string_view method, std::string_view path) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  // OPTIONS * asks about all paths.
  std::string allowed = path == "*" ? "GET, HEAD, PUT, POST, PATCH, DELETE" : "";
  for (const Route& route : kRoutes) {
    auto segments = Capture(route.path, path);
    if (!segments) continue;
    if (route.method == wanted) return RouteMatch{&route, std::move(*segments)};
    if (!allowed.empty()) allowed += ", ";
    allowed += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  if (allowed.empty()) return ProblemOfStatus(404);
  return Problem{Code::kMethodNotAllowed,
                 "this path is served for " + allowed + "; openapi.yaml lists what there is",
                 allowed};
}

}  // namespace fanline::api
