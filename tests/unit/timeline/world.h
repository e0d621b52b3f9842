// The world of the reading side's tests: Bob, the users he follows, and a Reader on in-memory
// stores.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/fakes/fake_reader_stores.h"
#include "timeline/reader.h"

namespace fanline::timeline {

inline constexpr uint32_t kRanges = 2;
inline constexpr WindowLimits kWindow{6, 26};
inline constexpr UserId kBob{1};

struct World : fakes::FakeReaderStores {
  explicit World(bool own = false, const ShardMap& map = OneShard(),
                 const WindowLimits& window = kWindow)
      : FakeReaderStores(RangeLayout(kRanges), window, map), own_posts(own), limits(window) {}

  void Follow(UserId author) { mysql.WriteForward(kBob, author, true); }
  void Publish(UserId author, uint64_t post, UnixMs at) {
    mysql.Do(ApplyEvents{1, 0, {{EventKind::kPublished, PostId{post}, author, at, 0}}});
  }
  // Publishes a post that is merged at read; the author is marked from then on.
  void PublishMerged(UserId author, uint64_t post, UnixMs at) {
    mysql.SetMode(author, true);
    Publish(author, post, at);
    mysql.SetMode(author, false);
  }
  // Brute force: everything bob should see, newest first.
  std::vector<Item> Everything() {
    std::vector<PostsOf> posts;
    std::vector<UserId> authors = mysql.Followees(kBob);
    if (own_posts) authors.push_back(kBob);
    for (const UserId author : authors) {
      for (const bool pushed : {true, false}) posts.push_back({author, pushed});
    }
    auto items = mysql.Items(posts, {}, UINT32_MAX).items;
    std::sort(items.begin(), items.end(), IsNewer);
    return items;
  }

  // A page, which must exist.
  Page Home(const PageQuery& query) {
    Page page;
    EXPECT_TRUE(home.Home(kBob, query, &page).done());
    return page;
  }
  // The same for a returning reader: a missing timeline is made live as well.
  Page Visit(uint32_t limit = 10) {
    Page page = Home({.limit = limit});
    if (!page.live()) Activate();
    return page;
  }
  RebuildResult Activate() {
    RebuildResult result{};
    EXPECT_TRUE(home.Activate(kBob, &result).done());
    return result;
  }
  // All pages of the query: from the newest on, or between its places.
  std::vector<Item> Walk(PageQuery query) {
    std::vector<Item> walked;
    for (int pages = 0; pages < 1'000; ++pages) {
      const Page page = Home(query);
      EXPECT_LE(page.items.size(), query.limit);
      walked.insert(walked.end(), page.items.begin(), page.items.end());
      if (!page.next) return walked;
      query.older_than = page.next;
    }
    ADD_FAILURE() << "the walk does not end";
    return walked;
  }

  const bool own_posts;
  const WindowLimits limits;
  int tokens = 0;
  Reader home{*this, *this, limits, [this] { return std::to_string(++tokens); }, own_posts};
};

// Bob follows an author of one post.
struct BobsWorld : World {
  BobsWorld() {
    Follow(UserId{100});
    Publish(UserId{100}, 7, 1'000);
  }
};

}  // namespace fanline::timeline
