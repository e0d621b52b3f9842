// Pages of home timelines and of authors: what is shown, and what is read for it.
#include "timeline/page.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/seeded.h"
#include "tests/unit/timeline/world.h"
#include "timeline/outbox.h"

namespace fanline::timeline {
namespace {

// Those of `all` behind one place and before another.
std::vector<Item> Between(std::vector<Item> all, const std::optional<Position>& older_than,
                          const std::optional<Position>& newer_than) {
  std::erase_if(all, [&](const Item& item) {
    return (older_than && !IsNewer({older_than->post, older_than->created_at}, item)) ||
           (newer_than && !IsNewer(item, {newer_than->post, newer_than->created_at}));
  });
  return all;
}

// Few moments and ids of all lengths, so that many posts share a moment.
void PublishAtRandom(World& w, fanline::testing::Seeded& random, uint64_t most) {
  const uint64_t authors = 1 + random.Below(30);
  for (uint64_t author = 0; author < authors; ++author) w.Follow(UserId{100 + author});
  for (uint64_t post = random.Below(most); post > 0; --post) {
    w.Publish(UserId{100 + random.Below(30)}, post * post * post,
              1 + static_cast<UnixMs>(random.Below(25)));
  }
}

TEST(Page, IsPulledUntilTheTimelineIsLive) {
  BobsWorld w;
  const Page pulled = w.Visit();
  EXPECT_FALSE(pulled.live());
  const Page live = w.Visit();
  EXPECT_TRUE(live.live());
  EXPECT_EQ(live.items, pulled.items);
  EXPECT_EQ(live.cached, 1u);
}

TEST(Page, IsPulledWhileTheTimelineIsBuilt) {
  BobsWorld w;
  w.redis.Begin(kBob, "another");
  const Page page = w.Home({.limit = 10});
  EXPECT_EQ(page.timeline, TimelineState::kBuilding);
  EXPECT_EQ(page.items, w.Everything());
}

TEST(Page, IsPulledWhereAFullRedisTakesNoNewTimeline) {
  BobsWorld w;
  w.redis.full = true;
  RebuildResult result{};
  EXPECT_FALSE(w.home.Activate(kBob, &result).done());
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
}

TEST(Page, ThatTheLiveTimelineHoldsAsksNoShard) {
  World w;
  w.Follow(UserId{100});
  for (uint64_t post = 1; post <= 20; ++post) w.Publish(UserId{100}, post, 1'000 + UnixMs(post));
  w.Activate();
  w.mysql_fails = Status::Later("mysql_0", "away");
  EXPECT_EQ(w.Home({.limit = 3}).items.size(), 3u);
  Page page;
  EXPECT_FALSE(w.home.Home(kBob, {.limit = 10}, &page).done()) << "below the floor";
}

TEST(Page, WhatWasNotTheTruthIsNotServed) {
  BobsWorld w;
  w.confirm_fails = Status::Later("mysql_0", "read-only");
  Page page;
  EXPECT_TRUE(w.home.Home(kBob, {.limit = 10}, &page).later());
  EXPECT_TRUE(page.items.empty());
}

TEST(Page, NoShardIsAskedAgainWhetherThereIsMore) {
  World w;
  w.Follow(UserId{100});
  for (uint64_t post = 1; post <= 3; ++post) w.Publish(UserId{100}, post, 1'000 + UnixMs(post));
  w.Activate();
  w.calls = 0;
  EXPECT_EQ(w.Walk({.limit = 2}), w.Everything());
  EXPECT_EQ(w.Home({.limit = 10}).next, std::nullopt);
  EXPECT_TRUE(w.Home({.limit = 10, .older_than = Position{1, PostId{1}}}).items.empty());
  EXPECT_EQ(w.calls, 0u);
}

TEST(Page, BetweenTwoPlacesShowsWhatLiesBetweenThemOnce) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 300; ++round) {
    World w;
    PublishAtRandom(w, random, 60);
    const std::vector<Item> all = w.Everything();
    if (all.empty()) continue;
    // Places of items, and places where none is any more.
    const auto place = [&]() -> std::optional<Position> {
      if (random.Below(4) == 0) return std::nullopt;
      Position at = PlaceOf(all[random.Below(all.size())]);
      if (random.Below(3) == 0) at.post = PostId{1 + random.Below(100'000)};
      return at;
    };
    const PageQuery query{.limit = 1 + static_cast<uint32_t>(random.Below(12)),
                          .older_than = place(),
                          .newer_than = place()};
    const auto expected = Between(all, query.older_than, query.newer_than);
    EXPECT_EQ(w.Walk(query), expected) << "pulled";
    w.Activate();
    EXPECT_EQ(w.Walk(query), expected) << "live, and below its floor";
  }
}

TEST(Page, NewerThanAPlaceAboveTheFloorAsksNoShard) {
  World w;
  w.Follow(UserId{100});
  for (uint64_t post = 1; post <= 20; ++post) w.Publish(UserId{100}, post, 1'000 + UnixMs(post));
  w.Activate();
  w.calls = 0;
  const auto everything = w.Everything();
  const Page news = w.Home({.limit = 10, .newer_than = PlaceOf(everything[2])});
  EXPECT_EQ(news.items, (std::vector{everything[0], everything[1]}));
  EXPECT_EQ(news.next, std::nullopt);
  EXPECT_TRUE(w.Home({.limit = 10, .newer_than = PlaceOf(everything[0])}).items.empty());
  EXPECT_EQ(w.calls, 0u);
}

// The moment of the floor itself is not promised: it may have items that are newer than the place.
TEST(Page, NewerThanAPlaceAtTheFloorsOwnMomentIsPulledToItsEnd) {
  World w;
  w.Follow(UserId{100});
  for (uint64_t post = 10; post < 40; ++post) w.Publish(UserId{100}, post, 1'000);
  for (uint64_t post = 1; post <= 6; ++post) w.Publish(UserId{100}, post, 2'000);
  w.Activate();
  ASSERT_EQ(w.redis.timelines().at(kBob).floor, 1'000);
  const Page page = w.Home({.limit = 20, .newer_than = Position{1'000, PostId{37}}});
  EXPECT_EQ(page.items.size(), 8u);
  EXPECT_EQ(page.items.back().post, PostId{38});
}

TEST(Page, PullsNoFurtherThanThePlace) {
  World w;
  for (uint64_t author = 0; author < 50; ++author) {
    w.Follow(UserId{100 + author});
    for (uint64_t i = 1; i <= 50; ++i) {
      const uint64_t post = 50 * author + i;
      w.Publish(UserId{100 + author}, post, 1'000 + static_cast<UnixMs>(post));
    }
  }
  const auto everything = w.Everything();
  EXPECT_EQ(w.Home({.limit = 200, .newer_than = PlaceOf(everything[3])}).items.size(), 3u);
  EXPECT_LE(w.most_read, 4u);
  EXPECT_EQ(w.authors_read, 1u) << "who has not posted since is not asked";
}

// Authors give times up to kMaxCreatedAt, far beyond any real time in milliseconds.
TEST(Page, AWalkEndsWhateverTimesAuthorsGave) {
  World w;
  w.Follow(UserId{100});
  w.Follow(UserId{101});
  w.Publish(UserId{100}, 1, kMaxCreatedAt);
  w.Publish(UserId{101}, 2, 1);
  w.on_read = [&] {
    if (w.reads > 100) throw std::runtime_error("the walk does not end");
  };
  EXPECT_EQ(w.Walk({.limit = 5}), w.Everything());
}

// ---- posts that are merged at read ------------------------------------------------------------

TEST(Page, HoldsOnesOwnPostsWhereHomeTimelinesDo) {
  for (const bool own_posts : {true, false}) {
    World w(own_posts);
    w.Publish(kBob, 7, 1'000);
    EXPECT_EQ(w.Home({.limit = 9}).items.size(), own_posts ? 1u : 0u) << "who follows nobody";
    w.Follow(UserId{100});
    for (uint64_t post = 10; post < 60; ++post) {
      w.Publish(post % 3 == 0 ? kBob : UserId{100}, post, 1'000 + UnixMs(post));
    }
    EXPECT_EQ(w.Walk({.limit = 7}), w.Everything()) << "pulled";
    w.Activate();
    EXPECT_EQ(w.Walk({.limit = 7}), w.Everything()) << "live down to the floor, and pulled";
  }
}

// A choice changed while a rebuild had read the old one, or had been told of it: until the sync.
TEST(Page, ReadsAnAuthorOnceWhoIsMarkedInBothWays) {
  const UserId cid{100}, dan{101};
  World w;
  w.Follow(cid);
  w.Follow(dan);
  w.PublishMerged(cid, 7, 1'000);
  w.Publish(dan, 8, 2'000);
  w.Activate();
  w.redis.rules.fence = false;
  w.redis.Do(TimelineBatch{.range = RangeLayout(kRanges).RangeOf(kBob),
                           .writes = {{kBob, 0, 0, 1}},
                           .marks = {{cid, true}}});
  ASSERT_EQ(w.redis.timelines().at(kBob).marks.size(), 2u);
  EXPECT_EQ(w.Home({.limit = 9}).items, w.Everything());
  for (const bool first : {true, false}) {
    Marks marks;
    marks.Add({cid, first});
    marks.Add({cid, !first});
    EXPECT_EQ(marks, (Marks{{cid}})) << "reposts, too";
  }
}

TEST(Page, MergesOnesOwnPostsOnce) {
  for (const uint64_t others : {1u, 9u}) {  // nine are more than the timeline names
    World w(true);
    for (uint64_t author = 100; author < 100 + others; ++author) {
      w.Follow(UserId{author});
      w.PublishMerged(UserId{author}, author, 1'000 + UnixMs(author));
    }
    w.PublishMerged(kBob, 7, 1'150);
    w.Activate();
    EXPECT_EQ(w.redis.timelines().at(kBob).more_marks, others > 1);
    EXPECT_EQ(w.Home({.limit = 50}).items, w.Everything());
    EXPECT_EQ(w.Walk({.limit = 2}), w.Everything());
  }
}

TEST(Page, OfNobodyMarkedAsksNoShard) {
  BobsWorld w;
  w.PublishMerged(UserId{101}, 8, 1'001);  // followed by others
  w.Activate();
  w.calls = 0;
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  EXPECT_EQ(w.calls, 0u);
}

TEST(Page, BelowTheFloorAMarkIsNotAskedForTwice) {
  World w;
  const UserId ann{100}, cyd{101};
  for (const UserId author : {ann, cyd}) w.Follow(author);
  for (uint64_t post = 1; post <= 40; ++post) w.Publish(ann, post, 1'000 + UnixMs(post));
  w.PublishMerged(cyd, 50, 1'000);
  w.Activate();
  const Floor floor = *w.redis.timelines().at(kBob).floor;
  w.looks = 0;
  const auto page = w.Home({.limit = 5, .older_than = Position{floor, PostId{1}}});
  EXPECT_EQ(page.items.size(), 5u);
  EXPECT_EQ(w.looks, 1u);
}

// Pushed and merged posts of the same moments, of authors in either mode, and of more authors than
// a timeline can mark.
TEST(Page, AWalkMixesWhatIsPushedWithWhatIsMerged) {
  fanline::testing::Seeded random;
  bool more = false;
  for (int round = 0; round < 300; ++round) {
    World w;
    const uint64_t authors = 1 + random.Below(6);
    for (uint64_t author = 0; author < authors; ++author) w.Follow(UserId{100 + author});
    for (uint64_t post = random.Below(60); post > 0; --post) {
      const UserId author{100 + random.Below(7)};
      const auto at = 1 + static_cast<UnixMs>(random.Below(25));
      const bool merged = random.Below(2) == 0 && Raw(author) % 2 == random.Below(2);
      merged ? w.PublishMerged(author, post * post * post, at)
             : w.Publish(author, post * post * post, at);
    }
    const std::vector<Item> all = w.Everything();
    const uint32_t limit = 1 + static_cast<uint32_t>(random.Below(12));
    EXPECT_EQ(w.Walk({.limit = limit}), all) << "pulled";
    w.Activate();
    more |= w.redis.timelines().at(kBob).more_marks;
    EXPECT_EQ(w.Walk({.limit = limit}), all) << "live";
    if (all.empty()) continue;
    const Position place = PlaceOf(all[random.Below(all.size())]);
    EXPECT_EQ(w.Walk({.limit = limit, .newer_than = place}), Between(all, {}, place));
    EXPECT_EQ(w.Walk({.limit = limit, .older_than = place}), Between(all, place, {}));
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(more) << "no timeline had more marks than it can hold";
}

TEST(Posts, AreAllOfTheAuthorsPushedOrNot) {
  World w;
  for (uint64_t post = 1; post <= 30; ++post) {
    w.Publish(UserId{100}, post * 7, 1'000 + static_cast<UnixMs>(post / 5));
    w.mysql.SetPushed(UserId{100}, PostId{post * 7}, post % 3 == 0);
  }
  std::vector<Item> all = w.mysql.Outbox(UserId{100}, {}, UINT32_MAX);
  ASSERT_EQ(all.size(), 30u);
  ASSERT_EQ(all[21].created_at, all[23].created_at) << "a place in the midst of its moment";
  for (const uint32_t limit : {1u, 7u, 30u, 100u}) {
    for (const auto& newer_than : {std::optional<Position>(), std::optional(PlaceOf(all[23]))}) {
      PageQuery query{.limit = limit, .newer_than = newer_than};
      std::vector<Item> walked;
      Page page;
      do {
        OutboxRun run(UserId{100}, query, w.map(), TruthReads::Answers::kWhole);
        w.Finish(run, run.Begin());
        ASSERT_TRUE(run.status().done());
        page = run.Take();
        ASSERT_LE(page.items.size(), limit);
        walked.insert(walked.end(), page.items.begin(), page.items.end());
        query.older_than = page.next;
      } while (page.next && walked.size() < 100);
      EXPECT_EQ(walked, Between(all, {}, newer_than));
    }
  }
}

}  // namespace
}  // namespace fanline::timeline
