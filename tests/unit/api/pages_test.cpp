// Pages of posts over HTTP, on in-memory stores: what they hold.
#include "tests/unit/api/pages_world.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A cursor behind which no post of that moment is new.
std::string FirstOf(UnixMs moment) { return CursorText(Position{moment, kFirstOfMoment}); }

TEST_F(PagesTest, AReaderWhoComesBackIsServedAtOnceAndThenFromTheLiveTimeline) {
  FollowAuthorOfOnePost();
  w_.Publish(7, 71, 2'000);
  const json body = json::parse(
      R"({"items":[{"id":"71","created_at_ms":2000,"author_id":"7","kind":"post"},
                   {"id":"70","created_at_ms":1000,"author_id":"7","kind":"post"}],
          "newest_cursor":"2000.71","state":"building"})");
  EXPECT_EQ(Home("5"), body);
  w_.WaitUntilRebuilt(1);
  w_.posts.mysql_fails = Status::Later("mysql_0", "away");
  json live = body;
  live["state"] = "live";
  EXPECT_EQ(Home("5"), live);
}

TEST_F(PagesTest, ACursorIsAPlaceWhateverBecomesOfItsPost) {
  Follow(5, 7);
  for (uint64_t post = 1; post <= 5; ++post) w_.Publish(7, post, 1'000 + static_cast<UnixMs>(post));
  MakeLive("5");
  const std::string cursor = Home("5", "?limit=2")["next_cursor"];
  w_.posts.mysql.Do(ApplyEvents{1, 0, {{EventKind::kDeleted, PostId{4}, UserId{7}, 0, 0}}});
  w_.posts.redis.FlushAll();
  EXPECT_THAT(Ids(Home("5", "?cursor=" + cursor)), ElementsAre("3", "2", "1"));
  EXPECT_THAT(Ids(Home("5", "?newer_than=" + cursor)), ElementsAre("5"));
}

TEST_F(PagesTest, WhatIsNewIsCountedAndShownFromTheNewestDownToThePlace) {
  Follow(5, 7);
  for (uint64_t post = 1; post <= 3; ++post) w_.Publish(7, post, 1'000 + static_cast<UnixMs>(post));
  MakeLive("5");
  const std::string seen = Home("5")["newest_cursor"];
  const auto count = [&](const std::string& path) {
    return w_.Json("GET /v1/users/" + path + ":count?newer_than=" + seen);
  };
  EXPECT_EQ(count("5/timeline"), json::parse(R"({"count":0,"more":false})"));
  const json nothing = Home("5", "?newer_than=" + seen);
  EXPECT_EQ(nothing["newest_cursor"], seen);
  EXPECT_FALSE(nothing.contains("empty_because"));

  for (uint64_t post = 4; post <= 9; ++post) w_.Publish(7, post, 1'000 + static_cast<UnixMs>(post));
  w_.posts.redis.FlushAll();
  EXPECT_EQ(count("5/timeline"), json::parse(R"({"count":6,"more":false})"));
  EXPECT_EQ(count("7/posts"), json::parse(R"({"count":6,"more":false})"));
  EXPECT_THAT(w_.Walk("5/timeline", "limit=4&newer_than=" + seen),
              ElementsAre("9", "8", "7", "6", "5", "4"));
  EXPECT_THAT(w_.Walk("7/posts", "limit=4&newer_than=" + seen),
              ElementsAre("9", "8", "7", "6", "5", "4"));
}

// It stands behind a post that was shown, whether it came in late or another is dated ahead.
TEST_F(PagesTest, APostThatComesInLateIsNewAllTheSame) {
  Follow(5, 7);
  w_.Publish(7, 1, w_.now - 60'000);
  w_.Publish(7, 2, w_.now - 3'000);
  w_.Publish(7, 3, w_.now + 240'000);
  w_.posts.redis_fails = Status::Later("redis", "away");  // nobody pushes here
  uint64_t next = 4;
  for (const std::string path : {"5/timeline", "7/posts"}) {
    SCOPED_TRACE(path);
    const uint64_t late = next++, on_time = next++;
    const auto newer = [&](const std::string& cursor) {
      return w_.Json("GET /v1/users/" + path + "?newer_than=" + cursor);
    };
    const auto count = [&](const std::string& cursor) {
      return w_.Json("GET /v1/users/" + path + ":count?newer_than=" + cursor)["count"];
    };
    const std::string cursor = w_.Json("GET /v1/users/" + path)["newest_cursor"];
    EXPECT_EQ(cursor, FirstOf(w_.now - 13'000) + ".2");
    EXPECT_EQ(count(cursor), 0) << "what was shown is not counted";
    EXPECT_THAT(Ids(newer(cursor)), ElementsAre("3", "2")) << "but shown again";
    w_.Publish(7, late, w_.now - 8'000);
    EXPECT_EQ(count(cursor), 1);
    const json page = newer(cursor);
    EXPECT_THAT(Ids(page), ElementsAre("3", "2", std::to_string(late)));
    w_.now += 100'000;
    const std::string later = newer(page["newest_cursor"])["newest_cursor"];
    EXPECT_EQ(later, FirstOf(w_.now - 13'000) + ".1") << "the one that is dated ahead";
    w_.Publish(7, on_time, w_.now);
    EXPECT_EQ(count(later), 1);
    EXPECT_THAT(Ids(newer(later)), ElementsAre("3", std::to_string(on_time)));
    for (const uint64_t post : {late, on_time}) {
      w_.posts.mysql.Do(ApplyEvents{1, 0, {{EventKind::kDeleted, PostId{post}, UserId{7}, 0, 0}}});
    }
    w_.now -= 100'000;
  }
}

// What is remembered of a merged author does not have it yet when another's newer post is shown.
TEST_F(PagesTest, AMergedPostThatComesInLateIsNewAlthoughItsAuthorsPostsAreRemembered) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  Follow(5, 7);
  Follow(5, 8);
  const UnixMs begin = w_.now;
  const Time mono = w_.mono;
  const auto at = [&](int ms) {
    w_.now = begin + ms;
    w_.mono = mono + std::chrono::milliseconds(ms);
  };
  w_.Publish(7, 70, begin - 60'000);
  w_.Publish(8, 80, begin + 5'000);
  MakeLive("5");
  at(9'200);
  std::string cursor = Home("5")["newest_cursor"];
  at(9'400);
  w_.Publish(7, 71, begin);  // late by less than the overlap
  at(10'100);
  const json remembered = Home("5", "?newer_than=" + cursor);
  EXPECT_THAT(Ids(remembered), ElementsAre("80"));
  cursor = remembered["newest_cursor"];
  at(10'300);
  EXPECT_THAT(Ids(Home("5", "?newer_than=" + cursor)), ElementsAre("80", "71"));
}

// Ids need not rise with time: a post that comes later may stand on either side.
TEST_F(PagesTest, APostOfTheSameMomentAsAnotherIsNew) {
  Follow(5, 7);
  w_.posts.redis_fails = Status::Later("redis", "away");  // nobody pushes here
  w_.Publish(7, 50, w_.now);
  const std::string cursor = Home("5")["newest_cursor"];
  w_.Publish(7, 400, w_.now);
  w_.Publish(7, 6, w_.now);
  EXPECT_THAT(Ids(Home("5", "?newer_than=" + cursor)), ElementsAre("400", "50", "6"));
  EXPECT_EQ(w_.Json("GET /v1/users/5/timeline:count?newer_than=" + cursor)["count"], 2);
}

// Whatever the author posts meanwhile would be passed over.
TEST_F(PagesTest, AnIncompletePageMovesNobodyOn) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  Follow(5, 7);
  Follow(5, 8);
  w_.Publish(8, 80, 1'000);
  w_.Publish(7, 70, 2'000);
  w_.Publish(8, 81, 3'000);
  MakeLive("5");
  const std::string seen = Home("5", "?cursor=3000.81")["newest_cursor"];
  w_.mono = w_.mono.load() + MergedPosts::kWhileAway;
  SetAway(true);
  const json first = Home("5"), poll = Home("5", "?newer_than=" + seen);
  EXPECT_THAT(Ids(first), ElementsAre("81", "80"));
  EXPECT_FALSE(first.contains("newest_cursor"));
  EXPECT_THAT(Ids(poll), ElementsAre("81"));
  EXPECT_EQ(poll["newest_cursor"], seen);
}

// A poll must not pass over what a pusher that is late, or gone, has yet to push.
TEST_F(PagesTest, APageOfARangeThatLagsIsIncompleteAndMovesNobodyOn) {
  Follow(5, 7);
  w_.Publish(7, 70, w_.now - 60'000);
  MakeLive("5");
  const std::string seen = Home("5")["newest_cursor"];
  const auto late = [this](UnixMs by) { w_.posts.as_of = [this, by] { return w_.now - by; }; };
  late(10'000);
  EXPECT_FALSE(Home("5").contains("incomplete"));
  late(10'001);
  const json first = Home("5"), poll = Home("5", "?newer_than=" + seen);
  EXPECT_EQ(first["incomplete"], true);
  EXPECT_FALSE(first.contains("newest_cursor"));
  EXPECT_EQ(poll["newest_cursor"], seen);
  EXPECT_EQ(w_.Json("GET /v1/users/5/timeline:count?newer_than=" + seen)["incomplete"], true);
  w_.posts.as_of = [] { return 0; };
  EXPECT_EQ(Home("5")["incomplete"], true) << "nobody has said how far it is";
  late(-3'600'000);
  EXPECT_EQ(Home("5")["incomplete"], true) << "a clock that was an hour ahead said so";
  w_.posts.redis.FlushAll();
  EXPECT_FALSE(Home("5").contains("incomplete")) << "pulled from the shards";
}

TEST_F(PagesTest, WhereToAskOnFollowsHowFarTheRangeIs) {
  Follow(5, 7);
  w_.Publish(7, 70, w_.now - 60'000);
  w_.Publish(7, 71, w_.now - 14'000);
  MakeLive("5");
  const auto newest = [this](const std::string& query = {}) {
    return Home("5", query)["newest_cursor"].get<std::string>();
  };
  const std::string shown = std::to_string(w_.now - 14'000) + ".71";
  EXPECT_EQ(newest(), shown);
  w_.posts.as_of = [this] { return w_.now - 6'000; };
  EXPECT_EQ(newest(), FirstOf(w_.now - 16'000) + ".1");
  EXPECT_EQ(newest("?newer_than=" + shown), shown) << "what was settled stays so";
}

TEST_F(PagesTest, ACountIsBounded) {
  Follow(5, 7);
  for (uint64_t post = 1; post <= 201; ++post) w_.Publish(7, post, static_cast<UnixMs>(post));
  const json most = json::parse(R"({"count":200,"more":true})");
  EXPECT_EQ(w_.Json("GET /v1/users/5/timeline:count"), most);
  EXPECT_EQ(w_.Json("GET /v1/users/7/posts:count"), most);
}

TEST_F(PagesTest, WhatCannotBeAskedForIsRefused) {
  for (const char* path : {"timeline", "posts"}) {
    const std::string line = std::string("GET /v1/users/5/") + path;
    EXPECT_EQ(w_.Code(line + "?limit=0", 400), "bad_parameter");
    EXPECT_EQ(w_.Code(line + "?limit=201", 400), "bad_parameter");
    EXPECT_EQ(w_.Code(line + "?offset=10", 400), "bad_parameter");
    EXPECT_EQ(w_.Code(line + "?cursor=abc", 400), "bad_cursor");
    EXPECT_EQ(w_.Code(line + "?cursor=", 400), "bad_cursor");
    EXPECT_EQ(w_.Code(line + "?newer_than=1.0", 400), "bad_cursor");
    EXPECT_EQ(w_.Code(line + ":count?newer_than=x", 400), "bad_cursor");
    EXPECT_EQ(w_.Code(line + ":count?limit=1", 400), "bad_parameter");
  }
  EXPECT_EQ(w_.Code("GET /v1/users/0/timeline", 400), "bad_id");
}

TEST_F(PagesTest, WhyThereIsNothingIsSaid) {
  const auto why = [&](const std::string& path) {
    const json page = w_.Json("GET /v1/users/" + path);
    EXPECT_TRUE(page["items"].empty());
    return page.value("empty_because", "");
  };
  EXPECT_EQ(why("5/timeline"), "no_such_user");
  EXPECT_EQ(why("5/posts"), "no_such_user");
  w_.WaitUntilRebuilt(1);
  Follow(6, 7);
  EXPECT_EQ(why("6/timeline"), "no_posts");
  EXPECT_EQ(why("7/timeline"), "follows_nobody");
  EXPECT_EQ(why("7/posts"), "no_posts");
  w_.WaitUntilRebuilt(3);
  EXPECT_EQ(Home("7")["state"], "live");
  EXPECT_EQ(why("7/timeline"), "follows_nobody");
}

TEST_F(PagesTest, AnEmptyTimelineAsksTheShardsOnceInAWhile) {
  Follow(6, 7);
  MakeLive("6");
  w_.posts.calls = 0;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Home("6")["empty_because"], "no_posts");
  EXPECT_EQ(w_.posts.calls, 0u);
  w_.mono = Time{} + EmptyReasons::kFor;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Home("6")["empty_because"], "no_posts");
  EXPECT_EQ(w_.posts.calls, 1u);

  w_.mono = Time{} + 2 * EmptyReasons::kFor;
  w_.posts.mysql_fails = Status::Later("mysql_0", "away");
  const json page = Home("6");
  EXPECT_EQ(page["state"], "live");
  EXPECT_FALSE(page.contains("empty_because"));
}

TEST_F(PagesTest, WhyALiveTimelineShowsNothingIsSaidOfItsReaderAlone) {
  Follow(6, 7);
  for (const char* user : {"5", "6", "7"}) MakeLive(user);
  const auto why = [&](const std::string& user) {
    const json page = Home(user);
    EXPECT_EQ(page["state"], "live");
    return page.value("empty_because", "");
  };
  for (const char* as : {"the pull found", "the shards say", "the shards said"}) {
    SCOPED_TRACE(as);
    EXPECT_EQ(why("5"), "no_such_user");
    EXPECT_EQ(why("6"), "no_posts");
    EXPECT_EQ(why("7"), "follows_nobody");
    w_.mono = Time{} + EmptyReasons::kFor;  // the pulls' are forgotten, the shards' are not
  }
  w_.posts.mysql.WriteForward(UserId{6}, UserId{7}, false);
  Follow(7, 6);
  w_.mono = Time{} + 2 * EmptyReasons::kFor;
  EXPECT_EQ(why("6"), "follows_nobody");
  EXPECT_EQ(why("7"), "no_posts");
}

TEST_F(PagesTest, TimelinesOfMadeUpUsersAreBounded) {
  ASSERT_EQ(Home("91")["state"], "building");
  ASSERT_EQ(Home("92")["state"], "building");
  w_.WaitUntilRebuilt(2);
  EXPECT_EQ(Home("93")["state"], "pulled");
  EXPECT_EQ(Home("93", "?newer_than=1.1")["state"], "pulled");
  EXPECT_EQ(Home("91")["state"], "live") << "asks the shards for nothing";
  Follow(5, 7);
  EXPECT_EQ(Home("5")["state"], "building");
  w_.WaitUntilRebuilt(3);
  w_.mono = Time{} + kEmptyTimelineTtl;
  EXPECT_EQ(Home("93")["state"], "building");
}

TEST_F(PagesTest, WhyAnIncompletePageShowsNothingIsNotSaid) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  FollowAuthorOfOnePost();
  MakeLive("5");
  SetAway(true);
  const json page = Home("5");
  EXPECT_EQ(page["incomplete"], true);
  EXPECT_FALSE(page.contains("empty_because"));

  SetAway(false);
  MakeLive("6");
  EXPECT_EQ(Home("6")["empty_because"], "no_such_user");
  w_.posts.as_of = [] { return 0; };
  const json late = Home("6");
  EXPECT_EQ(late["incomplete"], true);
  EXPECT_FALSE(late.contains("empty_because"));
}

TEST_F(PagesTest, WhyThereIsNothingIsSaidEachTimeWhoeverHadToBeAskedForThePage) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  FollowAuthorOfOnePost();
  MakeLive("5");
  w_.posts.mysql.Do(ApplyEvents{1, 0, {{EventKind::kDeleted, PostId{70}, UserId{7}, 0, 0}}});
  for (int second = 0; second < 100; ++second) {
    const json page = Home("5");
    EXPECT_EQ(page["state"], "live");
    EXPECT_EQ(page.value("empty_because", ""), "no_posts") << second;
    w_.mono = w_.mono.load() + MergedPosts::kFor / 2;
  }
}

TEST_F(PagesTest, AShardThatIsAwayIs503ForWhatNoTimelineHolds) {
  Follow(5, 7);
  w_.posts.mysql_fails = Status::Later("mysql_0", "cannot connect to db1:3306");
  for (const char* path : {"5/timeline", "5/timeline:count", "7/posts", "7/posts:count"}) {
    const Response response = w_.Ask(std::string("GET /v1/users/") + path);
    EXPECT_EQ(response.status, 503) << path;
    EXPECT_THAT(response.body, HasSubstr("store_unavailable"));
    EXPECT_THAT(response.body, ::testing::Not(HasSubstr("db1")));
  }
  EXPECT_EQ(w_.tokens, 0) << "no timeline is begun that cannot be finished";
}

}  // namespace
}  // namespace fanline::api
