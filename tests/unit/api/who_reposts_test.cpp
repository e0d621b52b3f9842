// Who reposts a post, and the undoing of reposts.
#include <gmock/gmock.h>

#include "tests/unit/api/world.h"

namespace fanline::api {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Original kReposted{PostId{70}, UserId{6}};

class WhoRepostsTest : public ::testing::Test {
 protected:
  WhoRepostsTest() { w_.Publish(6, 70, 1'000); }
  void Change(EventKind kind, uint64_t author, uint64_t post, uint64_t version = 0) {
    w_.posts.mysql.Do(ApplyEvents{1, 0, {{kind, PostId{post}, UserId{author}, 0, version}}});
  }
  json List(const std::string& more = {}, int status = 200) {
    return w_.Json("GET /v1/posts/70/reposts?author_id=6" + more, status);
  }
  World w_;
};

TEST_F(WhoRepostsTest, AUserIsListedOnceHoweverOften) {
  EXPECT_EQ(List(), json::parse(R"({"items":[],"count":0,"at_least":false})"));
  w_.Publish(9, 90, 2'000, kReposted);
  w_.Publish(9, 91, 1'500, kReposted);
  w_.Publish(8, 80, 3'000, kReposted);
  w_.Publish(7, 79, 3'000, {PostId{71}, UserId{6}});
  EXPECT_EQ(List(), json::parse(R"({"items":[{"id":"8","reposted_at_ms":3000},
                                             {"id":"9","reposted_at_ms":2000}],
                                    "count":2,"at_least":false})"));
}

TEST_F(WhoRepostsTest, WhatIsDeletedOrHiddenIsNotListed) {
  for (uint64_t user = 7; user < 10; ++user) w_.Publish(user, 10 * user, 2'000, kReposted);
  Change(EventKind::kDeleted, 7, 70);
  Change(EventKind::kHidden, 8, 80, 1);
  EXPECT_THAT(Ids(List()), ElementsAre("9"));
  EXPECT_EQ(List()["count"], 1);
  Change(EventKind::kUnhidden, 8, 80, 2);
  EXPECT_THAT(Ids(List()), ElementsAre("8", "9"));
}

TEST_F(WhoRepostsTest, PagesHaveEachUserOnceAndTheFirstTheCount) {
  for (uint64_t user = 100; user < 120; ++user) w_.Publish(user, 10 * user, 2'000, kReposted);
  std::vector<std::string> walked;
  std::string cursor;
  do {
    const json page = List("&limit=6" + (cursor.empty() ? "" : "&cursor=" + cursor));
    EXPECT_EQ(page.contains("count"), cursor.empty());
    EXPECT_LE(page["items"].size(), 6u);
    for (const std::string& id : Ids(page)) walked.push_back(id);
    cursor = page.value("next_cursor", "");
  } while (!cursor.empty());
  ASSERT_EQ(walked.size(), 20u);
  for (uint64_t i = 0; i < 20; ++i) EXPECT_EQ(walked[i], std::to_string(100 + i));
}

TEST_F(WhoRepostsTest, OfAPostThatCannotBeSeenThereAreNone) {
  w_.Publish(9, 90, 2'000, kReposted);
  EXPECT_EQ(w_.Code("GET /v1/posts/70/reposts?author_id=5", 404), "not_found") << "not his";
  Change(EventKind::kHidden, 6, 70, 1);
  EXPECT_EQ(List("", 404)["code"], "not_found");
  Change(EventKind::kUnhidden, 6, 70, 2);
  EXPECT_THAT(Ids(List()), ElementsAre("9"));
  Change(EventKind::kDeleted, 6, 70);
  EXPECT_EQ(List("", 404)["code"], "not_found");
}

TEST_F(WhoRepostsTest, AListIsAskedForAsItShouldBe) {
  EXPECT_EQ(w_.Code("GET /v1/posts/70/reposts", 400), "bad_parameter");
  EXPECT_EQ(w_.Code("GET /v1/posts/70/reposts?author_id=x", 400), "bad_id");
  EXPECT_EQ(List("&cursor=x", 400)["code"], "bad_cursor");
  EXPECT_EQ(List("&limit=0", 400)["code"], "bad_parameter");
  w_.relations.fail = Status::Later("mysql_0", "away");
  EXPECT_EQ(List("", 503)["code"], "store_unavailable");
}

TEST_F(WhoRepostsTest, AreUndoneByTheOriginal) {
  w_.Publish(9, 90, 2'000, kReposted);
  w_.Publish(9, 91, 2'000, kReposted);
  w_.Publish(9, 92, 2'000);
  w_.Publish(8, 80, 2'000, kReposted);
  EXPECT_EQ(w_.Json("DELETE /v1/users/9/reposts/70", 202),
            json::parse(R"({"user":"9","original_id":"70","undone":["90","91"]})"));
  EXPECT_THAT(w_.log.appended,
              ElementsAre(FeedEvent{EventKind::kDeleted, PostId{90}, UserId{9}, 0, 0},
                          FeedEvent{EventKind::kDeleted, PostId{91}, UserId{9}, 0, 0}));
  for (const uint64_t post : {90, 91}) Change(EventKind::kDeleted, 9, post);
  EXPECT_EQ(w_.Code("DELETE /v1/users/9/reposts/70", 404), "not_found") << "it is done";
  EXPECT_EQ(w_.Code("DELETE /v1/users/9/reposts/x", 400), "bad_id");
  EXPECT_EQ(w_.log.appended.size(), 2u);
}

TEST_F(WhoRepostsTest, AnUndoThatKafkaDoesNotTakeIsRefused) {
  w_.Publish(9, 90, 2'000, kReposted);
  w_.log.fails = Status::Later("kafka", "away");
  EXPECT_EQ(w_.Code("DELETE /v1/users/9/reposts/70", 503), "log_unavailable");
  w_.log.fails = {};
  w_.relations.fail = Status::Later("mysql_0", "away");
  EXPECT_EQ(w_.Code("DELETE /v1/users/9/reposts/70", 503), "store_unavailable");
}

}  // namespace
}  // namespace fanline::api
