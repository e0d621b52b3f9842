// Pages of a reader who mutes authors: what they show, and what that costs.
#include <gmock/gmock.h>

#include "tests/unit/seeded.h"
#include "tests/unit/timeline/world.h"

namespace fanline::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr UserId kAnn{100}, kBen{101};

std::vector<uint64_t> PostsOfPage(const Page& page) {
  std::vector<uint64_t> posts;
  for (const Item& item : page.items) posts.push_back(Raw(item.post));
  return posts;
}

struct MutingWorld : World {
  explicit MutingWorld(bool own = false) : World(own) { redis.rules.fence = false; }

  void Change(ChangeMutes::What what, UserId author) {
    mysql.relations.Do(ChangeMutes{.user = kBob, .what = what, .authors = {author}});
    if (tells) Tell();
  }
  void Mute(UserId author) { Change(ChangeMutes::What::kMute, author); }
  void Unmute(UserId author) { Change(ChangeMutes::What::kUnmute, author); }
  // What the sync of the change does.
  void Tell() { redis.Do(SetMutes{.reader = kBob, .mutes = mysql.relations.mutes(kBob).mark()}); }
  const Mutes& mutes() const { return mysql.relations.mutes(kBob); }
  std::vector<Item> EverythingUnmuted() {
    std::vector<Item> items = Everything();
    std::erase_if(items, [this](const Item& item) { return mutes().Has(item.author); });
    return items;
  }
  // As many authors as given, in turn, of a post each per millisecond.
  void Posts(uint64_t authors, uint64_t posts) {
    for (uint64_t author = 0; author < authors; ++author) Follow(UserId{100 + author});
    for (uint64_t post = 1; post <= posts; ++post) {
      Publish(UserId{100 + post % authors}, post, 1'000 + static_cast<UnixMs>(post));
    }
  }

  bool tells = true;
};

TEST(MutedPages, LackTheAuthorWhileHeIsMuted) {
  MutingWorld w;
  w.Posts(2, 4);
  for (const bool live : {false, true}) {
    if (live) w.Activate();
    EXPECT_THAT(PostsOfPage(w.Home({.limit = 9})), ElementsAre(4, 3, 2, 1));
    w.Mute(kAnn);
    EXPECT_THAT(PostsOfPage(w.Home({.limit = 9})), ElementsAre(3, 1));
    w.Mute(kBen);
    EXPECT_THAT(PostsOfPage(w.Home({.limit = 9})), IsEmpty());
    w.Unmute(kAnn);
    w.Unmute(kBen);
  }
  EXPECT_EQ(w.Home({.limit = 9}).cached, 4u);
}

TEST(MutedPages, CostNothingIfNobodyIsMuted) {
  MutingWorld w;
  w.Posts(2, 4);
  w.Home({.limit = 9});
  w.Activate();
  const size_t calls = w.calls;
  w.Home({.limit = 9});
  EXPECT_EQ(w.calls, calls);
  w.Mute(kAnn);
  w.Unmute(kAnn);
  w.Home({.limit = 9});
  EXPECT_EQ(w.calls, calls) << "the list is empty again";
  EXPECT_EQ(w.mutes_read, 0u);
}

TEST(MutedPages, AreFullAsLongAsThereAreItems) {
  MutingWorld w;
  w.Posts(5, 30);
  w.Activate();
  w.Mute(kAnn);
  w.Mute(UserId{102});
  w.Mute(UserId{103});
  const Page page = w.Home({.limit = 4});
  EXPECT_THAT(PostsOfPage(page), ElementsAre(29, 26, 24, 21));
  EXPECT_EQ(page.next->post, PostId{21});
  EXPECT_EQ(page.cached, 2u) << "the live timeline holds six items";
}

TEST(MutedPages, WhatIsMergedAtReadIsLeftOutToo) {
  MutingWorld w;
  w.Follow(kAnn);
  w.Follow(kBen);
  w.PublishMerged(kAnn, 1, 1'001);
  w.PublishMerged(kBen, 2, 1'002);
  w.Activate();
  EXPECT_THAT(PostsOfPage(w.Home({.limit = 9})), ElementsAre(2, 1));
  w.Mute(kBen);
  EXPECT_THAT(PostsOfPage(w.Home({.limit = 9})), ElementsAre(1));
  w.Mute(kAnn);
  EXPECT_THAT(PostsOfPage(w.Home({.limit = 9})), IsEmpty());
}

// Whatever is muted, followed or merged at read, live or not: the walk shows the rest, in full
// pages.
TEST(MutedPages, AWalkShowsAllOthersInFullPages) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 300; ++round) {
    MutingWorld w(random.OneIn(4));
    const uint64_t authors = 1 + random.Below(6);
    for (uint64_t author = 0; author < authors; ++author) {
      if (!random.OneIn(5)) w.Follow(UserId{100 + author});
    }
    for (uint64_t post = 1; post <= 40; ++post) {
      const UserId author = random.OneIn(8) ? kBob : UserId{100 + random.Below(authors)};
      const auto at = 1'000 + static_cast<UnixMs>(random.Below(60));
      random.OneIn(6) ? w.PublishMerged(author, post, at) : w.Publish(author, post, at);
    }
    const bool early = random.OneIn(2), live = !random.OneIn(4);
    if (early && live) w.Activate();
    for (uint64_t author = 0; author < authors; ++author) {
      if (random.OneIn(3)) w.Mute(UserId{100 + author});
    }
    if (!early && live) w.Activate();
    const auto expected = w.EverythingUnmuted();
    ASSERT_EQ(w.Walk({.limit = 1 + static_cast<uint32_t>(random.Below(9))}), expected);
    PageQuery query{.limit = 1 + static_cast<uint32_t>(random.Below(5))};
    const Page page = w.Home(query);
    ASSERT_EQ(page.items.size(), std::min<size_t>(query.limit, expected.size()));
    if (expected.empty()) continue;
    query.newer_than = PlaceOf(expected[random.Below(expected.size())]);
    const auto newer = w.Walk(query);
    ASSERT_EQ(newer.size(), static_cast<size_t>(std::count_if(
                                expected.begin(), expected.end(), [&](const Item& item) {
                                  return IsNewer(item, ItemAt(*query.newer_than));
                                })));
  }
}

TEST(MutedPages, ATimelineThatIsGoneWhenItIsRefilledIsPulled) {
  MutingWorld w;
  w.Posts(2, 12);
  w.Activate();
  w.Mute(kAnn);
  PageRun run(kBob, {.limit = 3}, std::nullopt, w.map(), TruthReads::Answers::kWhole);
  run.OnLive(w.Ask(w.PortTo(w), run.Begin()));
  const auto first = run.Filter();
  ASSERT_EQ(first.size(), 1u);
  run.OnMutes({.status = {}, .mutes = w.mutes()});
  const auto refill = run.Filter();
  ASSERT_TRUE(std::holds_alternative<ReadLivePage>(refill.at(0)));
  w.redis.FlushAll();
  run.OnLive(w.Ask(w.PortTo(w), std::get<ReadLivePage>(refill[0])));
  const TimelinePort timelines = w.PortTo(w);
  w.Finish(run, run.GoOn(), &timelines);
  const Page page = run.Take();
  EXPECT_THAT(PostsOfPage(page), ElementsAre(11, 9, 7));
  EXPECT_FALSE(page.live());
}

// By the list that is read then, and not by the one that the live page was to be served by.
TEST(MutedPages, ATimelineThatIsGoneWhenItIsRefilledIsPulledByTheMutesOfThen) {
  MutingWorld w;
  w.Posts(2, 12);
  w.Activate();
  w.Mute(kBen);
  MutesCache cache;
  cache.Put(kBob, 1'000, std::make_shared<const Mutes>(Mutes{1'000, {kAnn}}));
  PageRun run(kBob, {.limit = 3}, std::nullopt, w.map(), TruthReads::Answers::kPartly, {}, &cache);
  run.OnLive(w.Ask(w.PortTo(w), run.Begin()));
  ASSERT_TRUE(std::holds_alternative<ReadMutes>(run.Filter().at(0)));
  run.OnMutes({.status = Status::Later("mysql_0", "away")});
  const auto refill = run.Filter();
  ASSERT_TRUE(std::holds_alternative<ReadLivePage>(refill.at(0)));
  w.redis.FlushAll();
  run.OnLive(w.Ask(w.PortTo(w), std::get<ReadLivePage>(refill[0])));
  const TimelinePort timelines = w.PortTo(w);
  w.Finish(run, run.GoOn(), &timelines);
  const Page page = run.Take();
  EXPECT_THAT(PostsOfPage(page), ElementsAre(12, 10, 8));
  EXPECT_FALSE(page.mutes_unknown);
}

TEST(MutedPages, WhatTheFloorHasPassedMeanwhileIsPulled) {
  MutingWorld w;
  w.Posts(2, 12);
  w.Activate();
  w.Mute(kAnn);
  PageRun run(kBob, {.limit = 3}, std::nullopt, w.map(), TruthReads::Answers::kWhole);
  LivePageRead live = w.Ask(w.PortTo(w), run.Begin());
  run.OnLive(live);
  run.Filter();
  run.OnMutes({.status = {}, .mutes = w.mutes()});
  live.page.items.clear();
  live.page.floor = 1'010;
  live.page.reached_floor = true;
  run.OnLive(live);
  const TimelinePort timelines = w.PortTo(w);
  w.Finish(run, run.GoOn(), &timelines);
  const Page page = run.Take();
  EXPECT_THAT(PostsOfPage(page), ElementsAre(11, 9, 7));
  EXPECT_EQ(page.cached, 1u);
}

// ---- a shard that does not say whom the reader mutes --------------------------------------------

struct AskingWorld : MutingWorld {
  AskingWorld() {
    Posts(2, 4);
    Activate();
    Mute(kAnn);
  }
  Page Read(TruthReads::Answers answers = TruthReads::Answers::kPartly) {
    PageRun run(kBob, {.limit = 9}, std::nullopt, map(), answers, {}, &cache);
    run.OnLive(Ask(PortTo(*this), run.Begin()));
    const TimelinePort timelines = PortTo(*this);
    Finish(run, run.GoOn(), &timelines);
    failed = !run.status().done();
    return failed ? Page() : run.Take();
  }
  MutesCache cache;
  bool failed = false;
};

TEST(MutedPages, AreRememberedUntilTheTimelineNamesALaterVersion) {
  AskingWorld w;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(PostsOfPage(w.Read()), ElementsAre(3, 1));
  EXPECT_EQ(w.mutes_read, 1u);
  w.Mute(kBen);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(PostsOfPage(w.Read()), IsEmpty());
  EXPECT_EQ(w.mutes_read, 2u);
}

TEST(MutedPages, LearnWhenPulledWhoIsMutedWithWhomTheReaderFollows) {
  AskingWorld w;
  w.redis.FlushAll();
  EXPECT_THAT(PostsOfPage(w.Read()), ElementsAre(3, 1));
  EXPECT_EQ(w.mutes_read, 0u);
}

// A live timeline that was not told yet: what is pulled below it is as of now.
TEST(MutedPages, LeaveOutBelowTheFloorWhoWasMutedSince) {
  MutingWorld w;
  w.Posts(2, 30);
  w.Activate();
  w.tells = false;
  w.Mute(kAnn);
  const Page page = w.Home({.limit = 40});
  EXPECT_TRUE(page.live());
  EXPECT_GT(page.items.size(), page.cached);
  for (size_t i = 0; i < page.items.size(); ++i) {
    EXPECT_TRUE(i < page.cached || page.items[i].author == kBen) << i;
  }
}

TEST(MutedPages, ShowAllAndSaySoIfTheShardIsAway) {
  AskingWorld w;
  w.mutes_fail = Status::Later("mysql_0", "away");
  const Page page = w.Read();
  EXPECT_THAT(PostsOfPage(page), ElementsAre(4, 3, 2, 1));
  EXPECT_TRUE(page.mutes_unknown);
  EXPECT_FALSE(page.incomplete);
  w.mutes_fail = {};
  EXPECT_FALSE(w.Read().mutes_unknown);
}

TEST(MutedPages, ShowAllAndSaySoIfTheRowIsDamaged) {
  AskingWorld w;
  const Mutes sound = w.mutes();
  w.mysql.relations.PutMutes(kBob, {sound.version, {}, true});
  for (const bool live : {true, false}) {
    if (!live) w.redis.FlushAll();
    for (const auto answers : {TruthReads::Answers::kPartly, TruthReads::Answers::kWhole}) {
      const Page page = w.Read(answers);
      EXPECT_FALSE(w.failed);
      EXPECT_EQ(page.live(), live);
      EXPECT_THAT(PostsOfPage(page), ElementsAre(4, 3, 2, 1));
      EXPECT_TRUE(page.mutes_unknown);
    }
  }
  w.Activate();
  EXPECT_EQ(w.redis.timelines().at(kBob).mutes, sound.version) << "so that pages ask";
  w.mysql.relations.PutMutes(kBob, sound);
  const Page page = w.Read();
  EXPECT_THAT(PostsOfPage(page), ElementsAre(3, 1));
  EXPECT_FALSE(page.mutes_unknown) << "what was damaged is not remembered";
}

TEST(MutedPages, LackThoseWhoWereMutedLatelyIfTheShardIsAway) {
  AskingWorld w;
  w.Read();
  w.mutes_fail = Status::Later("mysql_0", "away");
  w.Mute(kBen);
  const Page page = w.Read();
  EXPECT_THAT(PostsOfPage(page), ElementsAre(3, 1));
  EXPECT_TRUE(page.mutes_unknown);
}

TEST(MutedPages, FailIfTheWholeIsWantedAndTheShardIsAway) {
  AskingWorld w;
  w.mutes_fail = Status::Later("mysql_0", "away");
  w.Read(TruthReads::Answers::kWhole);
  EXPECT_TRUE(w.failed);
}

// A failover may lose the last change. Then the timeline names a version that nobody has.
TEST(MutedPages, AskOnceForAVersionThatIsLost) {
  AskingWorld w;
  w.redis.Do(SetMutes{.reader = kBob, .mutes = w.mutes().version + 1'000});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(PostsOfPage(w.Read()), ElementsAre(3, 1));
  EXPECT_EQ(w.mutes_read, 1u);
}

// A failover loses the last change; a rebuild, or a pulled page, then names the version before it.
TEST(MutedPages, AreNotThoseOfALaterVersionThatIsLost) {
  AskingWorld w;
  const Mutes before = w.mutes();
  w.cache.Put(kBob, before.version + 10,
              std::make_shared<const Mutes>(Mutes{before.version + 10, {kAnn, kBen}}));
  EXPECT_THAT(PostsOfPage(w.Read()), ElementsAre(3, 1));
  w.redis.FlushAll();
  EXPECT_THAT(PostsOfPage(w.Read()), ElementsAre(3, 1));
}

// ---- what a rebuild writes ----------------------------------------------------------------------

TEST(MutedPages, ARebuildNamesTheVersion) {
  MutingWorld w;
  w.tells = false;
  w.Posts(2, 4);
  w.Mute(kAnn);
  w.Activate();
  EXPECT_EQ(w.redis.timelines().at(kBob).mutes, w.mutes().version);
  w.redis.FlushAll();
  w.Unmute(kAnn);
  w.Activate();
  EXPECT_EQ(w.redis.timelines().at(kBob).mutes, 0u);
}

TEST(MutedPages, TheVersionTakesTheRoomOfNoItem) {
  MutingWorld w;
  w.Posts(2, 30);
  w.Activate();
  const auto before = w.redis.timelines().at(kBob).items;
  w.Mute(kAnn);
  EXPECT_EQ(w.redis.timelines().at(kBob).items, before);
}

// ---- what is remembered -------------------------------------------------------------------------

std::shared_ptr<const Mutes> Of(uint64_t version, size_t authors = 1) {
  Mutes mutes{version, {}};
  mutes.authors.reserve(authors);
  for (uint64_t id = 1; id <= authors; ++id) mutes.authors.push_back(UserId{id});
  return std::make_shared<const Mutes>(std::move(mutes));
}

TEST(MutesCache, ServesTheVersionThatWasAskedForOrThatTheRowHad) {
  MutesCache cache;
  EXPECT_EQ(cache.Find(kBob, 1), nullptr);
  cache.Put(kBob, 5, Of(5));
  EXPECT_NE(cache.Find(kBob, 5), nullptr);
  EXPECT_EQ(cache.Find(kBob, 4), nullptr) << "a failover may have lost the later one";
  EXPECT_EQ(cache.Find(kBob, 6), nullptr);
  cache.Put(kBob, 6, Of(7));
  EXPECT_EQ(cache.Find(kBob, 6)->version, 7u) << "changed meanwhile";
  EXPECT_EQ(cache.Find(kBob, 7)->version, 7u);
  cache.Put(kBob, 9, Of(7));
  EXPECT_EQ(cache.Find(kBob, 9)->version, 7u) << "that version is lost";
  EXPECT_EQ(cache.Find(kBob, 0)->version, 7u) << "any";
}

TEST(MutesCache, ForgetsTheLeastRecentlyUsedWhenItIsFull) {
  const size_t one = MutesCache::kBytesBeside + 10 * sizeof(UserId);
  MutesCache cache(3 * one);
  for (uint64_t reader = 1; reader <= 3; ++reader) cache.Put(UserId{reader}, 1, Of(1, 10));
  EXPECT_EQ(cache.bytes(), 3 * one);
  cache.Find(UserId{1}, 1);
  cache.Put(UserId{4}, 1, Of(1, 10));
  EXPECT_EQ(cache.bytes(), 3 * one);
  EXPECT_EQ(cache.Find(UserId{2}, 1), nullptr);
  EXPECT_NE(cache.Find(UserId{1}, 1), nullptr);
  cache.Put(UserId{1}, 2, Of(2, 1'000));
  EXPECT_LE(cache.bytes(), 3 * one);
  EXPECT_EQ(cache.Find(UserId{1}, 1), nullptr) << "larger than all there may be";
}

}  // namespace
}  // namespace fanline::timeline
