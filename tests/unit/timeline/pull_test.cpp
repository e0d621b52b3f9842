// What a pull reads, and how far back.
#include <gtest/gtest.h>

#include "tests/unit/timeline/world.h"

namespace fanline::timeline {
namespace {

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
TEST(Pull, OfAuthorsOfManyPacesTakesOneRead) {
  World w;
  uint64_t post = 0;
  for (uint64_t author = 100; author < 120; ++author) {
    w.Follow(UserId{author});
    const auto pace = static_cast<UnixMs>(author);
    for (UnixMs at = 50'000 - (author > 100 ? pace : 0); at > 0; at -= pace) {
      w.Publish(UserId{author}, ++post, at);
    }
  }
  w.reads = 0;
  EXPECT_EQ(w.Home({.limit = 20}).items.size(), 20u);
  EXPECT_EQ(w.reads, 1u);
}

// Their last posts say nothing of how long ago the others were.
TEST(Pull, OfAuthorsOfFewPostsThatAreFarApartTakesThreeReads) {
  World w;
  for (uint64_t post = 1; post <= 10; ++post) {
    w.Publish(UserId{100}, post, static_cast<UnixMs>(1'000'000'000) << post);
  }
  w.Follow(UserId{100});
  w.reads = 0;
  EXPECT_EQ(w.Home({.limit = 50}).items.size(), 10u);
  EXPECT_EQ(w.reads, 3u);
}

// For the fifty items before that place.
void ExpectReads(World& w, const Position& before, size_t most) {
  w.reads = 0;
  const Page page = w.Home({.limit = 50, .older_than = before});
  EXPECT_LE(w.reads, most);
  std::vector<Item> expected = w.Everything();
  std::erase_if(expected, [&](const Item& item) { return item.created_at >= before.created_at; });
  expected.resize(50);
  EXPECT_EQ(page.items, expected);
}

// Ids rise with time in many installations: the authors met first are those who left first.
TEST(Pull, BehindManyAuthorsWhoLeftLongAgoTakesFewReads) {
  World w;
  constexpr uint64_t kAuthors = 1'000;
  for (uint64_t author = 1; author <= kAuthors; ++author) {
    w.Follow(UserId{100 + author});
    for (uint64_t post = 1; post <= 20; ++post) {
      w.Publish(UserId{100 + author}, 100 * author + post,
                static_cast<UnixMs>(1'000'000 * author + 10'000 * post));
    }
  }
  ExpectReads(w, {UnixMs{1'000'000} * kAuthors / 2, PostId{1}}, 16);
}

// The authors' last posts lie far apart, so the first span takes in all that is deep below.
TEST(Pull, OfManyAuthorsWhoWereBusyLongAgoTakesFewReads) {
  World w;
  constexpr UnixMs kAuthors = 1'000;
  for (UnixMs author = 1; author <= kAuthors; ++author) {
    const UserId id{100 + static_cast<uint64_t>(author)};
    w.Follow(id);
    uint64_t post = 100 * Raw(id);
    for (UnixMs each = 1; each <= 20; ++each) w.Publish(id, ++post, 1'000 * author + 10 * each);
    w.Publish(id, ++post, 1'000'000'000 + 10'000'000 * author);
  }
  ExpectReads(w, {2'000 * kAuthors, PostId{1}}, 30);  // of a hundred
}

// Whoever has so many narrows the span for the others.
TEST(Pull, OfOneAuthorWhoHadABurstTakesFewReads) {
  World w;
  constexpr UnixMs kNow = 1'000'000'000;
  w.Follow(UserId{100});
  w.Publish(UserId{100}, 1, kNow);
  for (uint64_t post = 2; post <= 302; ++post) {
    w.Publish(UserId{100}, post, kNow - 600'000 - 200 * static_cast<UnixMs>(post));
  }
  for (uint64_t i = 1; i < 200; ++i) {
    w.Follow(UserId{100 + i});
    w.Publish(UserId{100 + i}, 1'000 + i, kNow - 18'000 * static_cast<UnixMs>(i));
  }
  w.reads = 0;
  EXPECT_EQ(w.Home({.limit = 50}).items.size(), 50u);
  EXPECT_LE(w.reads, 3u);
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
