// What is remembered of authors whose posts are merged at read.
#include "api/merged_posts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/requests.h"
#include "tests/unit/seeded.h"
#include "tests/unit/timeline/reposts_world.h"

namespace fanline::api {
namespace {

using timeline::kBob;
using timeline::PageQuery;

const ShardMap kTwo = ShardMap::Even(2);

// The number-th user on a shard, from 100 on.
UserId UserOn(Shard shard, uint64_t number) {
  uint64_t id = 100;
  while (kTwo.ShardOf(UserId{id}) != shard || number-- > 0) ++id;
  return UserId{id};
}

const UserId kAnn = UserOn(0, 0);

// Bob's world, whose pages are served by MergedPosts first, as the API serves them.
struct MergedWorld : timeline::RepostWorld {
  explicit MergedWorld(bool own = false) : timeline::RepostWorld(own, kTwo) {}

  // What is there of a page before the authors are asked.
  timeline::PageRun Asked(const PageQuery& query = {.limit = 10}) {
    timeline::PageRun run(kBob, query, timeline::OwnOf(kBob, own_posts), kTwo,
                          TruthReads::Answers::kPartly);
    run.OnLive(Ask(PortTo(*this), run.Begin()));
    return run;
  }
  ItemsAnswered ReadOf(UserId author) {
    fakes::Inbox<ItemsAnswered> replies;
    Submit(MergedPosts::Request(author, kTwo), replies);
    return replies.at(0);
  }
  // Whom the reader mutes, originals, and refills.
  void Filter(timeline::PageRun& run) {
    for (auto requests = run.Filter(); !requests.empty(); requests = run.Filter()) {
      for (const auto& request : requests) {
        if (const auto* mutes = std::get_if<ReadMutes>(&request)) {
          run.OnMutes(Ask(*mutes));
        } else if (const auto* originals = std::get_if<ReadOriginals>(&request)) {
          run.OnOriginals(Ask(*originals));
        } else {
          run.OnLive(Ask(PortTo(*this), std::get<ReadLivePage>(request)));
        }
      }
    }
  }
  timeline::Page Home(const PageQuery& query) {
    timeline::PageRun run = Asked(query);
    Filter(run);
    for (const UserId author : merged.Serve(run.read(), now)) {
      EXPECT_TRUE(merged.Await(author, 1, now));
      EXPECT_EQ(merged.Put(author, ReadOf(author), now), std::vector<uint64_t>{1});
    }
    merged.Serve(run.read(), now, true);
    if (!run.read().done()) {
      const TimelinePort timelines = PortTo(*this);
      ReaderTruth::Finish(run, run.GoOn(), &timelines);
      EXPECT_TRUE(run.status().done());
    }
    return run.Take();
  }
  timeline::Page Read(const PageQuery& query) override { return Home(query); }
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
  MergedPosts merged;
};

// He follows one author of a merged post, and is live.
struct BobsWorld : MergedWorld {
  BobsWorld() {
    Follow(kAnn);
    PublishMerged(kAnn, 7, 1'000);
    Activate();
  }
};

TEST(MergedPosts, OfAnAuthorAreReadOnceInAWhile) {
  BobsWorld w;
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  w.calls = 0;
  w.PublishMerged(kAnn, 8, 1'001);
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
      timeline::PageRun run = w.Asked();
      w.merged.Serve(run.read(), w.now + later);
      return run.read().done() ? run.Take().items.size() : 0;
    };
    meanwhile = served({});
    too_late = served(MergedPosts::kStale - MergedPosts::kFor);
  };
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
  EXPECT_EQ(meanwhile, 1u);
  EXPECT_EQ(too_late, 0u);
}

// What one that hung for long brings at last is older.
TEST(MergedPosts, AnEarlierRequestThatIsAnsweredLaterChangesNothing) {
  BobsWorld w;
  const Time begin = w.now;
  EXPECT_TRUE(w.merged.Await(kAnn, 1, begin));
  const ItemsAnswered before = w.ReadOf(kAnn);
  w.PublishMerged(kAnn, 8, 1'001);
  w.now += MergedPosts::kStale;
  EXPECT_TRUE(w.merged.Await(kAnn, 2, w.now));
  const ItemsAnswered failure{.status = Status::Later("mysql_0", "timed out")};
  EXPECT_TRUE(w.merged.Put(kAnn, failure, begin).empty()) << "the other may be answered yet";
  EXPECT_FALSE(w.merged.Await(kAnn, 3, w.now));
  EXPECT_EQ(w.merged.Put(kAnn, w.ReadOf(kAnn), w.now), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_TRUE(w.merged.Put(kAnn, before, begin).empty());
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 2u);
}

TEST(MergedPosts, ALateReplyToAnEarlierRequestEndsNoWaitForALaterOne) {
  MergedPosts merged;
  const Time first{std::chrono::seconds(100)}, second = first + MergedPosts::kStale;
  EXPECT_TRUE(merged.Await(kAnn, 1, first));
  EXPECT_TRUE(merged.Await(kAnn, 2, second));
  const ItemsAnswered reply{.read = {.items = {{PostId{7}, 1'000}}}};
  EXPECT_TRUE(merged.Put(kAnn, reply, first).empty());
  EXPECT_EQ(merged.Put(kAnn, reply, second), (std::vector<uint64_t>{1, 2}));
}

TEST(MergedPosts, AfterAWaitInVainNobodyWaitsForTheSameRequest) {
  BobsWorld w;
  timeline::PageRun run = w.Asked();
  EXPECT_EQ(w.merged.Serve(run.read(), w.now), std::vector<UserId>{kAnn});
  EXPECT_TRUE(w.merged.Await(kAnn, 1, w.now));
  timeline::PageRun other = w.Asked();
  EXPECT_EQ(w.merged.Serve(other.read(), w.now), std::vector<UserId>{kAnn});
  w.now += std::chrono::milliseconds(100);
  w.merged.Serve(run.read(), w.now, true);
  EXPECT_TRUE(run.Take().incomplete);
  w.now += MergedPosts::kFor;
  EXPECT_TRUE(w.merged.Serve(other.read(), w.now).empty());
  EXPECT_TRUE(other.Take().incomplete);
}

TEST(MergedPosts, AShardThatDoesNotAnswerIsAskedAgainALittleLater) {
  BobsWorld w;
  w.mysql_fails = Status::Later("mysql_0", "away");
  const timeline::Page lacking = w.Home({.limit = 10});
  EXPECT_EQ(lacking.items.size(), 0u);
  EXPECT_TRUE(lacking.incomplete);
  w.mysql_fails = Status::Done();
  w.calls = 0;
  EXPECT_TRUE(w.Home({.limit = 10}).incomplete);
  EXPECT_EQ(w.calls, 0u);
  w.now += MergedPosts::kFor;
  const timeline::Page whole = w.Home({.limit = 10});
  EXPECT_EQ(whole.items.size(), 1u);
  EXPECT_FALSE(whole.incomplete);
}

TEST(MergedPosts, WhatWasNotTheTruthIsNotKept) {
  BobsWorld w;
  w.confirm_fails = Status::Later("mysql_0", "read-only");
  EXPECT_TRUE(w.Home({.limit = 10}).incomplete);
}

// Nobody can publish or delete there, either.
TEST(MergedPosts, WhatWasReadLastIsServedWhileTheShardIsAway) {
  BobsWorld w;
  w.Home({.limit = 10});
  const Time begin = w.now;
  w.away = {0};
  const auto served = [&](Duration later) {
    w.now = begin + later;
    const timeline::Page page = w.Home({.limit = 10});
    return std::to_string(page.items.size()) + (page.incomplete ? ", incomplete" : "");
  };
  EXPECT_EQ(served(MergedPosts::kFor), "1");
  EXPECT_EQ(served(MergedPosts::kStale), "1, incomplete") << "she may have posted meanwhile";
  EXPECT_EQ(served(MergedPosts::kWhileAway - std::chrono::seconds(1)), "1, incomplete");
  EXPECT_EQ(served(MergedPosts::kWhileAway), "0, incomplete");
}

// Deep pages too, and those of readers whose timelines name no author.
TEST(MergedPosts, OfAuthorsWhoseShardIsAwayAreLeftOut) {
  for (const uint64_t others : {1, 40}) {
    MergedWorld w;
    w.Follow(kAnn);
    uint64_t post = 0;
    while (post < 2 * MergedPosts::kNewest) w.PublishMerged(kAnn, ++post, 1'000);
    for (uint64_t i = 0; i < others; ++i) {
      const UserId author = UserOn(1, i);
      w.Follow(author);
      w.PublishMerged(author, ++post, 2'000 + static_cast<UnixMs>(Raw(author)));
    }
    w.Activate();
    w.away = {0};
    for (const uint32_t limit : {7u, 200u}) {
      const timeline::Page page = w.Home({.limit = limit});
      EXPECT_TRUE(page.incomplete);
      const bool named = others == 1 || kTwo.ShardOf(kBob) == 1;
      EXPECT_EQ(page.items.size(), named ? std::min<size_t>(limit, others) : 0) << others;
    }
    w.away = {};
    w.now += MergedPosts::kFor;
    EXPECT_EQ(w.Walk({.limit = 50}), w.Everything());
    EXPECT_FALSE(w.Home({.limit = 7}).incomplete);
  }
}

// The others are read anew beside what is remembered of that one.
TEST(MergedPosts, OneShardAwayKeepsNoOtherAuthorFromBeingReadAnew) {
  MergedWorld w;
  const UserId ben = UserOn(1, 0);
  for (const UserId author : {kAnn, ben}) {
    w.Follow(author);
    w.PublishMerged(author, Raw(author), 1'000);
  }
  w.Activate();
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 2u);
  w.away = {0};
  w.PublishMerged(ben, 7, 1'001);
  w.now += MergedPosts::kFor;
  const timeline::Page page = w.Home({.limit = 10});
  EXPECT_EQ(page.items.size(), 3u);
  EXPECT_FALSE(page.incomplete);
}

// Of an author of more posts than are remembered too: what lies deeper is pulled.
TEST(MergedPosts, AWalkShowsEverythingOnce) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 40; ++round) {
    MergedWorld w;
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

// As RepostsTest has it, but for what is remembered.
TEST(MergedPosts, AWalkWithRepostsShowsWhatTheModelSays) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 300; ++round) {
    MergedWorld w(random.OneIn(4));
    w.MakeUp(random);
    const auto limit = 1 + static_cast<uint32_t>(random.Below(9));
    ASSERT_EQ(w.WalkTold({.limit = limit}), w.Merged()) << "limit " << limit << ", round " << round;
  }
}

}  // namespace
}  // namespace fanline::api
