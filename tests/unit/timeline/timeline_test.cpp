#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/unit/seeded.h"
#include "tests/unit/timeline/world.h"

namespace fanline::timeline {
namespace {

TEST(Reader, AWalkOverPagesShowsEverythingOnceInOrder) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 100; ++round) {
    World w;
    for (uint64_t author = 0; author < 1 + random.Below(30); ++author)
      w.Follow(UserId{100 + author});
    for (uint64_t post = 1; post <= random.Below(60); ++post) {
      // Few moments, so that many posts share one.
      w.Publish(UserId{100 + random.Below(30)}, post, 1 + static_cast<UnixMs>(random.Below(25)));
    }
    const uint32_t limit = 1 + static_cast<uint32_t>(random.Below(12));
    EXPECT_EQ(w.Walk({.limit = limit}), w.Everything()) << "pulled";
    w.Visit();
    EXPECT_EQ(w.Walk({.limit = limit}), w.Everything()) << "live, and below its floor";
  }
}

// The author read last has the item that comes first among those of its moment.
TEST(Reader, AWalkOverPagesSkipsNobodysItemOfASharedMoment) {
  World w;
  for (uint64_t author = 0; author < 6; ++author) {
    w.Follow(UserId{100 + author});
    w.Publish(UserId{100 + author}, 19 - author, 1'000);
  }
  EXPECT_EQ(w.Walk({.limit = 1}), w.Everything()) << "pulled";
  w.Visit();
  EXPECT_EQ(w.Walk({.limit = 1}), w.Everything()) << "live, and below its floor";
}

// Authors give times up to kMaxCreatedAt, far beyond any real time in milliseconds.
TEST(Reader, AWalkOverPagesEndsWhateverTimesAuthorsGave) {
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

TEST(Rebuild, KeepsTheNewestItemsAndAFloorBelowWhichNothingIsPromised) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 200; ++round) {
    World w;
    for (uint64_t author = 0; author < 40; ++author) w.Follow(UserId{100 + author});
    for (uint64_t post = 1; post <= random.Below(40); ++post) {
      w.Publish(UserId{100 + random.Below(40)}, post, 1 + static_cast<UnixMs>(random.Below(100)));
    }
    RebuildResult result;
    ASSERT_TRUE(w.home.Activate(kBob, &result).done());
    ASSERT_EQ(result, RebuildResult::kRebuilt);
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

// Else one statement would hash a million posts of whoever follows the busy.
TEST(Pull, ASampledReadersFirstSpanIsBounded) {
  const auto first_span = [](uint32_t one_in) {
    Pull pull({.want = 450}, {}, {}, Pulled::kPushed, {});
    std::vector<UserId> authors;
    std::vector<AuthorLastAt> last;
    for (uint64_t author = 0; author < 100; ++author) {
      authors.push_back(UserId{100 + author});
      last.push_back({UserId{100 + author}, author == 0 ? 2'000'000'000'000 : 1'999'999'999'000});
    }
    pull.OnFollowees(authors, {kBob, one_in});
    pull.OnLastAt(last);
    return 2'000'000'000'000 - std::get<NeedItems>(pull.needed()).span.above.value_or(0);
  };
  EXPECT_GT(first_span(64), 30 * first_span(1));
  EXPECT_LT(first_span(1024), 2 * first_span(64));
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

// Of a sampled one the timeline begins twice.
TEST(Rebuild, AStrangerIsAdmittedOnce) {
  World w;
  w.mysql.SetOneIn(kBob, 4);
  int asked = 0;
  RebuildResult result{};
  ASSERT_TRUE(w.home.Activate(kBob, &result, [&] { return ++asked == 1; }).done());
  EXPECT_EQ(result, RebuildResult::kRebuilt);
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

TEST(Rebuild, NothingIsLeftOfOneWhoCannotBeLookedUp) {
  World w;
  RebuildResult result{};
  w.mysql_fails = Status::Later("mysql0", "away");
  EXPECT_FALSE(w.home.Activate(kBob, &result, [] { return true; }).done());
  EXPECT_FALSE(w.redis.timelines().contains(kBob));
}

TEST(Rebuild, ReadsOnlyAsManyAuthorsAsItNeeds) {
  World w;
  for (uint64_t author = 0; author < 1'000; ++author) {
    w.Follow(UserId{100 + author});
    w.Publish(UserId{100 + author}, 1 + author, 1 + static_cast<UnixMs>(author));
  }
  RebuildResult result;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
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
  RebuildResult result;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
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
  RebuildResult result;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
  const Page page = w.Visit(many);
  EXPECT_EQ(page.cached, many);
  EXPECT_LT(w.redis.timelines().at(kBob).floor, 1'000);
}

TEST(Rebuild, KeepsWhatIsPushedWhileItReads) {
  World w;
  w.Follow(UserId{100});
  w.Publish(UserId{100}, 7, 1'000);
  const RangeLayout layout(kRanges);
  w.redis.Do(ClaimRange{1, layout.RangeOf(kBob), 1});
  w.on_read = [&] {
    w.redis.Do(TimelineBatch{2, layout.RangeOf(kBob), 1, {{kBob, 1, 0}}, {{PostId{8}, 2'000}}, {}});
  };
  RebuildResult result;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
  EXPECT_TRUE(w.redis.timelines().at(kBob).items.contains(PostId{8}));
}

TEST(Rebuild, OfASampledReaderBeginsAgainAndHoldsTheSample) {
  World w;
  w.Follow(UserId{100});
  for (uint64_t post = 1; post <= 40; ++post)
    w.Publish(UserId{100}, post, static_cast<UnixMs>(post));
  w.mysql.SetOneIn(kBob, 4);
  EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt);
  EXPECT_EQ(w.redis.timelines().at(kBob).one_in, 4u);
  const auto everything = w.Everything();
  EXPECT_LT(everything.size(), 20u);
  EXPECT_EQ(w.Walk({.limit = 3}), everything) << "live down to the floor, and pulled below";
  w.redis.Expire(kBob);
  EXPECT_EQ(w.Walk({.limit = 3}), everything);
}

TEST(Rebuild, StartsAgainWhenTheReaderIsSampledOtherwiseMeanwhile) {
  World w;
  w.Follow(UserId{100});
  for (uint64_t post = 1; post <= 20; ++post)
    w.Publish(UserId{100}, post, static_cast<UnixMs>(post));
  Rebuild rebuild(
      kWindow, [&] { return std::to_string(++w.tokens); }, std::nullopt);
  const auto begin = [&] { return std::get<NeedBegin>(rebuild.needed()); };
  const std::string token = begin().token;
  EXPECT_EQ(begin().one_in, 1u);
  rebuild.OnBegun(w.redis.Begin(kBob, token, 1));
  rebuild.OnFollowees({UserId{100}}, {kBob, 2});
  EXPECT_EQ(begin().one_in, 2u);
  EXPECT_EQ(begin().token, token) << "its own key is not another's";
  rebuild.OnBegun(w.redis.Begin(kBob, token, 1, 2));
  rebuild.OnFollowees({UserId{100}}, {kBob, 8});
  EXPECT_EQ(begin().one_in, 8u) << "changed again";
  rebuild.OnBegun(w.redis.Begin(kBob, token, 1, 8));
  rebuild.OnFollowees({UserId{100}}, {kBob, 8});
  EXPECT_TRUE(std::holds_alternative<NeedLastAt>(rebuild.needed()));
}

TEST(Rebuild, GivesUpOnAReaderWhoIsSampledOtherwiseEachTime) {
  Rebuild rebuild(
      kWindow, [] { return "t"; }, std::nullopt, 2);
  for (uint32_t one_in : {2u, 4u}) {
    ASSERT_TRUE(std::holds_alternative<NeedBegin>(rebuild.needed()));
    rebuild.OnBegun(RebuildBegun::kCreated);
    rebuild.OnFollowees({}, {kBob, one_in});
  }
  EXPECT_EQ(rebuild.result(), RebuildResult::kGaveUp);
}

// As after a Redis that was rolled back to the key's first begin.
TEST(Rebuild, OfAnotherSampleThanItsKeyCollectsStartsAgain) {
  World w;
  w.redis.Begin(kBob, "t");
  EXPECT_FALSE(w.redis.Finish(kBob, "t", {}, kNoFloor, {}, 2));
  EXPECT_TRUE(w.redis.timelines().empty());
}

TEST(Rebuild, LeavesARebuildOfAnotherAlone) {
  World w;
  w.redis.Begin(kBob, "another");
  RebuildResult result;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
  EXPECT_EQ(result, RebuildResult::kBusy);
}

// The range is served, or was last, under another topic generation: its timelines are not ours.
TEST(Rebuild, IsNotBegunUnderAnotherGenerationAndTheReaderIsServedByPulls) {
  World w;
  w.Follow(UserId{100});
  w.Publish(UserId{100}, 7, 1'000);
  const Range range = RangeLayout(kRanges).RangeOf(kBob);
  w.redis.Do(ClaimRange{1, range, 1});
  w.redis.Do(ResetRange{2, range, 1, ResetRange::Timelines::kDrop, AppliedPosition{2, 0}});
  const Page page = w.Visit();
  EXPECT_EQ(page.items, (std::vector{Item{PostId{7}, 1'000}}));
  EXPECT_FALSE(page.live());
  EXPECT_TRUE(w.redis.timelines().empty());
  RebuildResult result;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
  EXPECT_EQ(result, RebuildResult::kRefused);
}

TEST(Rebuild, StartsAgainWhenItsTokenIsGoneAndGivesUpInTheEnd) {
  World w;
  w.Follow(UserId{100});
  w.Publish(UserId{100}, 7, 1'000);
  int lost_attempts = 2;
  w.on_read = [&] {
    if (w.tokens <= lost_attempts) w.redis.Expire(kBob);
  };
  RebuildResult result;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
  EXPECT_EQ(result, RebuildResult::kRebuilt);
  EXPECT_EQ(w.tokens, 3);

  w.redis.Expire(kBob);
  lost_attempts = 1'000;
  ASSERT_TRUE(w.home.Activate(kBob, &result).done());
  EXPECT_EQ(result, RebuildResult::kGaveUp);
}

// Else the reader would be served by pulls, and no other rebuild begun, until the key's time ends.
TEST(Rebuild, ThatCannotGoOnLeavesNothingBehind) {
  World w;
  w.Follow(UserId{100});
  w.Publish(UserId{100}, 7, 1'000);
  RebuildResult result{};
  w.mysql_fails = Status::Later("mysql_0", "away");
  EXPECT_TRUE(w.home.Activate(kBob, &result).later());
  w.mysql_fails = Status::Done();
  EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt);
}

TEST(Rebuild, EndsWithoutATimelineWhenWhatItReadWasNotTheTruth) {
  World w;
  w.Follow(UserId{100});
  w.Publish(UserId{100}, 7, 1'000);
  RebuildResult result{};
  w.confirm_fails = Status::Later("mysql_0", "read-only");
  EXPECT_TRUE(w.home.Activate(kBob, &result).later());
  w.confirm_fails = Status::Done();
  EXPECT_EQ(w.Activate(), RebuildResult::kRebuilt) << "nobody was faster";
}

// A rebuild that ends early has read, and confirms nothing. Then its connection closes.
struct AfterOneThatEndedEarly : World {
  AfterOneThatEndedEarly() {
    RebuildResult result{};
    EXPECT_TRUE(home.Activate(kBob, &result, [] { return false; }).done());
    EXPECT_EQ(result, RebuildResult::kNotAdmitted);
    EXPECT_TRUE(unconfirmed());
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
  w.on_read = [&] { w.redis.Do(TimelineBatch{2, range, 1, {{kBob, 0, 0, 1}}, {}, {}, {ann}}); };
  w.Activate();
  const auto& timeline = w.redis.timelines().at(kBob);
  EXPECT_EQ(timeline.marks, (std::set<UserId>{ann, ben}));
  EXPECT_EQ(timeline.items.size(), 1u) << "what is merged at read stands in no timeline";
}

// A pull that needs its first items; `last_at` of the authors 100, 101, ...
Pull AtItsItems(PullLimits limits, const std::vector<UnixMs>& last_at) {
  std::vector<UserId> authors;
  std::vector<AuthorLastAt> times;
  for (const UnixMs at : last_at) {
    authors.push_back(UserId{100 + authors.size()});
    times.push_back({authors.back(), at});
  }
  Pull pull(limits, {}, {}, Pulled::kAll, {});
  pull.OnFollowees(authors);
  pull.OnLastAt(times);
  return pull;
}

// Twenty authors who post about ten times a second, each at a pace of one's own; one has just
// posted.
TEST(Pull, OfASampledReaderTakesNoMoreReadsThanOfAnother) {
  World w;
  uint64_t post = 0;
  for (uint64_t author = 100; author < 120; ++author) {
    w.Follow(UserId{author});
    const auto pace = static_cast<UnixMs>(author);
    for (UnixMs at = 50'000 - (author > 100 ? pace : 0); at > 0; at -= pace) {
      w.Publish(UserId{author}, ++post, at);
    }
  }
  for (const uint32_t one_in : {1u, 4u, 64u}) {
    w.mysql.SetOneIn(kBob, one_in);
    w.reads = 0;
    EXPECT_EQ(w.Home({.limit = 20}).items.size(), 20u);
    EXPECT_EQ(w.reads, 1u) << "one in " << one_in;
  }
}

TEST(Pull, WhatIsHeldNarrowsTheSpan) {
  Pull pull = AtItsItems({.want = 2}, {1'000, 1'000});
  ASSERT_LT(std::get<NeedItems>(pull.needed()).span.above, 997);
  pull.OnItems(
      {{{PostId{3}, 1'000}, {PostId{2}, 999}, {PostId{1}, 998}}, {}, {PostsOf{UserId{101}}}});
  const auto need = std::get<NeedItems>(pull.needed());
  EXPECT_EQ(need.posts, std::vector<PostsOf>{{UserId{101}}});
  EXPECT_EQ(need.span.above, 997);
}

TEST(Pull, AnAuthorMetHalfWayIsReadOnFromThere) {
  Pull pull = AtItsItems({.want = 2}, {1'000});
  pull.OnItems({{{PostId{3}, 1'000}}, PostsOf{UserId{100}}, {}});
  ASSERT_FALSE(pull.done());
  const auto need = std::get<NeedItems>(pull.needed());
  EXPECT_EQ(need.posts, std::vector<PostsOf>{{UserId{100}}});
  ASSERT_TRUE(need.span.behind);
  EXPECT_EQ(need.span.behind->post, PostId{3});
}

TEST(Pull, WhoPostedRightAboveASpansEndIsAsked) {
  const UnixMs above = *std::get<NeedItems>(AtItsItems({.want = 2}, {1'000}).needed()).span.above;
  Pull pull = AtItsItems({.want = 2}, {1'000, above + 1});
  const auto need = std::get<NeedItems>(pull.needed());
  ASSERT_EQ(need.span.above, above);
  EXPECT_EQ(need.posts.size(), 2u);
}

// Older items may lie below the span that was read.
TEST(Pull, PromisesNoMoreThanWasRead) {
  Pull pull = AtItsItems({.want = 2, .spare = 5}, {1'000});
  const auto above = std::get<NeedItems>(pull.needed()).span.above;
  pull.OnItems({{{PostId{3}, 1'000}, {PostId{2}, 1'000}, {PostId{1}, 1'000}}, {}, {}});
  ASSERT_TRUE(pull.done());
  EXPECT_EQ(pull.items().size(), 3u);
  EXPECT_EQ(pull.floor(), above);
}

TEST(Pull, OfTooManyItemsOfOneMomentTheFloorStandsAmongThem) {
  Pull pull = AtItsItems({.want = 2, .spare = 1}, {1'000});
  pull.OnItems(
      {{{PostId{4}, 1'000}, {PostId{3}, 1'000}, {PostId{2}, 1'000}, {PostId{1}, 1'000}}, {}, {}});
  ASSERT_TRUE(pull.done());
  EXPECT_EQ(pull.items().size(), 2u);
  EXPECT_EQ(pull.floor(), 1'000);
}

}  // namespace
}  // namespace fanline::timeline
