// Pages of posts with their bodies over HTTP, on in-memory stores.
#include "api/operations/bounds.h"
#include "tests/unit/api/pages_world.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;

class BodiesTest : public PagesTest {
 protected:
  BodiesTest() { Follow(5, 7); }
  void Publish(uint64_t most) {
    for (uint64_t post = 1; post <= most; ++post) {
      w_.Publish(7, post, 1'000 + static_cast<UnixMs>(post));
      w_.texts.Put(post, "text " + std::to_string(post));
    }
  }
  json Get(const std::string& path) { return w_.Json("GET /v1/users/" + path); }
};

TEST_F(BodiesTest, AreLeftOutWhileClientsLeaveTooMuchUntaken) {
  Publish(2);
  w_.handler->Kept(kMostKeptBytes + 1);
  EXPECT_EQ(Get("7/posts?expand=body")["bodies"], "unavailable");
  EXPECT_EQ(Get("7/posts")["items"].size(), 2u);
  w_.handler->Kept(-1);
  EXPECT_EQ(Get("7/posts?expand=body")["bodies"], "complete");
}

TEST_F(BodiesTest, ComeWhenTheyAreAskedFor) {
  Publish(2);
  w_.texts.names = {"text", "likes", "score", "lang"};
  w_.texts.rows[PostId{2}] = {"hello \"you\"", int64_t{-3}, 0.5, std::monostate()};
  w_.texts.rows[PostId{1}] = {"not \xff UTF-8", int64_t{0}, 1e300, "de"};
  const json pulled = json::parse(R"({"items":[
      {"id":"2","created_at_ms":1002,"author_id":"7","kind":"post",
       "body":{"text":"hello \"you\"","likes":-3,"score":0.5,"lang":null}},
      {"id":"1","created_at_ms":1001,"author_id":"7","kind":"post",
       "body":{"text":"not \ufffd UTF-8","likes":0,"score":1e300,"lang":"de"}}],
      "newest_cursor":"1002.2","bodies":"complete","state":"building"})");
  EXPECT_EQ(Get("5/timeline?expand=body"), pulled);
  json own = pulled;
  own.erase("state");
  EXPECT_EQ(Get("7/posts?expand=body"), own);
  EXPECT_THAT(w_.metrics.bodies, ElementsAre("complete, gone 0", "complete, gone 0"));
  EXPECT_FALSE(Get("5/timeline")["items"][0].contains("body"));
  EXPECT_FALSE(Get("5/timeline").contains("bodies"));
}

TEST_F(BodiesTest, WhatIsGoneLeavesThePageLivePulledAndOfAnAuthor) {
  Publish(20);
  for (const uint64_t gone : {20, 18, 17, 9}) w_.texts.rows.erase(PostId{gone});
  for (const std::string path : {"5/timeline", "5/timeline", "7/posts"}) {
    const json page = Get(path + "?limit=3&expand=body");
    EXPECT_EQ(page["newest_cursor"], "1020.20");
    EXPECT_THAT(Ids(page), ElementsAre("19", "16", "15")) << path;
    EXPECT_EQ(w_.Walk(path, "limit=3&expand=body").size(), 16u) << path;
    w_.WaitUntilRebuilt(1);
  }
  EXPECT_THAT(w_.metrics.bodies, ::testing::Contains("complete, gone 3"));
}

TEST_F(BodiesTest, ARefillIsNoVisitOfItsOwn) {
  Publish(3);
  w_.texts.rows.erase(PostId{3});
  EXPECT_EQ(Get("5/timeline?limit=1&expand=body")["state"], "building");
  EXPECT_EQ(w_.metrics.pages, 1);
}

TEST_F(BodiesTest, WithoutTheApplicationsDatabasePagesAreServedWithout) {
  Publish(3);
  w_.texts.rows.erase(PostId{3});
  MakeLive("5");
  w_.texts.fails = Status::Later("bodies", "no answer");
  const json page = Get("5/timeline?limit=2&expand=body");
  EXPECT_EQ(page["bodies"], "unavailable");
  EXPECT_EQ(page["state"], "live");
  EXPECT_THAT(Ids(page), ElementsAre("3", "2"));
  EXPECT_FALSE(page["items"][0].contains("body"));
  EXPECT_EQ(page["next_cursor"], "1002.2");
  EXPECT_THAT(w_.metrics.failed, ElementsAre("getTimeline bodies no answer"));
  EXPECT_THAT(w_.metrics.bodies, ElementsAre("unavailable, gone 0"));
}

TEST_F(BodiesTest, ADatabaseThatHangsHoldsUpNoPageWithoutBodies) {
  Publish(1);
  MakeLive("5");
  w_.texts.holds = true;
  std::vector<Response> slow;
  w_.handler->Serve(RequestOf("GET /v1/users/5/timeline?expand=body"),
                    [&](Response response) { slow.push_back(std::move(response)); });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Get("5/timeline")["state"], "live");
  EXPECT_TRUE(slow.empty());
  w_.texts.Release();
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(json::parse(slow[0].body)["bodies"], "complete");
}

TEST_F(BodiesTest, AShardThatFailsInARefillEndsThePage) {
  Publish(3);
  w_.texts.rows.erase(PostId{3});
  w_.texts.on_read = [&] { w_.posts.mysql_fails = Status::Later("mysql_0", "away"); };
  const json page = Get("7/posts?limit=2&expand=body");
  EXPECT_THAT(Ids(page), ElementsAre("2"));
  EXPECT_EQ(page["next_cursor"], "1002.2");
}

TEST_F(BodiesTest, WhatCannotBeExpandedIsRefused) {
  EXPECT_EQ(w_.Code("GET /v1/users/5/timeline?expand=text", 400), "bad_parameter");
  EXPECT_EQ(w_.Code("GET /v1/users/5/timeline?expand=", 400), "bad_parameter");
  EXPECT_EQ(w_.Code("GET /v1/users/5/timeline:count?expand=body", 400), "bad_parameter");
  Pages without(
      *w_.exchanges, *w_.rebuilds, w_.map, w_.metrics, [] { return Now{}; }, Pages::Rules());
  Handler handler(*w_.exchanges, without, nullptr, w_.metrics, [] { return Now{}; });
  std::promise<Response> answered;
  handler.Serve(RequestOf("GET /v1/users/5/timeline?expand=body"),
                [&](Response response) { answered.set_value(std::move(response)); });
  const Response response = answered.get_future().get();
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, ::testing::HasSubstr("--bodies-mysql"));
}

}  // namespace
}  // namespace fanline::api
