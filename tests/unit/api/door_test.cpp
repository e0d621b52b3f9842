#include "api/door.h"

#include <gmock/gmock.h>

#include "tests/unit/api/world.h"

namespace fanline::api {
namespace {

const std::vector<std::string> kAllowed = {"https://app.example", "http://localhost:3000"};

// The code of the refusal; empty: none.
std::string CodeOf(const std::string& line, const std::string& origin,
                   const std::string& content_type = "application/json") {
  Request request = RequestOf(line, "{}", content_type);
  request.origin = origin;
  const auto refused = RefusedAtTheDoor(request, kAllowed);
  return refused ? std::string(NameOf(refused->code)) : "";
}

constexpr const char* kChanges[] = {"PUT /v1/users/5/following/7", "DELETE /v1/users/5/following/7",
                                    "POST /v1/users/5/friendships/7/accept", "POST /v1/posts",
                                    "PATCH /v1/posts/7"};

TEST(Door, NothingIsChangedForAPageOfAnotherSite) {
  for (const char* line : kChanges) {
    for (const char* origin : {"http://evil.example", "null", "https://app.example:8443",
                               "http://app.example", "https://app.example.evil.example"}) {
      EXPECT_EQ(CodeOf(line, origin), "origin_refused") << line << " " << origin;
    }
  }
}

TEST(Door, WhoNamesNoOriginOrAnAllowedOneIsLetIn) {
  for (const char* line : kChanges) {
    for (const char* origin : {"", "https://app.example", "http://localhost:3000"}) {
      EXPECT_EQ(CodeOf(line, origin), "") << line << " " << origin;
    }
  }
}

// What a form sends, and a script without asking first.
TEST(Door, APostIsJsonWhetherItHasABodyOrNot) {
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data; boundary=x", "application/jsonx"}) {
    EXPECT_EQ(CodeOf("POST /v1/users/5/friendships/7/accept", "", type), "unsupported_media_type")
        << type;
    EXPECT_EQ(CodeOf("PUT /v1/users/5/following/7", "", type), "") << type;
  }
  EXPECT_EQ(CodeOf("POST /v1/posts", "", "Application/JSON ; charset=utf-8"), "");
}

TEST(Door, WhoReadsIsLetInFromAnywhere) {
  EXPECT_EQ(CodeOf("GET /v1/users/5/counts", "http://evil.example", ""), "");
  EXPECT_EQ(CodeOf("HEAD /v1/users/5/counts", "http://evil.example", ""), "");
}

TEST(Door, AnOriginIsSchemeHostAndPort) {
  for (const char* origin : {"https://app.example", "http://localhost:3000", "http://[::1]:8080"}) {
    EXPECT_TRUE(IsOrigin(origin)) << origin;
  }
  for (const char* text : {"", "null", "*", "app.example", "https://", "https://app.example/",
                           "https://App.example", "ftp://app.example", "https://a b"}) {
    EXPECT_FALSE(IsOrigin(text)) << text;
  }
}

TEST(Door, TheHandlerStandsBehindIt) {
  World w;
  Request request = RequestOf("POST /v1/users/5/friendships/7/request");
  const auto status_of = [&](const std::string& origin) {
    request.origin = origin;
    std::promise<Response> answered;
    w.handler->Serve(request, [&](Response response) { answered.set_value(response); });
    return answered.get_future().get().status;
  };
  EXPECT_EQ(status_of("http://evil.example"), 403);
  EXPECT_EQ(w.Json("GET /v1/users/5/friendships/7")["state"], "none");
  EXPECT_EQ(w.metrics.answered.front(), "changeFriendship 403");
  EXPECT_EQ(status_of(""), 200);
}

}  // namespace
}  // namespace fanline::api
