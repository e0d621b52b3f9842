// What is remembered of authors whose posts are merged at read.
#include "api/merged_posts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/seeded.h"
#include "tests/unit/timeline/world.h"

namespace fanline::api {
namespace {

using timeline::kBob;
using timeline::PageQuery;
using timeline::PageRead;

// Bob's world, whose pages are served by MergedPosts first.
struct World : timeline::World {
  timeline::Page Home(const PageQuery& query) {
    PageRead read(query, std::nullopt);
    static_cast<void>(timeline::AskTimeline(kBob, *this, read));
    merged.Serve(read, now);
    if (!read.done()) merged.Load(read, *this, now);
    EXPECT_TRUE(timeline::FinishPage(kBob, *this, read).done());
    return read.Take();
  }
  std::vector<Item> Walk(PageQuery query) {
    std::vector<Item> walked;
    do {
      const timeline::Page page = Home(query);
      walked.insert(walked.end(), page.items.begin(), page.items.end());
      query.older_than = page.next;
    } while (query.older_than && walked.size() < 10'000);
    return walked;
  }

  Time now{std::chrono::seconds(100)};
  bool away = false;
  MergedPosts merged{[this](UserId author) { return away && author == UserId{100}; }};
};

TEST(MergedPosts, OfAnAuthorAreReadOnceInAWhile) {
  World w;
  w.Follow(UserId{100});
  w.PublishMerged(UserId{100}, 7, 1'000);
  w.Activate();
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  w.calls = 0;
  w.PublishMerged(UserId{100}, 8, 1'001);
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  EXPECT_EQ(w.calls, 0u);
  w.now += MergedPosts::kFor;
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 2u);
  EXPECT_EQ(w.calls, 1u);
}

TEST(MergedPosts, OfASampledReadersPageCountOnlyWhatIsWanted) {
  World w;
  for (uint64_t author = 100; author < 103; ++author) w.Follow(UserId{author});
  for (uint64_t post = 1; post <= 60; ++post) {
    w.PublishMerged(UserId{100 + post % 3}, post, static_cast<UnixMs>(post));
  }
  w.mysql.SetOneIn(kBob, 4);
  w.Activate();
  const auto everything = w.Everything();
  EXPECT_LT(everything.size(), 30u);
  EXPECT_EQ(w.Walk({.limit = 4}), everything);
  w.calls = 0;
  EXPECT_EQ(w.Home({.limit = 4}).items, std::vector(everything.begin(), everything.begin() + 4));
  EXPECT_EQ(w.calls, 0u) << "what is remembered is the same for all";
}

TEST(MergedPosts, WhileTheyAreReadAnewOthersAreServedWhatThereIsForAMoment) {
  World w;
  w.Follow(UserId{100});
  w.PublishMerged(UserId{100}, 7, 1'000);
  w.Activate();
  w.Home({.limit = 10});
  w.now += MergedPosts::kFor;
  size_t meanwhile = 0, too_late = 0;
  w.on_read = [&] {
    const auto served = [&](Duration later) {
      PageRead read({.limit = 10}, std::nullopt);
      static_cast<void>(timeline::AskTimeline(kBob, w, read));
      w.merged.Serve(read, w.now + later);
      return read.done() ? read.Take().items.size() : 0;
    };
    meanwhile = served({});
    too_late = served(MergedPosts::kStale - MergedPosts::kFor);
  };
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  EXPECT_EQ(meanwhile, 1u);
  EXPECT_EQ(too_late, 0u);
}

TEST(MergedPosts, AShardThatIsAwayIsAskedAgain) {
  World w;
  w.Follow(UserId{100});
  w.PublishMerged(UserId{100}, 7, 1'000);
  w.Activate();
  w.mysql_fails = Status::Later("mysql_0", "away");
  PageRead read({.limit = 10}, std::nullopt);
  static_cast<void>(timeline::AskTimeline(kBob, w, read));
  w.merged.Load(read, w, w.now);
  EXPECT_FALSE(read.done());
  w.mysql_fails = Status::Done();
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
}

TEST(MergedPosts, WhatWasNotTheTruthIsNotKept) {
  World w;
  w.Follow(UserId{100});
  w.PublishMerged(UserId{100}, 7, 1'000);
  w.Activate();
  w.confirm_fails = Status::Later("mysql_0", "read-only");
  PageRead read({.limit = 10}, std::nullopt);
  static_cast<void>(timeline::AskTimeline(kBob, w, read));
  w.merged.Load(read, w, w.now);
  EXPECT_FALSE(read.done());
}

// Nobody can publish or delete there, either.
TEST(MergedPosts, WhatWasReadLastIsServedWhileTheShardIsAway) {
  World w;
  w.Follow(UserId{100});
  w.PublishMerged(UserId{100}, 7, 1'000);
  w.Activate();
  w.Home({.limit = 10});
  w.mysql_fails = Status::Later("mysql_0", "away");
  const auto served = [&](Duration later) {
    PageRead read({.limit = 10}, std::nullopt);
    static_cast<void>(timeline::AskTimeline(kBob, w, read));
    w.merged.Serve(read, w.now + later);
    return read.done() ? read.Take().items.size() : 0;
  };
  EXPECT_EQ(served(MergedPosts::kFor), 0u) << "nobody knows yet";
  w.away = true;
  EXPECT_EQ(served(MergedPosts::kFor), 1u);
  EXPECT_EQ(served(MergedPosts::kWhileAway - std::chrono::seconds(1)), 1u);
  EXPECT_EQ(served(MergedPosts::kWhileAway), 0u);
}

// Of an author of more posts than are remembered too: what lies deeper is pulled.
TEST(MergedPosts, AWalkShowsEverythingOnce) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 40; ++round) {
    World w;
    for (uint64_t author = 100; author < 103; ++author) w.Follow(UserId{author});
    const uint64_t posts = random.Below(3) == 0 ? 350 : 40;
    for (uint64_t post = 1; post <= posts; ++post) {
      const UserId author{100 + random.Below(2)};
      const auto at = 1 + static_cast<UnixMs>(random.Below(posts));
      random.Below(posts > 100 ? 100 : 4) == 0 ? w.Publish(author, post * post, at)
                                               : w.PublishMerged(author, post * post, at);
    }
    w.Activate();
    const auto all = w.Everything();
    for (const uint32_t limit : {1u + static_cast<uint32_t>(random.Below(9)), 50u, 200u}) {
      EXPECT_EQ(w.Walk({.limit = limit}), all) << "pages of " << limit;
    }
    const Item& place = all[random.Below(all.size())];
    const auto newer = w.Walk({.limit = 50, .newer_than = Position{place.created_at, place.post}});
    EXPECT_EQ(newer.size(),
              static_cast<size_t>(std::find(all.begin(), all.end(), place) - all.begin()));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace fanline::api
