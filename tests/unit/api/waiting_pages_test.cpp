// What a page waits for, and what it does without: rebuilds, pulls, Redis and shards.
#include <array>
#include <deque>

#include "tests/unit/api/pages_world.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(PagesTest, WithoutRedisPagesArePulledAndNothingIsRebuilt) {
  FollowAuthorOfOnePost();
  w_.posts.redis_fails = Status::Later("redis", "no answer");
  const json page = Home("5");
  EXPECT_EQ(page["state"], "pulled");
  EXPECT_THAT(Ids(page), ElementsAre("70"));
  EXPECT_THAT(w_.metrics.failed, ElementsAre("getTimeline redis no answer"));
  w_.posts.redis_fails = Status::Done();
  EXPECT_EQ(Home("5")["state"], "building") << "it was not offered before";
}

// As many pages as may be are being pulled until the end of the block.
class PullsBusy {
 public:
  explicit PullsBusy(World& world) : world_(world) {
    world.posts.holds = true;
    for (size_t i = 0; i < World::kPulls; ++i) {
      world.handler->Serve(RequestOf("GET /v1/users/" + std::to_string(900 + i) + "/timeline"),
                           [](const Response&) {});
    }
    world.posts.holds = false;
  }
  ~PullsBusy() { world_.posts.Release(); }

 private:
  World& world_;
};

TEST_F(PagesTest, WhereAPullWouldHaveToWaitTheRebuildServesThePage) {
  FollowAuthorOfOnePost();
  const PullsBusy busy(w_);
  const json page = Home("5");
  EXPECT_EQ(page["state"], "live");
  EXPECT_THAT(Ids(page), ElementsAre("70"));
  EXPECT_EQ(w_.metrics.rebuilt, 1);
  EXPECT_EQ(Home("5", "?newer_than=1.1")["state"], "live");
}

// When Redis was lost, readers wait for half a minute. Their range has gone on meanwhile, or not.
TEST_F(PagesTest, WhetherARangeLagsIsAskedOfWhenTheTimelineIsRead) {
  for (const uint64_t user : {5, 6}) Follow(user, 7);
  w_.Publish(7, 70, w_.now - 60'000);
  const std::string shown = std::to_string(w_.now - 60'000) + ".70";
  std::atomic<bool> waits = true;
  w_.posts.on_read = [&] {
    if (waits.exchange(false)) w_.now += 30'000;
  };
  const PullsBusy busy(w_);
  const json whole = Home("5");
  EXPECT_FALSE(waits);
  EXPECT_EQ(whole["state"], "live");
  EXPECT_FALSE(whole.contains("incomplete")) << "it is not ahead of its time";
  EXPECT_EQ(whole["newest_cursor"], shown);

  waits = true;
  w_.posts.as_of = [stands = w_.now] { return stands; };
  const json late = Home("6");
  EXPECT_FALSE(waits);
  EXPECT_EQ(late["state"], "live");
  EXPECT_EQ(late["incomplete"], true);
}

TEST_F(PagesTest, WhereManyWaitForTheirRebuildsAPageIsServedByItsOwn) {
  FollowAuthorOfOnePost();
  std::deque<std::pair<UserId, std::function<void()>>> begun;
  Rebuilds rebuilds([&](UserId reader, const Rebuilds::Admit&,
                        const std::function<void()>& ended) { begun.emplace_back(reader, ended); },
                    {.at_once = 1}, w_.metrics, [] { return Time{}; });
  ServeWith(rebuilds);
  ASSERT_TRUE(rebuilds.Offer(UserId{91}, true));
  for (uint64_t i = 0; i < Rebuilds::kBacklog; ++i) {
    EXPECT_FALSE(rebuilds.HasBacklog(UserId{5})) << "a pull is sooner";
    ASSERT_TRUE(rebuilds.Offer(UserId{92 + i}, true));
  }
  BeginHome("5");
  timeline::Reader home(
      w_.posts, w_.posts, WindowLimits{6, 26}, [] { return "token"; }, false);
  while (!begun.empty()) {
    EXPECT_TRUE(answers_.empty());
    const auto [reader, ended] = begun.front();
    begun.pop_front();
    timeline::RebuildResult result{};
    static_cast<void>(home.Activate(reader, &result));
    ended();
  }
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0]["state"], "live") << "pulls beside the rebuilds make all wait longer";
}

// Others' rebuilds may hang.
TEST_F(PagesTest, WhoseShardIsAwayWaitsForNoRebuild) {
  FollowAuthorOfOnePost();
  ServeWith(endless_,
            {.pulls = 0, .away = [this](Shard shard) { return w_.posts.away.contains(shard); }});
  SetAway(true);
  BeginHome("5");
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0]["code"], "store_unavailable");
}

TEST_F(PagesTest, AWaitForARebuildThatComesToNothingEndsInAPull) {
  FollowAuthorOfOnePost();
  const PullsBusy busy(w_);
  w_.posts.redis.Begin(UserId{5}, "another");
  EXPECT_EQ(Home("5")["state"], "building");
}

TEST_F(PagesTest, APullServesAllWhoWaitForIt) {
  FollowAuthorOfOnePost();
  w_.posts.holds = true;
  for (int i = 0; i < 3; ++i) BeginHome("5");
  w_.posts.Release();
  ASSERT_EQ(answers_.size(), 3u);
  for (const json& answer : answers_) EXPECT_EQ(answer, answers_[0]);
  EXPECT_THAT(Ids(answers_[0]), ElementsAre("70"));
  EXPECT_EQ(w_.metrics.rebuilt, 1);
  EXPECT_EQ(w_.posts.reads, 5u) << "those of one page alone: its pull's and its rebuild's";
}

// Or what was published between the two would never be seen by who polls for it.
TEST_F(PagesTest, WhoJoinsAPullIsToldNoLaterPlaceThanWhoBeganIt) {
  FollowAuthorOfOnePost();
  ServeWith(endless_, {});
  w_.posts.holds = true;
  now_.unix_ms = 11'500;
  BeginHome("5");
  now_.unix_ms += 60'000;
  BeginHome("5");
  w_.posts.Release();
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(answers_[1]["newest_cursor"], answers_[0]["newest_cursor"]);
  EXPECT_NE(answers_[0]["newest_cursor"], "1000.70") << "something may still come before it";
}

// The first one's requests are not served any more.
TEST_F(PagesTest, WhoWaitsForThePullOfAClientThatHasLeftPullsAgain) {
  FollowAuthorOfOnePost();
  const auto alive = std::make_shared<std::atomic<bool>>(true);
  w_.posts.holds = true;
  BeginHome("5", alive);
  BeginHome("5");
  *alive = false;
  w_.posts.mysql_fails = Status::Later("mysql_0", "nobody waits for it any more");
  w_.posts.on_fail = [this] { w_.posts.mysql_fails = {}; };
  w_.posts.Release();
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_THAT(Ids(answers_[0]), ElementsAre("70"));
  EXPECT_FALSE(answers_[1].contains("items"));
}

// Only the requests of the first one to the author's shard were dropped.
TEST_F(PagesTest, WhoWaitsForThePullOfAClientThatHasLeftGetsAWholePage) {
  const UserId author = Beyond(UserId{5});
  Follow(5, Raw(author));
  w_.Publish(Raw(author), 70, 1'000);
  const auto is_back = [this](Shard) {
    w_.posts.away.clear();
    return false;
  };
  ServeWith(endless_, {.away = is_back}, &two_);
  const auto alive = std::make_shared<std::atomic<bool>>(true);
  w_.posts.holds = true;
  BeginHome("5", alive);
  BeginHome("5");
  *alive = false;
  w_.posts.away = {two_.ShardOf(author)};
  w_.posts.Release();
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_THAT(Ids(answers_[0]), ElementsAre("70"));
  EXPECT_FALSE(answers_[0].contains("incomplete"));
}

TEST_F(PagesTest, ReadersOfAShardThatHangsTakeNoPullFromOthers) {
  const UserId other = Beyond(UserId{5});
  Follow(5, 7);
  Follow(Raw(other), 7);
  ServeWith(endless_, {.pulls = 1}, &two_);
  w_.posts.holds = true;
  BeginHome("5");
  BeginHome(ToString(other));
  w_.posts.Release();
  EXPECT_EQ(answers_.size(), 2u) << "the other one waits for a rebuild that does not come";
}

// The table of posts is locked on the shard that is not the readers'.
class LockedTableTest : public PagesTest {
 protected:
  LockedTableTest() {
    const UserId far = Beyond(UserId{5}), near = Beyond(far);
    UserId last = near;
    for (UserId& reader : readers_) {
      last = reader = Beyond(Beyond(last));
      Follow(Raw(reader), Raw(far));
      Follow(Raw(reader), Raw(near));
    }
    w_.Publish(Raw(far), 70, 1'000);
    w_.Publish(Raw(near), 80, 2'000);
    ServeWith(endless_, {.pulls = 1}, &two_);
    w_.posts.locked = two_.ShardOf(far);
  }
  void Begin(size_t reader) { BeginHome(ToString(readers_[reader])); }
  size_t AnsweredAfter(Duration time) {
    w_.exchanges->Step(w_.mono.load() + time);
    return answers_.size();
  }

  std::array<UserId, 4> readers_ = {};
};

// What its other tables answer says nothing of that one.
TEST_F(LockedTableTest, IsWaitedForByOnePageAtATime) {
  Begin(0);
  EXPECT_EQ(AnsweredAfter(Pages::kMergePatience), 0u);
  EXPECT_EQ(AnsweredAfter(Pages::kPullPatience), 1u);
  Begin(0);
  Begin(1);  // no rebuild would end while the table is locked
  EXPECT_EQ(AnsweredAfter(Pages::kMergePatience), 3u);
  now_.mono += Pages::kPullPatience;
  Begin(0);
  Begin(1);
  EXPECT_EQ(AnsweredAfter(Pages::kMergePatience), 4u);
  EXPECT_EQ(AnsweredAfter(Pages::kPullPatience), 5u);
  for (const json& page : answers_) {
    EXPECT_EQ(page["incomplete"], true);
    EXPECT_THAT(Ids(page), ElementsAre("80"));
  }
  w_.posts.locked.reset();
  Begin(0);
  ASSERT_EQ(answers_.size(), 6u);
  EXPECT_THAT(Ids(answers_[5]), ElementsAre("80", "70"));
}

TEST_F(LockedTableTest, IsNoSlowShardsForAReadThatWasWaitedForAMomentOnly) {
  const auto locked = w_.posts.locked;
  Begin(0);
  ASSERT_EQ(AnsweredAfter(Pages::kPullPatience), 1u);
  Begin(1);
  w_.posts.locked.reset();
  Begin(2);
  ASSERT_EQ(answers_.size(), 2u) << "it answers again";
  ASSERT_EQ(AnsweredAfter(Pages::kMergePatience), 3u);
  w_.posts.locked = locked;
  Begin(3);
  EXPECT_EQ(AnsweredAfter(Pages::kMergePatience), 3u) << "it is waited for like any other";
}

TEST_F(PagesTest, WhoCouldNotAskRedisForLackOfRoomIsRebuiltAllTheSame) {
  Follow(5, 7);
  w_.posts.pages_fail = Status::Later("redis", "queue full");
  w_.posts.pages_fail.cause = Cause::kOverloaded;
  ASSERT_EQ(Home("5")["state"], "building");
  w_.WaitUntilRebuilt(1);
}

TEST_F(PagesTest, OlderPagesRebuildNothing) {
  FollowAuthorOfOnePost();
  EXPECT_EQ(Home("5", "?cursor=2000.1")["state"], "pulled");
}

TEST_F(PagesTest, ATimelineThatSomebodyElseBuildsIsLeftToThem) {
  FollowAuthorOfOnePost();
  w_.posts.redis.Begin(UserId{5}, "another");
  const json page = Home("5");
  EXPECT_EQ(page["state"], "building");
  EXPECT_THAT(Ids(page), ElementsAre("70"));
  EXPECT_EQ(w_.tokens, 0);
}

TEST_F(PagesTest, AMergedAuthorsShardThatIsAwayCostsHisPostsAndNotThePage) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  Follow(5, 7);
  Follow(5, 8);
  w_.Publish(7, 70, 1'000);
  w_.Publish(8, 80, 2'000);
  MakeLive("5");
  w_.posts.mysql_fails = Status::Later("mysql_0", "away");
  SetAway(true);
  const json page = Home("5");  // nobody has asked for his posts before
  EXPECT_EQ(page["state"], "live");
  EXPECT_EQ(page["incomplete"], true);
  EXPECT_THAT(Ids(page), ElementsAre("80"));
  EXPECT_EQ(w_.Json("GET /v1/users/5/timeline:count"),
            json::parse(R"({"count":1,"more":false,"incomplete":true})"));
  EXPECT_EQ(w_.metrics.incomplete, 2);
  w_.posts.mysql_fails = Status::Done();
  SetAway(false);
  w_.mono = w_.mono.load() + MergedPosts::kFor;
  const json whole = Home("5");
  EXPECT_FALSE(whole.contains("incomplete"));
  EXPECT_EQ(w_.metrics.incomplete, 2);
  EXPECT_THAT(Ids(whole), ElementsAre("80", "70"));
}

TEST_F(PagesTest, AMergedAuthorsShardThatHangsCostsHisPostsAMomentLater) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  Follow(5, 7);
  Follow(5, 8);
  w_.Publish(7, 70, 1'000);
  w_.Publish(8, 80, 2'000);
  MakeLive("5");
  w_.posts.holds = true;
  BeginHome("5");
  const auto later = [this](Duration by) { w_.exchanges->Step(w_.mono.load() + by); };
  later(Pages::kMergePatience - std::chrono::milliseconds(1));
  EXPECT_TRUE(answers_.empty());
  later(Pages::kMergePatience);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0]["state"], "live");
  EXPECT_EQ(answers_[0]["incomplete"], true);
  EXPECT_THAT(Ids(answers_[0]), ElementsAre("80"));
  BeginHome("5");
  EXPECT_EQ(answers_.size(), 2u) << "for a moment nobody waits again";
}

// Or no page would ever show posts of a shard that is always slower than a page's patience.
TEST_F(PagesTest, WhatAMergedAuthorsShardAnswersTooLateServesLaterPages) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  FollowAuthorOfOnePost();
  MakeLive("5");
  w_.posts.holds = true;
  BeginHome("5");
  w_.exchanges->Step(w_.mono.load() + Pages::kMergePatience);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0]["incomplete"], true);
  EXPECT_THAT(w_.metrics.failed, ElementsAre("getTimeline mysql_0 no reply in time"));
  w_.posts.Release();
  const json page = Home("5");
  EXPECT_FALSE(page.contains("incomplete"));
  EXPECT_THAT(Ids(page), ElementsAre("70"));
}

TEST_F(PagesTest, PagesThatNeedTheSameMergedPostsShareOneRead) {
  w_.posts.mysql.SetMode(UserId{7}, true);
  w_.Publish(7, 70, 1'000);
  for (const char* user : {"4", "5", "6"}) {
    Follow(std::stoull(user), 7);
    MakeLive(user);
  }
  w_.posts.calls = 0;
  w_.posts.holds = true;
  for (const char* user : {"4", "5", "6"}) BeginHome(user);
  w_.posts.Release();
  ASSERT_EQ(answers_.size(), 3u);
  for (const json& answer : answers_) EXPECT_THAT(Ids(answer), ElementsAre("70"));
  EXPECT_EQ(w_.posts.calls, 1u);
}

}  // namespace
}  // namespace fanline::api
