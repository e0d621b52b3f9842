// Events about posts over HTTP, on an in-memory log.
#include <gmock/gmock.h>

#include "tests/unit/api/world.h"

namespace fanline::api {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr UnixMs kNow = 1'700'000'000'000;

class PublishingTest : public ::testing::Test {
 protected:
  // The fields that a body is refused for.
  std::vector<std::string> Refused(const std::string& line, const std::string& body) {
    const json problem = w_.Json(line, 400, body);
    EXPECT_EQ(problem["code"], "bad_body");
    std::vector<std::string> fields;
    for (const json& each : problem.value("errors", json::array())) {
      fields.push_back(each["field"]);
      EXPECT_THAT(problem["detail"].get<std::string>(),
                  HasSubstr(each["detail"].get<std::string>()));
    }
    EXPECT_THAT(w_.log.appended, IsEmpty());
    return fields;
  }
  World w_;
};

TEST_F(PublishingTest, APostIsAcceptedWhenTheLogHasIt) {
  EXPECT_EQ(
      w_.Json("POST /v1/posts", 202,
              R"({"post_id":"18446744073709551614","author_id":7,"created_at_ms":1000000000000})"),
      json::parse(R"({"schema_version":1,"type":"post.published",
                "post_id":"18446744073709551614","author_id":"7","created_at_ms":1000000000000})"));
  EXPECT_THAT(w_.log.appended, ElementsAre(FeedEvent{EventKind::kPublished, PostId{UINT64_MAX - 1},
                                                     UserId{7}, 1'000'000'000'000, 0}));
}

TEST_F(PublishingTest, ARepostNamesWhatItShows) {
  const json accepted = w_.Json("POST /v1/posts", 202,
                                R"({"post_id":"77","author_id":"7","created_at_ms":1000000000000,)"
                                R"("repost_of":{"post_id":"70","author_id":6}})");
  EXPECT_EQ(accepted["repost_of"], json::parse(R"({"post_id":"70","author_id":"6"})"));
  EXPECT_EQ(w_.log.appended.at(0).repost_of, (Original{PostId{70}, UserId{6}}));
}

TEST_F(PublishingTest, WhatIsWrongWithAnOriginalIsNamed) {
  const auto refused = [&](const std::string& original) {
    return Refused("POST /v1/posts",
                   R"({"post_id":"77","author_id":"7","repost_of":)" + original + "}");
  };
  for (const char* none : {"null", "[]", "\"70\"", "70"}) {
    EXPECT_THAT(refused(none), ElementsAre("repost_of")) << none;
  }
  EXPECT_THAT(refused("{}"), ElementsAre("repost_of.post_id", "repost_of.author_id"));
  EXPECT_THAT(refused(R"({"post_id":"0","author_id":"6"})"), ElementsAre("repost_of.post_id"));
  EXPECT_THAT(refused(R"({"post_id":"77","author_id":"6"})"), ElementsAre("repost_of.post_id"))
      << "the repost's own id";
  EXPECT_THAT(refused(R"({"post_id":"70","author_id":"6","text":"!"})"),
              ElementsAre("repost_of.text"));
}

TEST_F(PublishingTest, AnOriginalNamedTwiceIsRefused) {
  const auto body = [](const std::string& original) {
    return R"({"post_id":"77","author_id":"7","repost_of":)" + original + "}";
  };
  const json refused =
      w_.Json("POST /v1/posts", 400, body(R"({"post_id":"70","post_id":"71","author_id":"6"})"));
  EXPECT_EQ(refused["code"], "bad_body");
  EXPECT_THAT(refused["detail"], HasSubstr("\"post_id\" is given twice"));
  w_.Json("POST /v1/posts", 202, body(R"({"post_id":"70","author_id":"6"})"));
}

TEST_F(PublishingTest, APostWithoutATimeIsPublishedNow) {
  EXPECT_EQ(w_.Json("POST /v1/posts", 202, R"({"post_id":"77","author_id":"7"})")["created_at_ms"],
            kNow);
  EXPECT_EQ(w_.log.appended[0].created_at, kNow);
}

TEST_F(PublishingTest, WhatBecomesOfAPostIsPublishedToo) {
  w_.Json("DELETE /v1/posts/77?author_id=7", 202);
  const std::string change = R"({"author_id":"7","version":"18446744073709551614"})";
  w_.Json("POST /v1/posts/77/hide", 202, change);
  w_.Json("POST /v1/posts/77/unhide", 202, R"({"author_id":"7","version":2})");
  w_.Json("POST /v1/posts/77/edit", 202, R"({"author_id":"7","version":3})");
  EXPECT_THAT(w_.log.appended,
              ElementsAre(FeedEvent{EventKind::kDeleted, PostId{77}, UserId{7}, 0, 0},
                          FeedEvent{EventKind::kHidden, PostId{77}, UserId{7}, 0, UINT64_MAX - 1},
                          FeedEvent{EventKind::kUnhidden, PostId{77}, UserId{7}, 0, 2},
                          FeedEvent{EventKind::kEdited, PostId{77}, UserId{7}, 0, 3}));
}

TEST_F(PublishingTest, EachFieldThatIsWrongIsNamed) {
  const auto refused = [&](const std::string& body) { return Refused("POST /v1/posts", body); };
  EXPECT_THAT(refused("{}"), ElementsAre("post_id", "author_id"));
  EXPECT_THAT(refused(R"({"post_id":"0","author_id":"x","created_at_ms":"soon"})"),
              ElementsAre("post_id", "author_id", "created_at_ms"));
  EXPECT_THAT(refused(R"({"post_id":9007199254740993,"author_id":-7})"),
              ElementsAre("post_id", "author_id"));
  EXPECT_THAT(refused(R"({"post_id":"18446744073709551615","author_id":"7"})"),
              ElementsAre("post_id"));
  EXPECT_THAT(refused(R"({"post_id":"77","author_id":"7","created_at_ms":9007199254740993})"),
              ElementsAre("created_at_ms"));
  EXPECT_THAT(refused(R"({"post_id":"77","author_id":"7","created_at_ms":"18446744073709551614"})"),
              ElementsAre("created_at_ms"));
  EXPECT_THAT(refused(R"({"post_id":"77","author_id":"7","text":"hello"})"), ElementsAre("text"));
  EXPECT_THAT(refused(R"({"post_id":"77","author_id":"7","created_at_ms":1700000300001})"),
              ElementsAre("created_at_ms"))
      << "more than 5 minutes from now";
  EXPECT_THAT(refused(R"({"post_id":"77","author_id":"7","created_at_ms":1700000000})"),
              ElementsAre("created_at_ms"))
      << "seconds";
  EXPECT_THAT(refused(R"({"post_id":"77","post_id":"78","author_id":"7"})"), IsEmpty());
  EXPECT_THAT(refused("no JSON"), IsEmpty());
  EXPECT_THAT(Refused("POST /v1/posts/77/hide", R"({"version":0})"),
              ElementsAre("author_id", "version"));
  EXPECT_EQ(w_.Json("POST /v1/posts", 202,
                    R"({"post_id":"77","author_id":"7","created_at_ms":1700000300000})")["type"],
            "post.published");
}

TEST_F(PublishingTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(w_.Code("DELETE /v1/posts/0?author_id=7", 400), "bad_id");
  EXPECT_EQ(w_.Code("DELETE /v1/posts/77?author_id=x", 400), "bad_id");
  EXPECT_EQ(w_.Code("DELETE /v1/posts/77", 400), "bad_parameter");
  EXPECT_EQ(w_.Code("POST /v1/posts/77/pin", 404, "{}"), "not_found");
  EXPECT_EQ(w_.Code("GET /v1/posts", 405), "method_not_allowed");
  EXPECT_EQ(w_.Ask("POST /v1/posts", R"({"post_id":"77","author_id":"7"})", "text/plain").status,
            415);
  EXPECT_THAT(w_.log.appended, IsEmpty());
}

TEST_F(PublishingTest, AnEventThatWasNotAcknowledgedMayBeSentAgain) {
  w_.log.fails = Status::Later("kafka", "timed out at broker 1");
  const std::string post = R"({"post_id":"77","author_id":"7"})";
  const Response response = w_.Ask("POST /v1/posts", post);
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.headers, ElementsAre(::testing::Pair("Retry-After", "1")));
  EXPECT_THAT(response.body, HasSubstr("log_unavailable"));
  EXPECT_THAT(response.body, HasSubstr("may have been accepted"));
  EXPECT_THAT(response.body, ::testing::Not(HasSubstr("broker 1")));
  EXPECT_THAT(w_.metrics.failed, ElementsAre("publishPost kafka timed out at broker 1"));
  w_.log.fails = Status::Never("too large");
  EXPECT_EQ(w_.Code("DELETE /v1/posts/77?author_id=7", 500), "internal");
}

TEST_F(PublishingTest, NobodyIsAnsweredBeforeTheLogIsAndNoMoreWaitThanMay) {
  w_.log.silent = true;
  std::vector<int> statuses;
  const auto post = [&](uint64_t id) {
    w_.handler->Serve(
        RequestOf("POST /v1/posts", R"({"author_id":"7","post_id":")" + std::to_string(id) + "\"}"),
        [&](const Response& response) { statuses.push_back(response.status); });
  };
  post(1);
  post(2);
  EXPECT_THAT(statuses, IsEmpty());
  EXPECT_EQ(w_.Json("GET /v1/users/5/posts")["items"].size(), 0u) << "all else goes on";
  post(3);
  EXPECT_THAT(statuses, ElementsAre(503));
  w_.log.Answer();
  EXPECT_THAT(statuses, ElementsAre(503, 202, 202));
  post(4);
  w_.log.Answer();
  EXPECT_THAT(statuses, ElementsAre(503, 202, 202, 202));
}

TEST_F(PublishingTest, WithoutKafkaNothingIsPublished) {
  Handler handler(*w_.exchanges, *w_.pages, nullptr, w_.metrics, [] { return Now{}; });
  int status = 0;
  handler.Serve(RequestOf("DELETE /v1/posts/77?author_id=7"), [&](const Response& response) {
    status = response.status;
    EXPECT_THAT(response.body, HasSubstr("--kafka-brokers"));
  });
  EXPECT_EQ(status, 501);
}

}  // namespace
}  // namespace fanline::api
