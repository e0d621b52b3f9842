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
  Status LastAt(const std::vector<UserId>& authors, std::vector<AuthorLastAt>* out) override {
    for (const UserId author : authors) EXPECT_NE(author, forbidden);
    return timeline::World::LastAt(authors, out);
  }
  Status Items(const std::vector<PostsOf>& posts, const TimeSpan& span, uint32_t limit,
               ItemsRead* out) override {
    for (const PostsOf& one : posts) EXPECT_NE(one.author, forbidden);
    return timeline::World::Items(posts, span, limit, out);
  }
  // What is there of a page before the authors are asked.
  PageRead Asked(const PageQuery& query = {.limit = 10}) {
    PageRead read(query, std::nullopt);
    static_cast<void>(timeline::AskTimeline(kBob, *this, read));
    return read;
  }
  timeline::Page Home(const PageQuery& query) {
    PageRead read = Asked(query);
    merged.Serve(read, kBob, now);
    if (!read.done()) merged.Load(read, kBob, *this, now);
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
  bool away = false;   // the shard of author 100
  UserId forbidden{};  // nothing may be read of
  MergedPosts merged{[this](UserId user) { return away && user == UserId{100}; }};
};

// He follows one author of a merged post, and is live.
struct BobsWorld : World {
  BobsWorld() {
    Follow(UserId{100});
    PublishMerged(UserId{100}, 7, 1'000);
    Activate();
  }
};

TEST(MergedPosts, OfAnAuthorAreReadOnceInAWhile) {
  BobsWorld w;
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  w.calls = 0;
  w.PublishMerged(UserId{100}, 8, 1'001);
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  EXPECT_EQ(w.calls, 0u);
  w.now += MergedPosts::kFor;
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 2u);
  EXPECT_EQ(w.calls, 1u);
}

TEST(MergedPosts, WhileTheyAreReadAnewOthersAreServedWhatThereIsForAMoment) {
  BobsWorld w;
  w.Home({.limit = 10});
  w.now += MergedPosts::kFor;
  size_t meanwhile = 0, too_late = 0;
  w.on_read = [&] {
    const auto served = [&](Duration later) {
      PageRead read = w.Asked();
      w.merged.Serve(read, kBob, w.now + later);
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
  BobsWorld w;
  w.mysql_fails = Status::Later("mysql_0", "away");
  PageRead read = w.Asked();
  w.merged.Load(read, kBob, w, w.now);
  EXPECT_FALSE(read.done());
  w.mysql_fails = Status::Done();
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
}

TEST(MergedPosts, WhatWasNotTheTruthIsNotKept) {
  BobsWorld w;
  w.confirm_fails = Status::Later("mysql_0", "read-only");
  PageRead read = w.Asked();
  w.merged.Load(read, kBob, w, w.now);
  EXPECT_FALSE(read.done());
}

// Nobody can publish or delete there, either.
TEST(MergedPosts, WhatWasReadLastIsServedWhileTheShardIsAway) {
  BobsWorld w;
  w.Home({.limit = 10});
  w.mysql_fails = Status::Later("mysql_0", "away");
  const auto served = [&](Duration later) {
    PageRead read = w.Asked();
    w.merged.Serve(read, kBob, w.now + later);
    if (!read.done()) return std::string("asks");
    const timeline::Page page = read.Take();
    return std::to_string(page.items.size()) + (page.incomplete ? ", incomplete" : "");
  };
  EXPECT_EQ(served(MergedPosts::kFor), "asks") << "nobody knows yet";
  w.away = true;
  EXPECT_EQ(served(MergedPosts::kFor), "1");
  EXPECT_EQ(served(MergedPosts::kStale), "1, incomplete") << "he may have posted meanwhile";
  EXPECT_EQ(served(MergedPosts::kWhileAway - std::chrono::seconds(1)), "1, incomplete");
  EXPECT_EQ(served(MergedPosts::kWhileAway), "0, incomplete");
}

// Deep pages too, and those of readers whose timelines name no author.
TEST(MergedPosts, OfAuthorsWhoseShardIsAwayAreLeftOut) {
  for (const uint64_t others : {1, 40}) {
    World w;
    w.Follow(UserId{100});
    uint64_t post = 0;
    while (post < 2 * MergedPosts::kNewest) w.PublishMerged(UserId{100}, ++post, 1'000);
    for (uint64_t author = 101; author < 101 + others; ++author) {
      w.Follow(UserId{author});
      w.PublishMerged(UserId{author}, ++post, 2'000 + static_cast<UnixMs>(author));
    }
    w.Activate();
    w.away = true;
    w.forbidden = UserId{100};
    for (const uint32_t limit : {7u, 200u}) {
      const timeline::Page page = w.Home({.limit = limit});
      EXPECT_TRUE(page.incomplete);
      EXPECT_EQ(page.items.size(), std::min<size_t>(limit, others)) << others;
    }
    w.away = false;
    w.forbidden = {};
    EXPECT_EQ(w.Walk({.limit = 50}), w.Everything());
    EXPECT_FALSE(w.Home({.limit = 7}).incomplete);
    if (others > MergedPosts::kNewest) continue;
    w.away = true;  // what is remembered does not reach so far
    const timeline::Page deep = w.Home({.limit = 150});
    EXPECT_TRUE(deep.incomplete);
    EXPECT_EQ(deep.items.size(), others);
  }
}

// The others are read anew beside what is remembered of that one.
TEST(MergedPosts, OneShardAwayKeepsNoOtherAuthorFromBeingReadAnew) {
  World w;
  for (const uint64_t author : {100, 101}) {
    w.Follow(UserId{author});
    w.PublishMerged(UserId{author}, author, 1'000);
  }
  w.Activate();
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 2u);
  w.away = true;
  w.forbidden = UserId{100};
  w.PublishMerged(UserId{101}, 7, 1'001);
  w.now += MergedPosts::kFor;
  const timeline::Page page = w.Home({.limit = 10});
  EXPECT_EQ(page.items.size(), 3u);
  EXPECT_FALSE(page.incomplete);
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
