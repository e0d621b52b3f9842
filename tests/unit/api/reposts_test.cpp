// Pages with reposts over HTTP: their members, and what is remembered of originals.
#include "api/original_states.h"
#include "tests/unit/api/pages_world.h"

namespace fanline::api {
namespace {

using std::chrono::milliseconds;

constexpr Original kOriginal{PostId{70}, UserId{7}}, kOther{PostId{71}, UserId{7}};

// User 5 follows 8, who reposted a post of 7.
class RepostsTest : public PagesTest {
 protected:
  RepostsTest() {
    Follow(5, 8);
    w_.Publish(7, 70, 1'000);
    FeedEvent event{EventKind::kPublished, PostId{80}, UserId{8}, 2'000, 0};
    event.repost_of = kOriginal;
    Do(event);
    w_.Publish(8, 81, 1'500);
  }
  void Do(const FeedEvent& event) { w_.posts.mysql.Do(ApplyEvents{1, 0, {event}}); }
  void Hide(EventKind kind) { Do({kind, PostId{70}, UserId{7}, 0, ++version_}); }

  uint64_t version_ = 0;
};

TEST_F(RepostsTest, AreMembersOfTheirOriginal) {
  for (const bool live : {false, true}) {
    if (live) w_.WaitUntilRebuilt(1);
    const json page = Home("5");
    EXPECT_EQ(page["state"], live ? "live" : "building");
    ASSERT_EQ(page["items"].size(), 2u);
    EXPECT_EQ(page["items"][0],
              json::parse(R"({"id": "70", "created_at_ms": 1000, "author_id": "7", "kind": "post",
                              "place_ms": 2000, "posted": false, "more_reposts": false,
                              "reposts": [{"by": "8", "at_ms": 2000, "id": "80"}]})"));
    EXPECT_EQ(page["items"][1], json::parse(R"({"id": "81", "created_at_ms": 1500,
                                                "author_id": "8", "kind": "post"})"));
    const json each = Home("5", "?reposts=each");
    EXPECT_EQ(each["items"][0], json::parse(R"({"id": "80", "created_at_ms": 2000, "author_id": "8",
                              "kind": "repost", "repost_of": {"id": "70", "author_id": "7"}})"));
    EXPECT_EQ(Ids(Home("5", "?reposts=none")), std::vector<std::string>{"81"});
    EXPECT_EQ(w_.Walk("5/timeline", "limit=1"), (std::vector<std::string>{"70", "81"}));
  }
  EXPECT_EQ(w_.Code("GET /v1/users/5/timeline?reposts=some", 400), "bad_parameter");
  EXPECT_EQ(w_.Code("GET /v1/users/8/posts?reposts=none", 400), "bad_parameter");
}

TEST_F(RepostsTest, StandAmongTheirAuthorsPostsWhileTheOriginalIsThere) {
  EXPECT_EQ(w_.Walk("8/posts", "limit=1"), (std::vector<std::string>{"80", "81"}));
  EXPECT_EQ(w_.Json("GET /v1/users/8/posts")["items"][0]["kind"], "repost");
  Hide(EventKind::kHidden);
  w_.mono = w_.mono.load() + OriginalStates::kFor;
  EXPECT_EQ(w_.Walk("8/posts", "limit=1"), (std::vector<std::string>{"81"}));
}

TEST_F(RepostsTest, GoAndComeWithTheirOriginalWithinASecond) {
  MakeLive("5");
  EXPECT_EQ(Home("5")["items"].size(), 2u);
  w_.posts.originals_read = 0;
  EXPECT_EQ(Home("5")["items"].size(), 2u);
  EXPECT_EQ(w_.posts.originals_read, 0u) << "it is remembered";
  for (const auto kind : {EventKind::kHidden, EventKind::kUnhidden, EventKind::kDeleted}) {
    Hide(kind);
    w_.mono = w_.mono.load() + OriginalStates::kFor;
    EXPECT_EQ(Home("5")["items"].size(), kind == EventKind::kUnhidden ? 2u : 1u);
  }
}

TEST_F(RepostsTest, WhileTheShardIsAwayWhatIsRememberedCounts) {
  MakeLive("5");
  EXPECT_EQ(Home("5")["items"].size(), 2u);
  SetAway(true);
  w_.mono = w_.mono.load() + 2 * OriginalStates::kFor;
  json page = Home("5");
  EXPECT_EQ(page["items"].size(), 2u);
  EXPECT_FALSE(page.contains("incomplete"));
  w_.mono = w_.mono.load() + OriginalStates::kWhileAway;
  page = Home("5");
  EXPECT_EQ(Ids(page), std::vector<std::string>{"81"});
  EXPECT_EQ(page["incomplete"], true);
  SetAway(false);
  w_.mono = w_.mono.load() + OriginalStates::kFor;
  EXPECT_EQ(Home("5")["items"].size(), 2u);
}

// ---- the cache

PostState Visible(UnixMs at) {
  PostState state;
  state.created_at = at;
  return state;
}
OriginalsRead Known(UnixMs at) { return {.status = {}, .states = {Visible(at)}}; }

struct StatesTest : ::testing::Test {
  Time now{std::chrono::seconds(100)};
  OriginalStates states{2};
  bool Asks(const Original& original = kOriginal) { return !states.Stale({original}, now).empty(); }
  std::optional<PostState> Served(const Original& original = kOriginal) {
    return states.Serve({original}, now).at(0);
  }
};

TEST_F(StatesTest, AreAskedForByOnePageASecond) {
  EXPECT_TRUE(Asks());
  EXPECT_TRUE(Asks()) << "nothing can be served yet";
  states.Put({kOriginal}, Known(7), now);
  EXPECT_EQ(Served()->created_at, 7);
  EXPECT_FALSE(Asks());
  now += OriginalStates::kFor;
  EXPECT_TRUE(Asks());
  EXPECT_FALSE(Asks()) << "the first one renews it";
  now += OriginalStates::kFor;
  EXPECT_TRUE(Asks()) << "too old, whoever renews it";
}

TEST_F(StatesTest, AnEarlierReplyThatComesLaterChangesNothing) {
  const Time first = now;
  EXPECT_TRUE(Asks());
  now += milliseconds(10);
  EXPECT_TRUE(Asks());
  states.Put({kOriginal}, Known(8), now);
  states.Put({kOriginal}, Known(7), first);
  EXPECT_EQ(Served()->created_at, 8);
}

TEST_F(StatesTest, AShardThatIsAwayIsAskedOnceASecond) {
  EXPECT_TRUE(Asks());
  states.Missed({kOriginal}, now);
  EXPECT_FALSE(Asks());
  EXPECT_FALSE(Served());
  now += OriginalStates::kFor;
  EXPECT_TRUE(Asks());
}

TEST_F(StatesTest, TheLeastRecentlyUsedGoFirst) {
  for (const Original& each : {kOriginal, kOther}) {
    EXPECT_TRUE(Asks(each));
    states.Put({each}, Known(7), now);
  }
  EXPECT_FALSE(Asks(kOriginal));
  EXPECT_TRUE(Asks({PostId{72}, UserId{7}}));
  EXPECT_TRUE(Served(kOriginal));
  EXPECT_FALSE(Served(kOther));
}

}  // namespace
}  // namespace fanline::api
