// Rebuilds: what becomes a timeline, who gets none, and what may happen meanwhile.
#include <gtest/gtest.h>

#include "tests/unit/seeded.h"
#include "tests/unit/timeline/world.h"

namespace fanline::timeline {
namespace {

TEST(Rebuild, KeepsTheNewestItemsAndAFloorBelowWhichNothingIsPromised) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 200; ++round) {
    World w;
    for (uint64_t author = 0; author < 40; ++author) w.Follow(UserId{100 + author});
    for (uint64_t post = 1; post <= random.Below(40); ++post) {
      w.Publish(UserId{100 + random.Below(40)}, post, 1 + static_cast<UnixMs>(random.Below(100)));
    }
    ASSERT_EQ(w.Activate(), RebuildResult::kRebuilt);
    const auto& timeline = w.redis.timelines().at(kBob);
    const auto everything = w.Everything();
    ASSERT_LE(timeline.items.size(), kWindow.window + kWindow.spare());
    for (const Item& item : everything) {
      if (item.created_at > *timeline.floor) {
        ASSERT_TRUE(timeline.items.contains(item.post)) << "a hole above the floor";
      }
    }
    if (everything.size() <= kWindow.window) {
      ASSERT_EQ(*timeline.floor, kNoFloor);
    }
    if (*timeline.floor == kNoFloor) {
      ASSERT_EQ(timeline.items.size(), everything.size());
    }
  }
}

// `admit` is asked of those nobody knows, who are looked up only when they follow nobody.
TEST(Rebuild, WhoIsNotAdmittedGetsNoTimeline) {
  World w;
  int asked = 0;
  const auto activate = [&](bool admitted) {
    RebuildResult result{};
    const auto admit = [&] {
      ++asked;
      return admitted;
    };
    EXPECT_TRUE(w.home.Activate(kBob, &result, admit).done());
    return result;
  };
  EXPECT_EQ(activate(false), RebuildResult::kNotAdmitted);
  EXPECT_FALSE(w.redis.timelines().contains(kBob)) << "nothing is left of the one that began";
  EXPECT_EQ(activate(true), RebuildResult::kRebuilt);
  EXPECT_EQ(asked, 2);
}

TEST(Rebuild, AStrangerIsAdmittedOnceHoweverOftenTheRebuildStarts) {
  World w;
  int asked = 0;
  const auto admit = [&] {
    w.redis.Expire(kBob);
    return ++asked == 1;
  };
  RebuildResult result{};
  ASSERT_TRUE(w.home.Activate(kBob, &result, admit).done());
  EXPECT_EQ(result, RebuildResult::kRebuilt);
  EXPECT_EQ(w.tokens, 2);
  EXPECT_EQ(asked, 1);
}

TEST(Rebuild, WhoFollowsOrHasPostedNeedsNoAdmission) {
  for (const bool follows : {true, false}) {
    World w;
    follows ? w.Follow(UserId{100}) : w.Publish(kBob, 1, 1'000);
    RebuildResult result{};
    const auto never = [] { return false; };
    ASSERT_TRUE(w.home.Activate(kBob, &result, never).done());
    EXPECT_EQ(result, RebuildResult::kRebuilt);
  }
}

TEST(Rebuild, WhoFollowsSomebodyIsNotLookedUp) {
  const auto reads = [](const Reader::Admit& admit) {
    World w;
    w.Follow(UserId{100});
    RebuildResult result{};
    EXPECT_TRUE(w.home.Activate(kBob, &result, admit).done());
    return w.calls;
  };
  EXPECT_EQ(reads([] { return false; }), reads({}));
}

TEST(Rebuild, ReadsOnlyAsManyAuthorsAsItNeeds) {
  World w;
  for (uint64_t author = 0; author < 1'000; ++author) {
    w.Follow(UserId{100 + author});
    w.Publish(UserId{100 + author}, 1 + author, 1 + static_cast<UnixMs>(author));
  }
  w.Activate();
  EXPECT_LE(w.authors_read, 8 * kWindow.window);
}

// One author posts all the time; a span that suits the others, who seldom post, holds all of his.
TEST(Rebuild, ReadsNobodyFarPastTheWindow) {
  World w;
  uint64_t post = 0;
  for (uint64_t author = 0; author < 50; ++author) {
    w.Follow(UserId{100 + author});
    w.Publish(UserId{100 + author}, ++post, 1'000'000 - 1'000 * static_cast<UnixMs>(author));
  }
  for (int i = 0; i < 3'000; ++i) w.Publish(UserId{120}, ++post, 1'000'000 - 300 * UnixMs{i});
  w.Activate();
  EXPECT_LE(w.most_read, 4 * kWindow.window);
  EXPECT_LE(w.reads, 6u);
  Page page = w.Visit(100);
  auto everything = w.Everything();
  everything.resize(page.cached);
  EXPECT_GE(page.cached, kWindow.window - 1);
  page.items.resize(page.cached);
  EXPECT_EQ(page.items, everything);
}

TEST(Rebuild, KeepsAllItemsOfOneMomentWhileThereIsRoom) {
  World w;
  w.Follow(UserId{100});
  const uint32_t many = kWindow.window + kWindow.spare();
  for (uint64_t post = 1; post <= many; ++post) w.Publish(UserId{100}, post, 1'000);
  for (uint64_t post = 1; post <= 20; ++post) w.Publish(UserId{100}, 100 + post, 500);
  w.Activate();
  const Page page = w.Visit(many);
  EXPECT_EQ(page.cached, many);
  EXPECT_LT(w.redis.timelines().at(kBob).floor, 1'000);
}

TEST(Rebuild, KeepsWhatIsPushedWhileItReads) {
  BobsWorld w;
  const RangeLayout layout(kRanges);
  w.redis.Do(ClaimRange{1, layout.RangeOf(kBob), 1});
  w.on_read = [&] {
    w.redis.Do(TimelineBatch{2, layout.RangeOf(kBob), 1, {{kBob, 1, 0}}, {{PostId{8}, 2'000}}, {}});
  };
  w.Activate();
  EXPECT_TRUE(w.redis.timelines().at(kBob).items.contains(PostId{8}));
}

// A ready timeline would be dropped by such removals.
TEST(Rebuild, StartsAgainWhenRemovalsLeaveItLessThanHalfAWindow) {
  World w;
  const UserId ann{100};
  w.Follow(ann);
  for (uint64_t post = 1; post <= 12; ++post) w.Publish(ann, post, static_cast<UnixMs>(post));
  const Range range = RangeLayout(kRanges).RangeOf(kBob);
  w.redis.Do(ClaimRange{1, range, 1});
  w.on_read = [&] {
    if (w.tokens > 1) return;
    std::vector<Item> gone;
    for (uint64_t post = 12; post > 8; --post) gone.push_back({PostId{post}, 0, ann});
    for (const Item& item : gone) {
      w.mysql.Do(ApplyEvents{1, 0, {{EventKind::kDeleted, item.post, ann, 0, 0}}});
    }
    w.redis.Do(TimelineBatch{2, range, 1, {{kBob, 0, 4}}, {}, gone});
  };
  EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt);
  EXPECT_EQ(w.tokens, 2);
  EXPECT_EQ(w.redis.timelines().at(kBob).items.size(), kWindow.window);
}

TEST(Rebuild, LeavesARebuildOfAnotherAlone) {
  World w;
  w.redis.Begin(kBob, "another");
  EXPECT_EQ(w.Activate(), RebuildResult::kBusy);
}

// The range is served, or was last, under another topic generation: its timelines are not ours.
TEST(Rebuild, IsNotBegunUnderAnotherGenerationAndTheReaderIsServedByPulls) {
  BobsWorld w;
  const Range range = RangeLayout(kRanges).RangeOf(kBob);
  w.redis.Do(ClaimRange{1, range, 1});
  w.redis.Do(ResetRange{2, range, 1, ResetRange::Timelines::kDrop, AppliedPosition{2, 0}});
  const Page page = w.Visit();
  EXPECT_EQ(page.items, (std::vector{Item{PostId{7}, 1'000, UserId{100}}}));
  EXPECT_FALSE(page.live());
  EXPECT_TRUE(w.redis.timelines().empty());
  EXPECT_EQ(w.Activate(), RebuildResult::kRefused);
}

TEST(Rebuild, StartsAgainWhenItsTokenIsGoneAndGivesUpInTheEnd) {
  BobsWorld w;
  int lost_attempts = 2;
  w.on_read = [&] {
    if (w.tokens <= lost_attempts) w.redis.Expire(kBob);
  };
  EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt);
  EXPECT_EQ(w.tokens, 3);

  w.redis.Expire(kBob);
  lost_attempts = 1'000;
  EXPECT_EQ(w.Activate(), RebuildResult::kGaveUp);
}

// Else the reader would be served by pulls, and no other rebuild begun, until the key's time ends.
TEST(Rebuild, ThatCannotGoOnOrWhoseReadsAreNotTheTruthLeavesNothingBehind) {
  for (const auto fails : {&BobsWorld::mysql_fails, &BobsWorld::confirm_fails}) {
    BobsWorld w;
    RebuildResult result{};
    w.*fails = Status::Later("mysql_0", "away");
    EXPECT_TRUE(w.home.Activate(kBob, &result).later());
    w.*fails = Status::Done();
    EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt) << "nobody was faster";
  }
}

// A rebuild that ends early has read, and confirms nothing. Then its connection closes.
struct AfterOneThatEndedEarly : World {
  AfterOneThatEndedEarly() {
    RebuildResult result{};
    EXPECT_TRUE(home.Activate(kBob, &result, [] { return false; }).done());
    EXPECT_EQ(result, RebuildResult::kNotAdmitted);
    LoseConnections();
    Follow(UserId{100});
    Publish(UserId{100}, 7, 1'000);
  }
};

TEST(Rebuild, IsNotHeldUpByReadsOfOneThatEndedEarly) {
  AfterOneThatEndedEarly w;
  EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt);
}

TEST(Page, IsNotHeldUpByReadsOfARebuildThatEndedEarly) {
  AfterOneThatEndedEarly w;
  EXPECT_EQ(w.Home({.limit = 10}).items.size(), 1u);
}

TEST(Rebuild, KeepsAnAuthorMarkedWhileItReads) {
  World w;
  const UserId ann{100}, ben{101};
  for (const UserId author : {ann, ben}) w.Follow(author);
  w.Publish(ann, 7, 1'000);
  w.PublishMerged(ben, 8, 1'001);
  const Range range = RangeLayout(kRanges).RangeOf(kBob);
  w.redis.Do(ClaimRange{1, range, 1});
  w.on_read = [&] { w.redis.Do(TimelineBatch{2, range, 1, {{kBob, 0, 0, 1}}, {}, {}, {{ann}}}); };
  w.Activate();
  const auto& timeline = w.redis.timelines().at(kBob);
  EXPECT_EQ(timeline.marks, (std::set<Mark>{Mark{ann}, Mark{ben}}));
  EXPECT_EQ(timeline.items.size(), 1u) << "what is merged at read stands in no timeline";
}

}  // namespace
}  // namespace fanline::timeline
