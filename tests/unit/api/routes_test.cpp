#include "api/operations/routes.h"

#include <gtest/gtest.h>

#include <set>

namespace fanline::api {
namespace {

std::string NameAt(const std::string& method, const std::string& path) {
  const auto match = Match(method, path);
  if (const auto* problem = std::get_if<Problem>(&match)) return std::string(NameOf(problem->code));
  return std::string(std::get<RouteMatch>(match).route->name);
}

TEST(Routes, EachIsFoundAtItsOwnPathAndHeadIsServedAsGet) {
  EXPECT_EQ(NameAt("HEAD", "/v1/users/5/counts"), "getCounts");
  std::set<std::string_view> names;
  for (const Route& route : Routes()) {
    EXPECT_EQ(NameAt(std::string(route.method), std::string(route.path)), route.name);
    EXPECT_TRUE(names.insert(route.name).second) << route.name;
  }
}

TEST(Routes, CaptureWhatStandsInBraces) {
  const auto match = Match("POST", "/v1/users/5/friendships/7/accept");
  EXPECT_EQ(std::get<RouteMatch>(match).segments, (std::vector<std::string>{"5", "7", "accept"}));
}

TEST(Routes, ATooLongTooShortOrUnknownPathIsNotFound) {
  for (const char* path : {"/", "", "/v1", "/v1/users", "/v1/users/5", "/v1/users/5/following/7/8",
                           "/v2/users/5/counts", "/v1/users/5/counts/", "/v1/users/5/relations",
                           "v1/users/5/counts", "/v1/users//"}) {
    EXPECT_EQ(NameAt("GET", path), "not_found") << path;
  }
}

TEST(Routes, AnEmptySegmentIsCapturedAndLeftToTheReaderOfIds) {
  const auto match = Match("GET", "/v1/users//counts");
  EXPECT_EQ(std::get<RouteMatch>(match).segments, std::vector<std::string>{""});
}

TEST(Routes, OptionsOfAllPathsAreNotServed) {
  const auto match = Match("OPTIONS", "*");
  const auto& problem = std::get<Problem>(match);
  EXPECT_EQ(problem.code, Code::kMethodNotAllowed);
  EXPECT_EQ(problem.allow, "GET, HEAD, PUT, POST, PATCH, DELETE");
}

TEST(Routes, AnotherMethodIsToldWhatThereIs) {
  const auto match = Match("POST", "/v1/users/5/following/7");
  const auto& problem = std::get<Problem>(match);
  EXPECT_EQ(problem.code, Code::kMethodNotAllowed);
  EXPECT_EQ(problem.allow, "PUT, DELETE, PATCH, GET, HEAD");
  const Response response = ToResponse(problem);
  EXPECT_EQ(response.headers.back(), (std::pair<std::string, std::string>{"Allow", problem.allow}));
}

}  // namespace
}  // namespace fanline::api
