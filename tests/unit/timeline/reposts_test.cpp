// Pages with reposts, against the plain model of reposts_world.h.
#include <gmock/gmock.h>

#include "tests/unit/timeline/reposts_world.h"

namespace fanline::timeline {
namespace {

using fanline::testing::Seeded;

constexpr UserId kCid{100}, kDan{101}, kEve{500};  // nobody follows Eve

TEST(Reposts, AreOneItemWithTheirOriginal) {
  RepostWorld w;
  w.Follow(kCid);
  w.Follow(kDan);
  w.Publish(kCid, 1, 1'000);
  w.Publish(kCid, 2, 2'000);
  w.Repost(kDan, 3, 3'000, {PostId{1}, kCid});
  w.Publish(kEve, 4, 500);
  w.Repost(kCid, 5, 4'000, {PostId{4}, kEve});
  for (const bool live : {false, true}) {
    if (live) w.Activate();
    const Page page = w.Home({.limit = 9});
    EXPECT_EQ(page.live(), live);
    ASSERT_EQ(page.items.size(), 3u);
    EXPECT_EQ(page.items[0], (Item{PostId{4}, 500, kEve}));
    EXPECT_FALSE(page.sources[0].posted);
    EXPECT_EQ(page.items[1], (Item{PostId{1}, 1'000, kCid}));
    EXPECT_EQ(page.sources[1].reposts, (std::vector<Repost>{{kDan, 3'000, PostId{3}}}));
    EXPECT_TRUE(page.sources[1].posted);
    EXPECT_FALSE(page.sources[1].more);
    EXPECT_EQ(page.items[2].post, PostId{2});
    EXPECT_EQ(w.Home({.limit = 9, .reposts = Reposts::kNone}).items.size(), 2u);
    EXPECT_EQ(w.Home({.limit = 9, .reposts = Reposts::kEach}).items.size(), 4u);
  }
}

TEST(Reposts, AreShownWhileTheirOriginalIs) {
  RepostWorld w;
  w.Follow(kCid);
  w.Publish(kCid, 1, 1'000);
  w.Repost(kCid, 5, 4'000, {PostId{4}, kEve});
  for (const bool live : {false, true}) {
    if (live) w.Activate();
    for (const auto how : {Reposts::kMerge, Reposts::kEach}) {
      const PageQuery query{.limit = 1, .reposts = how};
      if (!live && how == Reposts::kMerge) {
        EXPECT_EQ(w.Home(query).items[0].post, PostId{1}) << "there is no row yet";
        w.Publish(kEve, 4, 500);
      }
      EXPECT_EQ(w.ToldBy(w.Home(query))[0].place.post, PostId{5});
      w.Hide(kEve, 4);
      EXPECT_EQ(w.Home(query).items[0].post, PostId{1});
      w.Hide(kEve, 4, false);
      EXPECT_EQ(w.ToldBy(w.Home(query))[0].place.post, PostId{5});
    }
  }
}

// The row names what it was given; the row of what it names came later.
TEST(Reposts, OfARepostShowWhatThatOneShows) {
  RepostWorld w;
  w.Follow(kCid);
  w.Publish(kEve, 4, 500);
  w.Repost(kDan, 5, 4'000, {PostId{4}, kEve});
  w.Repost(kCid, 6, 5'000, {PostId{5}, kDan});
  w.Repost(kCid, 7, 6'000, {PostId{6}, kCid});
  w.Repost(kCid, 8, 7'000, {PostId{7}, kCid});
  Page page = w.Home({.limit = 9});
  ASSERT_EQ(page.items.size(), 1u) << "what names a repost of a repost is left out";
  EXPECT_EQ(page.items[0], (Item{PostId{4}, 500, kEve}));
  page = w.Home({.limit = 9, .reposts = Reposts::kEach});
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0], (Item{PostId{6}, 5'000, kCid, {PostId{4}, kEve}}));
}

TEST(Reposts, AreNamedOncePerReposterAndTwentyAtMost) {
  RepostWorld w;
  w.Publish(kEve, 4, 500);
  for (uint64_t by = 0; by < 30; ++by) {
    w.Follow(UserId{100 + by});
    for (const uint64_t post : {1'000 + by, 2'000 + by}) {
      w.Repost(UserId{100 + by}, post, static_cast<UnixMs>(post), {PostId{4}, kEve});
    }
  }
  const Page page = w.Home({.limit = 60});
  ASSERT_EQ(page.items.size(), 1u);
  ASSERT_EQ(page.sources[0].reposts.size(), Fold::kNamed);
  EXPECT_EQ(page.sources[0].reposts[0], (Repost{UserId{129}, 2'029, PostId{2'029}}));
  EXPECT_EQ(page.sources[0].reposts[19].by, UserId{110});
  EXPECT_TRUE(page.sources[0].more);
}

TEST(Reposts, ANewOneMovesAnItemThatIsThenMetByNewerThan) {
  RepostWorld w;
  w.Follow(kCid);
  w.Follow(kDan);
  for (uint64_t post = 1; post <= 4; ++post) w.Publish(kCid, post, 1'000 * UnixMs(post));
  const Page first = w.Home({.limit = 2});
  w.Repost(kDan, 9, 9'000, {PostId{1}, kCid});
  const Page second = w.Home({.limit = 9, .older_than = first.next});
  EXPECT_EQ(second.items.size(), 1u) << "post 1 has moved";
  const Page news = w.Home({.limit = 9, .newer_than = PlaceOf(first, 0)});
  ASSERT_EQ(news.items.size(), 1u);
  EXPECT_EQ(news.items[0].post, PostId{1});
}

TEST(Reposts, OfAnAuthorOfWhomNoneAreWantedAreLeftOut) {
  RepostWorld w;
  w.Follow(kCid);
  w.Publish(kCid, 1, 1'000);
  w.Publish(kEve, 4, 500);
  for (uint64_t post = 10; post < 40; ++post) {
    w.Repost(kCid, post, 2'000 + UnixMs(post), {PostId{4}, kEve});
  }
  w.mysql.relations.Choose(kBob, kCid, Delivery::kNoReposts);
  EXPECT_EQ(w.Home({.limit = 1}).items[0].post, PostId{1});
}

// The shard passes over them, however many there are.
TEST(Reposts, ThatAreNotWantedAreNotRead) {
  RepostWorld w;
  w.Follow(kCid);
  w.Publish(kCid, 1, 1'000);
  for (uint64_t post = 10; post < 4'000; ++post) {
    w.Repost(kCid, post, 2'000 + UnixMs(post), {PostId{4}, kEve});
  }
  w.mysql.relations.Choose(kBob, kCid, Delivery::kNoReposts);
  EXPECT_EQ(w.Home({.limit = 5}).items.size(), 1u);
  EXPECT_LE(w.reads, 3u);
  EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt);
  EXPECT_LE(w.reads, 6u);
  EXPECT_LE(w.most_read, 1u);
}

// A page of very many reposts ends early, and the walk goes on.
TEST(Reposts, OfWhatIsGoneCostABoundedNumberOfReads) {
  RepostWorld w;
  w.Follow(kCid);
  w.Publish(kCid, 1, 1'000);
  for (uint64_t post = 10; post < 4'000; ++post) {
    w.Repost(kCid, post, 2'000 + UnixMs(post), {PostId{4}, kEve});
  }
  const Page page = w.Home({.limit = 5});
  EXPECT_TRUE(page.items.empty());
  ASSERT_TRUE(page.next);
  EXPECT_LE(w.reads, 20u);
  EXPECT_EQ(w.WalkTold({.limit = 5}), w.Merged());
}

// A live timeline of so many reposts of two posts, and four posts below its floor.
struct ViralWeek : RepostWorld {
  explicit ViralWeek(uint64_t reposts)
      : RepostWorld(false, OneShard(), {static_cast<uint32_t>(reposts), 2'000}) {
    Follow(kCid);
    for (uint64_t post = 1; post <= 4; ++post) Publish(kCid, post, 1'000 + UnixMs(post));
    for (uint64_t post = 10; post < 10 + reposts; ++post) {
      Repost(kCid, post, 2'000 + UnixMs(post), {PostId{1 + post % 2}, kCid});
    }
    Activate();
    reads = 0;
  }
};

TEST(Reposts, InTheirHundredsEndAPageEarly) {
  ViralWeek w(200);
  const Page page = w.Home({.limit = 20});
  EXPECT_TRUE(page.live());
  EXPECT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.cached, 2u);
  EXPECT_TRUE(page.next);
  EXPECT_EQ(w.live_items, 21u);
  EXPECT_EQ(w.Home({.limit = 200}).items.size(), 2u) << "all of it was read";
  EXPECT_EQ(w.reads, 0u) << "nobody was asked for what is below";
  EXPECT_EQ(w.Home({.limit = 20, .older_than = page.next}).items.size(), 2u)
      << "the second one shows what is below, and is not empty";
  for (const uint32_t limit : {1, 3, 20, 200}) {
    EXPECT_EQ(w.WalkTold({.limit = limit}), w.Merged()) << limit;
    EXPECT_EQ(w.WalkTold({.limit = limit, .newer_than = Position{1'002, PostId{2}}}),
              Between(w.Merged(), std::nullopt, Position{1'002, PostId{2}}))
        << limit;
  }
  EXPECT_EQ(w.Home({.limit = 3, .reposts = Reposts::kNone}).items.size(), 3u) << "none was shown";
}

TEST(Reposts, ThatAreFewAreFilledUpFromBelowTheFloor) {
  ViralWeek w(10);
  EXPECT_EQ(w.Home({.limit = 20}).items.size(), 4u);
  EXPECT_GT(w.reads, 0u);
}

TEST(Reposts, InTheirHundredsWaitForWhatIsMergedAtRead) {
  ViralWeek w(200);
  w.Follow(kDan);
  w.PublishMerged(kDan, 5'000, 2'205);
  w.PublishMerged(kDan, 5'001, 2'015);
  w.redis.rules.fence = false;
  w.redis.Do(DropTimeline{.reader = kBob});
  w.Activate();
  w.reads = 0;
  EXPECT_EQ(w.Home({.limit = 20}).items.size(), 3u);
  EXPECT_EQ(w.reads, 1u) << "post 5001 is on a later page, and is read there";
  EXPECT_EQ(w.WalkTold({.limit = 20}), w.Merged());
}

// A user on Bob's shard, or on another one.
UserId UserOn(const ShardMap& map, bool bobs) {
  UserId user{200};
  while ((map.ShardOf(user) == map.ShardOf(kBob)) != bobs) user = UserId{Raw(user) + 1};
  return user;
}

struct TwoShards : RepostWorld {
  TwoShards() : RepostWorld(false, Map()) {}
  static const ShardMap& Map() {
    static const ShardMap map = ShardMap::Even(2);
    return map;
  }
  Page Partly(const PageQuery& query) {
    PageRun run(kBob, query, std::nullopt, Map(), TruthReads::Answers::kPartly);
    run.OnLive(Ask(PortTo(*this), run.Begin()));
    const TimelinePort timelines = PortTo(*this);
    Finish(run, run.GoOn(), &timelines);
    EXPECT_TRUE(run.status().done());
    return run.Take();
  }
  const UserId near = UserOn(Map(), true), far = UserOn(Map(), false);
};

TEST(Reposts, WhoseOriginalsShardIsAwayAreLeftOutAndThePageSaysSo) {
  TwoShards w;
  w.Publish(w.far, 4, 500);
  w.Publish(w.near, 5, 600);
  w.Follow(w.far);
  w.Repost(w.far, 6, 1'000, {PostId{4}, w.far});
  w.Repost(w.far, 7, 1'001, {PostId{5}, w.near});
  w.Activate();
  EXPECT_EQ(w.Partly({.limit = 9}).items.size(), 2u);
  w.away = {TwoShards::Map().ShardOf(w.far)};
  const Page page = w.Partly({.limit = 9});
  ASSERT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.items[0].post, PostId{5});
  EXPECT_EQ(PlaceOf(page, 1).created_at, 500) << "the post itself is in the timeline";
  EXPECT_TRUE(page.incomplete);
  Page whole;
  EXPECT_TRUE(w.home.Home(kBob, {.limit = 9}, &whole).later()) << "who waits is told";
}

TEST(Reposts, WhoseSourcesInFrontNobodyKnowsAreShownAndThePageSaysSo) {
  TwoShards w;
  w.Follow(w.far);
  w.Follow(w.near);
  w.Publish(w.near, 4, 500);
  w.Repost(w.far, 6, 1'000, {PostId{4}, w.near});
  const PageQuery query{.limit = 9, .older_than = Position{900, PostId{1}}};
  EXPECT_TRUE(w.Partly(query).items.empty()) << "the repost moved it";
  EXPECT_EQ(w.searches, 2u);
  w.on_read = [&] { w.away = {TwoShards::Map().ShardOf(w.far)}; };
  const Page page = w.Partly(query);
  EXPECT_EQ(page.items.size(), 1u);
  EXPECT_TRUE(page.incomplete);
}

// Whatever is followed, reposted, hidden, muted, merged at read, live or not: the walk shows what
// the model says. Pages are full, but for such as show little of what they read of a live timeline.
TEST(Reposts, AWalkShowsWhatTheModelSays) {
  Seeded random;
  size_t behind_floor = 0, moved = 0, early = 0;
  for (int round = 0; round < 1'000; ++round) {
    RepostWorld w(random.OneIn(4), RepostWorld::OneShard(),
                  random.OneIn(2) ? kWindow : WindowLimits{4 * kWindow.window, 60});
    const bool live = w.MakeUp(random);
    for (const auto how : {Reposts::kMerge, Reposts::kEach, Reposts::kNone}) {
      const auto expected = w.Expected(how);
      const auto limit = 1 + static_cast<uint32_t>(random.Below(9));
      ASSERT_EQ(w.WalkTold({.limit = limit, .reposts = how}), expected)
          << "limit " << limit << (live ? ", live" : ", pulled") << ", how "
          << static_cast<int>(how) << ", round " << round;
      const Page page = w.Home({.limit = limit, .reposts = how});
      if (!page.live() || !page.next) {
        ASSERT_EQ(page.items.size(), std::min<size_t>(limit, expected.size()));
      } else if (page.items.size() < limit) {
        ASSERT_FALSE(page.items.empty());
        ++early;
      }
      if (expected.empty()) continue;
      // From any place of a source, as cursors of other times are.
      const auto everything = w.Everything();
      const auto place = [&]() -> std::optional<Position> {
        if (random.OneIn(3)) return std::nullopt;
        return PlaceOf(everything[random.Below(everything.size())]);
      };
      const PageQuery query{
          .limit = limit, .older_than = place(), .newer_than = place(), .reposts = how};
      ASSERT_EQ(w.WalkTold(query), Between(expected, query.older_than, query.newer_than))
          << "limit " << limit << ", live " << live << ", how " << static_cast<int>(how)
          << ", older than " << (query.older_than ? query.older_than->created_at : -1)
          << ", newer than " << (query.newer_than ? query.newer_than->created_at : -1);
      const auto timeline = w.redis.timelines().find(kBob);
      if (query.older_than && timeline != w.redis.timelines().end()) {
        ++(query.older_than->created_at <= *timeline->second.floor ? behind_floor : moved);
      }
    }
  }
  EXPECT_GT(behind_floor, 50u);
  EXPECT_GT(moved, 50u);
  EXPECT_THAT(early, ::testing::AllOf(::testing::Gt(5u), ::testing::Lt(300u))) << "of 3,000";
}

}  // namespace
}  // namespace fanline::timeline
