#include "api/handler.h"

#include <gmock/gmock.h>

#include "tests/unit/api/world.h"

namespace fanline::api {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class HandlerTest : public ::testing::Test {
 protected:
  void Follow(int src, int dst) {
    w_.Json("PUT /v1/users/" + std::to_string(src) + "/following/" + std::to_string(dst));
    ++w_.now;
  }
  World w_;
};

TEST_F(HandlerTest, AFollowAnswersItsVersionAsAString) {
  EXPECT_EQ(w_.Json("PUT /v1/users/5/following/7"),
            json::parse(R"({"user":"5","other":"7","following":true,"changed":true,
                            "version":"1700000000000000","delivery":"all"})"));
  EXPECT_EQ(w_.Json("PUT /v1/users/5/following/7")["changed"], false);
}

TEST_F(HandlerTest, AnUnfollowOfAStrangerIsVersion0) {
  EXPECT_EQ(w_.Json("DELETE /v1/users/5/following/7"),
            json::parse(R"({"user":"5","other":"7","following":false,"changed":false,
                            "version":"0"})"));
}

TEST_F(HandlerTest, AFollowBringsWhatWasChosenUntilItEnds) {
  const std::string path = "/v1/users/5/following/7";
  EXPECT_EQ(w_.Code("PATCH " + path, 404, R"({"delivery":"none"})"), "not_found");
  Follow(5, 7);
  const json muted = w_.Json("PATCH " + path, 200, R"({"delivery":"none"})");
  EXPECT_EQ(muted, json::parse(R"({"user":"5","other":"7","following":true,"changed":true,
                                   "version":"1700000000001000","delivery":"none"})"));
  EXPECT_EQ(w_.Json("PATCH " + path, 200, R"({"delivery":"none"})")["changed"], false);
  const json again = w_.Json("PUT " + path);
  EXPECT_EQ(again["changed"], false);
  EXPECT_EQ(again["delivery"], "none");
  EXPECT_EQ(again["version"], muted["version"]);
  EXPECT_EQ(w_.Json("GET " + path)["delivery"], "none");
  EXPECT_EQ(w_.Json("GET " + path)["following_since_ms"], 1700000000000);
  EXPECT_EQ(w_.Json("GET /v1/users/5/following")["items"][0]["delivery"], "none");
  EXPECT_FALSE(w_.Json("GET /v1/users/7/followers")["items"][0].contains("delivery"))
      << "what a follower chose is theirs to know";
  EXPECT_FALSE(w_.Json("GET /v1/users/7/following/5").contains("delivery"));
  EXPECT_FALSE(w_.Json("DELETE " + path).contains("delivery"));
  EXPECT_EQ(w_.Code("PATCH " + path, 404, R"({"delivery":"all"})"), "not_found");
  EXPECT_EQ(w_.Json("PUT " + path)["delivery"], "all");
}

TEST_F(HandlerTest, ADeliveryIsOneOfThree) {
  Follow(5, 7);
  for (const char* body : {R"({"delivery":"None"})", R"({"delivery":2})", R"({"delivery":null})",
                           R"({})", "[]", "", R"({"delivery":"all","x":1})"}) {
    const json problem = w_.Json("PATCH /v1/users/5/following/7", 400, body);
    EXPECT_EQ(problem["code"], "bad_body") << body;
    EXPECT_THAT(std::string(problem["detail"]), HasSubstr("\"all\", \"no_reposts\" or \"none\""));
  }
  EXPECT_EQ(w_.Json("GET /v1/users/5/following/7")["delivery"], "all");
}

TEST_F(HandlerTest, AChangeOfTheDeliveryIsAChangeOfTheHour) {
  Follow(5, 7);
  w_.relations.changes = 1;
  EXPECT_EQ(w_.Code("PATCH /v1/users/5/following/7", 429, R"({"delivery":"none"})"),
            "change_limit");
  w_.Json("PATCH /v1/users/5/following/7", 200, R"({"delivery":"all"})");  // it is so already
}

TEST_F(HandlerTest, ARelationIsSeenFromTheFirst) {
  EXPECT_EQ(w_.Json("GET /v1/users/5/following/7"),
            json::parse(R"({"user":"5","other":"7","relation":"none","version":"0"})"));
  Follow(5, 7);
  EXPECT_EQ(w_.Json("GET /v1/users/5/following/7"),
            json::parse(R"({"user":"5","other":"7","relation":"following",
                            "version":"1700000000000000","following_since_ms":1700000000000,
                            "delivery":"all"})"));
  EXPECT_EQ(w_.Json("GET /v1/users/7/following/5"),
            json::parse(R"({"user":"7","other":"5","relation":"follower","version":"0",
                            "follower_since_ms":1700000000000})"));
  Follow(7, 5);
  EXPECT_EQ(w_.Json("GET /v1/users/5/following/7")["relation"], "mutual");
}

TEST_F(HandlerTest, AVersionThatIsNotReachedIsAnErrorAndNotAnAnswer) {
  const std::string version = w_.Json("PUT /v1/users/5/following/7")["version"];
  w_.Json("GET /v1/users/5/following/7?min_version=" + version);
  const json problem = w_.Json("GET /v1/users/5/following/7?min_version=1700000000000001", 412);
  EXPECT_EQ(problem["code"], "version_not_reached");
  EXPECT_THAT(std::string(problem["detail"]),
              HasSubstr("at version 1700000000000000, not 1700000000000001"));
}

TEST_F(HandlerTest, TheLimitOfFollowedUsersIsAConflictThatNamesIt) {
  w_.relations.most_followed = 2;
  Follow(5, 1);
  Follow(5, 2);
  const json problem = w_.Json("PUT /v1/users/5/following/3", 409);
  EXPECT_EQ(problem["code"], "following_limit");
  EXPECT_THAT(std::string(problem["detail"]), HasSubstr("unfollow somebody first"));
  w_.Json("PUT /v1/users/5/following/2");  // it is so already
}

TEST_F(HandlerTest, WhoHasChangedTooMuchIsToldTheLimitAndWhenToComeBack) {
  w_.relations.changes = 3;
  Follow(5, 1);
  w_.Json("DELETE /v1/users/5/following/1");
  w_.Json("POST /v1/users/5/friendships/7/request");
  for (const char* line :
       {"PUT /v1/users/5/following/3", "POST /v1/users/5/friendships/8/request"}) {
    const Response refused = w_.Ask(line);
    EXPECT_EQ(refused.status, 429);
    const json problem = json::parse(refused.body);
    EXPECT_EQ(problem["code"], "change_limit");
    EXPECT_EQ(problem["detail"],
              "user 5 has made all 416 changes of an hour; the next is possible in 60 seconds");
    EXPECT_EQ(refused.headers, (decltype(refused.headers){{"Retry-After", "60"}}));
  }
  w_.Json("DELETE /v1/users/5/following/1");         // it is so already
  w_.Json("POST /v1/users/5/friendships/7/cancel");  // what ends something is not counted
  Follow(7, 1);                                      // of each user by itself
}

TEST_F(HandlerTest, AFriendshipIsRefusedWhereOneOfTheTwoFollowsAsManyAsMayBe) {
  w_.relations.most_followed = 1;
  Follow(5, 1);
  w_.Json("POST /v1/users/5/friendships/7/request");
  const json problem = w_.Json("POST /v1/users/7/friendships/5/accept", 409);
  EXPECT_EQ(problem["code"], "following_limit");
  EXPECT_THAT(std::string(problem["detail"]), HasSubstr("user 5 follows 5000 users already"));
  EXPECT_EQ(w_.Json("GET /v1/users/5/friendships/7")["state"], "requested");
  w_.Json("DELETE /v1/users/5/following/1");
  EXPECT_EQ(w_.Json("POST /v1/users/7/friendships/5/accept")["state"], "friends");
}

TEST_F(HandlerTest, AFriendshipGoesFromTheRequestToItsEnd) {
  const auto step = [&](const std::string& line) { return w_.Json("POST /v1/users/" + line); };
  EXPECT_EQ(w_.Json("GET /v1/users/5/friendships/7"),
            json::parse(R"({"user":"5","other":"7","state":"none","version":"0"})"));
  EXPECT_EQ(step("5/friendships/7/request"),
            json::parse(R"({"user":"5","other":"7","state":"requested",
                            "version":"1700000000000000","asked_by":"5","changed":true})"));
  EXPECT_EQ(step("5/friendships/7/request")["changed"], false);
  EXPECT_EQ(step("7/friendships/5/accept")["state"], "friends");
  EXPECT_EQ(w_.Json("GET /v1/users/7/friendships/5")["state"], "friends");
  EXPECT_EQ(step("5/friendships/7/remove")["state"], "removed");
  step("7/friendships/5/request");
  EXPECT_EQ(step("5/friendships/7/refuse")["state"], "refused");
  step("5/friendships/7/request");
  EXPECT_EQ(step("5/friendships/7/cancel")["state"], "cancelled");
}

TEST_F(HandlerTest, WhatMayNotBeDoneNowIsAConflictWithTheReason) {
  json problem = w_.Json("POST /v1/users/5/friendships/7/accept", 409);
  EXPECT_EQ(problem["code"], "friendship_conflict");
  EXPECT_THAT(std::string(problem["detail"]), HasSubstr("there is no request to answer"));
  w_.Json("POST /v1/users/5/friendships/7/request");
  problem = w_.Json("POST /v1/users/5/friendships/7/accept", 409);
  EXPECT_THAT(std::string(problem["detail"]), HasSubstr("answered by the one who was asked"));
}

TEST_F(HandlerTest, ListsAreWalkedPageByPage) {
  for (int other = 2; other <= 6; ++other) Follow(1, other);
  Follow(4, 1);
  Follow(2, 1);
  EXPECT_THAT(w_.Walk("1/following", "limit=2"), ElementsAre("6", "5", "4", "3", "2"));
  EXPECT_THAT(w_.Walk("1/followers", "limit=1"), ElementsAre("2", "4"));
  EXPECT_THAT(w_.Walk("1/friends", "limit=1"), ElementsAre("4", "2"));
  EXPECT_THAT(w_.Walk("1/following", "limit=5"), ElementsAre("6", "5", "4", "3", "2"));
}

TEST_F(HandlerTest, AListSaysHowSomebodyStandsToEveryEntry) {
  Follow(1, 2);
  Follow(1, 3);
  Follow(1, 9);
  Follow(9, 2);
  Follow(3, 9);
  EXPECT_EQ(w_.Json("GET /v1/users/1/following?relation_to=9")["items"],
            json::parse(R"([{"id":"9","since_ms":1700000000002,"delivery":"all","relation":"none"},
                            {"id":"3","since_ms":1700000000001,"delivery":"all","relation":"follower"},
                            {"id":"2","since_ms":1700000000000,"delivery":"all","relation":"following"}])"));
  EXPECT_FALSE(w_.Json("GET /v1/users/1/following")["items"][0].contains("relation"));
  EXPECT_EQ(w_.Json("GET /v1/users/8/following?relation_to=9")["items"], json::array());
}

TEST_F(HandlerTest, ACheckAnswersInTheOrderAskedAndWhatIsAskedTwiceTwice) {
  Follow(1, 2);
  Follow(3, 1);
  Follow(1, 4);
  Follow(4, 1);
  const std::string ids = R"({"ids":["5","4","3","2","4"],"sides":")";
  const auto relations = [&](const std::string& sides) {
    std::vector<std::string> all;
    const json answer = w_.Json("POST /v1/users/1/relations:check", 200, ids + sides + "\"}");
    for (const json& item : answer["items"]) all.push_back(item["relation"]);
    return all;
  };
  EXPECT_THAT(relations("both"), ElementsAre("none", "mutual", "follower", "following", "mutual"));
  EXPECT_THAT(relations("following"),
              ElementsAre("none", "following", "none", "following", "following"));
  EXPECT_THAT(relations("followers"),
              ElementsAre("none", "follower", "follower", "none", "follower"));
}

constexpr const char* kLines[] = {"PUT /v1/users/5/following/7",
                                  "DELETE /v1/users/5/following/7",
                                  "GET /v1/users/5/following/7",
                                  "GET /v1/users/5/following",
                                  "GET /v1/users/5/followers",
                                  "GET /v1/users/5/friends?relation_to=7",
                                  "GET /v1/users/5/friendships/7",
                                  "POST /v1/users/5/friendships/7/accept",
                                  "POST /v1/users/5/relations:check",
                                  "GET /v1/users/5/familiar-followers/7",
                                  "GET /v1/users/5/counts"};

std::string BodyOf(const std::string& line) {
  return line.ends_with(":check") ? R"({"ids":["7"]})" : "";
}

TEST_F(HandlerTest, AShardThatIsAwayIs503EverywhereAndNamesNothing) {
  w_.relations.fail = Status::Later("mysql_0", "cannot connect to db1:3306");
  for (const char* line : kLines) {
    const Response response = w_.Ask(line, BodyOf(line));
    EXPECT_EQ(response.status, 503) << line;
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(json::parse(response.body)["code"], "store_unavailable") << line;
    EXPECT_THAT(response.body, Not(HasSubstr("mysql"))) << line;
    EXPECT_THAT(response.body, Not(HasSubstr("db1"))) << line;
    EXPECT_THAT(response.headers,
                ElementsAre(std::pair<std::string, std::string>{"Retry-After", "1"}));
  }
  EXPECT_EQ(w_.metrics.failed.front(), "follow mysql_0 cannot connect to db1:3306");
}

TEST_F(HandlerTest, WhatTheStoreRefusesForNoKnownReasonIsAFaultAndToldToTheOperatorOnly) {
  w_.relations.fail = Status::Never("SQL error 1264: out of range");
  for (const char* line : kLines) {
    if (std::string(line).ends_with("/accept")) continue;  // refused by the rule first
    const Response response = w_.Ask(line, BodyOf(line));
    EXPECT_EQ(response.status, 500) << line;
    EXPECT_EQ(json::parse(response.body)["code"], "internal") << line;
    EXPECT_THAT(response.body, Not(HasSubstr("MariaDB"))) << line;
  }
  EXPECT_THAT(w_.metrics.failed.front(), HasSubstr("out of range"));
}

TEST_F(HandlerTest, AShardThatHasTooMuchToDoSaysWhenToComeBackAndIsNoFailure) {
  w_.relations.fail = Status::Later("mysql_0", "queue full");
  w_.relations.fail.cause = Cause::kOverloaded;
  const auto retry_after = [&](Duration wait) {
    w_.relations.fail.wait = wait;
    const Response response = w_.Ask("GET /v1/users/5/counts");
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(json::parse(response.body)["code"], "overloaded");
    return response.headers.at(0).second;
  };
  EXPECT_EQ(retry_after({}), "1") << "nobody knows";
  EXPECT_EQ(retry_after(std::chrono::milliseconds(2'500)), "3");
  EXPECT_EQ(retry_after(std::chrono::hours(1)), "30");
  EXPECT_THAT(w_.metrics.failed, IsEmpty());
}

// It may still read: who closed only their side does.
TEST_F(HandlerTest, WhoLeavesBeforeTheirTurnIsToldSoAndIsNoSignOfOverload) {
  w_.relations.fail = Status::Later("mysql_0", "nobody waits for it any more");
  w_.relations.fail.cause = Cause::kOverloaded;
  const auto code_for = [&](bool there) {
    Request request = RequestOf("GET /v1/users/5/counts");
    request.alive = std::make_shared<std::atomic<bool>>(there);
    std::string code;
    w_.handler->Serve(request,
                      [&](const Response& response) { code = json::parse(response.body)["code"]; });
    return code;
  };
  EXPECT_EQ(code_for(false), "request_timeout");
  EXPECT_EQ(code_for(true), "overloaded");
  EXPECT_THAT(w_.metrics.answered, ElementsAre("getCounts 408", "getCounts 503"));
}

TEST_F(HandlerTest, ARequestHasItsClassItsTimeAndItsClient) {
  Request request = RequestOf("PUT /v1/users/5/following/7");
  const auto client = std::make_shared<std::atomic<bool>>(true);
  request.alive = client;
  w_.handler->Serve(request, [](const Response&) {});
  w_.Json("POST /v1/users/5/friendships/7/request");
  w_.Json("GET /v1/users/5/friends?relation_to=7");
  const auto& turns = w_.relations.turns;
  EXPECT_EQ(turns.front().until, w_.mono.load() + Exchanges::Rules().longest_wait);
  EXPECT_FALSE(turns.front().Dead());
  *client = false;
  EXPECT_TRUE(turns.front().Dead());
  std::vector<size_t> classes;
  for (const Turn& turn : turns) classes.push_back(turn.work_class);
  const auto changes = static_cast<size_t>(Work::kChanges);
  const auto lookups = static_cast<size_t>(Work::kLookups);
  EXPECT_THAT(classes, ElementsAre(changes, changes, changes, changes, lookups))
      << "the follow; the friendship's row, the limit, the row again; an empty list alone";
}

TEST_F(HandlerTest, EveryAnswerIsCountedUnderItsRoute) {
  Follow(5, 7);
  w_.Ask("GET /v1/users/0/counts");
  w_.Ask("GET /nowhere");
  w_.Ask("PATCH /v1/users/5/counts");
  w_.handler->Refuse(413, "");
  EXPECT_THAT(w_.metrics.answered,
              ElementsAre("follow 200", "getCounts 400", "other 404", "other 405", "other 413"));
}

}  // namespace
}  // namespace fanline::api
