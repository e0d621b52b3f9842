// What is refused, and in which words; what is accepted shows in handler_test.cpp.
#include <gmock/gmock.h>

#include "tests/unit/api/world.h"

namespace fanline::api {
namespace {

using ::testing::HasSubstr;

class RequestsTest : public ::testing::Test {
 protected:
  World w_;
};

TEST_F(RequestsTest, AnIdHasOneSpelling) {
  for (const char* bad : {"0", "18446744073709551615", "18446744073709551616", "007", "+5", "-5",
                          " 5", "5 ", "five", "", "5.0", "0x5", "5%00"}) {
    const std::string path = std::string("/v1/users/") + bad + "/counts";
    EXPECT_EQ(w_.Code("GET " + path, 400), "bad_id") << bad;
  }
  EXPECT_EQ(w_.Json("GET /v1/users/18446744073709551614/counts")["user"], "18446744073709551614");
}

TEST_F(RequestsTest, ARefusalQuotesWhatWasSentAndSaysWhatIs) {
  const auto problem = w_.Json("PUT /v1/users/5/following/bob", 400);
  EXPECT_EQ(problem["status"], 400);
  EXPECT_EQ(problem["detail"],
            "\"bob\" in the path is no user id; ids are decimal numbers from 1 to 2^64-2");
}

TEST_F(RequestsTest, ALongValueIsCutInTheRefusalAndWhatIsNoUtf8IsReplaced) {
  const std::string detail =
      w_.Json("GET /v1/users/" + std::string(3000, '9') + "/counts", 400)["detail"];
  EXPECT_LT(detail.size(), 150u);
  EXPECT_THAT(std::string(w_.Json("GET /v1/users/\xff/counts", 400)["detail"]),
              HasSubstr("\xEF\xBF\xBD"));
}

TEST_F(RequestsTest, NobodyStandsToThemselves) {
  for (const char* line :
       {"PUT /v1/users/5/following/5", "DELETE /v1/users/5/following/5",
        "GET /v1/users/5/following/5", "GET /v1/users/5/friendships/5",
        "POST /v1/users/5/friendships/5/request", "GET /v1/users/5/familiar-followers/5"}) {
    EXPECT_EQ(w_.Code(line, 400), "same_user") << line;
  }
}

TEST_F(RequestsTest, AParameterNobodyDeclaredIsRefused) {
  const auto problem = w_.Json("GET /v1/users/5/followers?limt=3", 400);
  EXPECT_EQ(problem["code"], "bad_parameter");
  EXPECT_EQ(problem["detail"],
            "\"limt\" is no parameter of this path; there are limit, cursor, relation_to");
  EXPECT_EQ(w_.Json("GET /v1/users/5/counts?x=1", 400)["detail"],
            "\"x\" is no parameter of this path; it takes none");
  EXPECT_EQ(w_.Code("PUT /v1/users/5/following/7?limit=1", 400), "bad_parameter");
}

TEST_F(RequestsTest, AParameterGivenTwiceIsRefused) {
  EXPECT_EQ(w_.Code("GET /v1/users/5/followers?limit=3&limit=3", 400), "bad_parameter");
}

TEST_F(RequestsTest, ALimitIsFrom1To200) {
  for (const char* limit : {"0", "201", "-1", "ten", "", "1e2", "99999999999999999999"}) {
    EXPECT_EQ(w_.Code(std::string("GET /v1/users/5/friends?limit=") + limit, 400), "bad_parameter")
        << limit;
  }
  w_.Json("GET /v1/users/5/friends?limit=1");
  w_.Json("GET /v1/users/5/friends?limit=200");
  EXPECT_EQ(w_.Code("GET /v1/users/5/familiar-followers/7?limit=201", 400), "bad_parameter");
}

TEST_F(RequestsTest, ACursorIsOneOfTheApis) {
  for (const char* cursor : {"", "abc", "1.2", "1.2.x", "1.2.3.4", "-1.2.3", "1.0.3"}) {
    EXPECT_EQ(w_.Code(std::string("GET /v1/users/5/following?cursor=") + cursor, 400), "bad_cursor")
        << cursor;
  }
}

TEST_F(RequestsTest, OtherValuesOfTheQueryAreChecked) {
  EXPECT_EQ(w_.Code("GET /v1/users/5/following?relation_to=x", 400), "bad_id");
  EXPECT_EQ(w_.Code("GET /v1/users/5/following/7?min_version=x", 400), "bad_parameter");
  EXPECT_EQ(w_.Code("GET /v1/users/5/following/7?min_version=0", 400), "bad_parameter");
}

TEST_F(RequestsTest, AnActionThatIsNoneIsNotFound) {
  const auto problem = w_.Json("POST /v1/users/5/friendships/7/block", 404);
  EXPECT_EQ(problem["code"], "not_found");
  EXPECT_THAT(std::string(problem["detail"]), HasSubstr("request, accept, refuse, cancel, remove"));
}

TEST_F(RequestsTest, AnActionHasNoBodyOrAnEmptyObject) {
  const std::string line = "POST /v1/users/5/friendships/7/request";
  EXPECT_EQ(w_.Json(line)["changed"], true);
  EXPECT_EQ(w_.Json(line, 200, "{}")["changed"], false);
  for (const char* body : {"[]", "x", R"({"other":"7"})"}) {
    EXPECT_EQ(w_.Code(line, 400, body), "bad_body") << body;
  }
}

constexpr const char* kCheck = "POST /v1/users/5/relations:check";

TEST_F(RequestsTest, ABodyThatIsNotWhatIsExpectedIsRefusedAsAWhole) {
  for (const char* body : {"{", "[]", "7", "null", "{}", R"({"ids":5})", R"({"ids":{}})",
                           R"({"ids":[1],"side":"both"})", R"({"ids":[1],"sides":"all"})",
                           R"({"ids":[1],"sides":null})", R"({"ids":[1],"ids":[2]})",
                           R"({"ids":[1]} {})", R"({'ids':[1]})", "{\"ids\":[\"\xff\"]}"}) {
    EXPECT_EQ(w_.Code(kCheck, 400, body), "bad_body") << body;
  }
}

TEST_F(RequestsTest, ABadIdIsWrongForItselfAlone) {
  const auto items = w_.Json(kCheck, 200,
                             R"({"ids":["7", "0", 0, -1, 1.5, 9007199254740992, null, [], "x", "5",
                                 5, {"id":"7"}, {"id":0}, {}, {"id":7,"x":1},
                                 {"id":7,"min_version":"x"}, {"id":"7","min_version":"9"},
                                 9007199254740991]})")["items"];
  std::vector<std::string> codes;
  for (const auto& item : items) {
    codes.push_back(item.contains("error") ? std::string(item["error"]["code"])
                                           : std::string(item["relation"]));
  }
  EXPECT_EQ(codes, (std::vector<std::string>{"none", "bad_id", "bad_id", "bad_id", "bad_id",
                                             "bad_id", "bad_id", "bad_id", "bad_id", "same_user",
                                             "same_user", "none", "bad_id", "bad_id", "bad_body",
                                             "bad_body", "version_not_reached", "none"}));
}

TEST_F(RequestsTest, FiveHundredIdsAreTheMost) {
  const auto body = [](size_t count) {
    return nlohmann::json{{"ids", std::vector<uint64_t>(count, 7)}}.dump();
  };
  EXPECT_EQ(w_.Json(kCheck, 200, body(500))["items"].size(), 500u);
  EXPECT_EQ(w_.Code(kCheck, 400, body(501)), "too_many_ids");
  EXPECT_EQ(w_.Json(kCheck, 200, body(0))["items"].size(), 0u);
}

TEST_F(RequestsTest, DeepNestingIsRefusedLikeAnythingElse) {
  EXPECT_EQ(w_.Code(kCheck, 400, std::string(60'000, '[')), "bad_body");
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  for (const std::string& item : {deep, R"({"id":)" + deep + "}"}) {
    EXPECT_EQ(w_.Json(kCheck, 200, R"({"ids":[)" + item + "]}")["items"][0]["error"]["code"],
              "bad_id");
  }
  EXPECT_EQ(
      w_.Json(kCheck, 200,
              R"({"ids":[{"id":"7","min_version":)" + deep + "}]}")["items"][0]["error"]["code"],
      "bad_body");
  EXPECT_EQ(w_.Code(kCheck, 400, R"({"ids":[],"sides":)" + deep + "}"), "bad_body");
}

}  // namespace
}  // namespace fanline::api
