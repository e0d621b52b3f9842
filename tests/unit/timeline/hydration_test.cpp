// Pages joined with bodies: what leaves them, how they are refilled, and where they go on.
#include "timeline/hydration.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_post_bodies.h"
#include "tests/unit/seeded.h"

namespace fanline::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Item ItemOf(uint64_t post) { return {PostId{post}, static_cast<UnixMs>(post)}; }

// HydrationWorld: a timeline of posts 1 to `posts`, and the table of their bodies.
struct HydrationWorld {
  explicit HydrationWorld(uint64_t posts) {
    for (uint64_t post = posts; post > 0; --post) {
      timeline.push_back(ItemOf(post));
      bodies.Put(post, "text of " + std::to_string(post));
    }
  }
  void Gone(uint64_t from, uint64_t to) {
    for (uint64_t post = from; post <= to; ++post) bodies.rows.erase(PostId{post});
  }
  std::vector<uint64_t> There() const {
    std::vector<uint64_t> there;
    for (const Item& item : timeline) {
      if (bodies.rows.contains(item.post)) there.push_back(Raw(item.post));
    }
    return there;
  }

  Page Read(const PageQuery& query) {
    ++pages_read;
    std::vector<Item> items;
    for (const Item& item : timeline) {
      const auto& place = query.older_than;
      if (place && !IsNewer({place->post, place->created_at}, item)) continue;
      items.push_back(item);
      if (items.size() > query.limit) break;
    }
    Page page;
    page.items = std::move(items);
    if (page.items.size() > query.limit) {
      page.items.resize(query.limit);
      page.next = PlaceOf(page.items.back());
    }
    return page;
  }

  Page Visit(const PageQuery& query) {
    Hydration hydration(query);
    pages_read = 0;
    while (!hydration.done()) {
      const HydrationNeed need = hydration.needed();
      if (const auto* page = std::get_if<NeedPage>(&need)) {
        if (pages_read > 0 && refills_fail) {
          hydration.OnNoPage();
        } else {
          hydration.OnPage(Read(page->query));
        }
        continue;
      }
      BodiesRead read;
      const Status status = bodies.Read(std::get<NeedBodies>(need).posts, &read);
      status.done() ? hydration.OnBodies(std::move(read)) : hydration.OnNoBodies();
    }
    const Page page = hydration.Take(&shown);
    EXPECT_LE(page.items.size(), query.limit);
    EXPECT_EQ(shown.of_items.size(), shown.available ? page.items.size() : 0);
    return page;
  }
  static std::vector<uint64_t> Ids(const Page& page) {
    std::vector<uint64_t> ids;
    for (const Item& item : page.items) ids.push_back(Raw(item.post));
    return ids;
  }
  std::vector<uint64_t> Walk(PageQuery query) {
    std::vector<uint64_t> walked;
    for (int pages = 0; pages < 1'000; ++pages) {
      const Page page = Visit(query);
      for (const uint64_t id : Ids(page)) walked.push_back(id);
      if (!page.next) return walked;
      query.older_than = page.next;
    }
    ADD_FAILURE() << "the walk does not end";
    return walked;
  }

  std::vector<Item> timeline;
  fakes::FakePostBodies bodies;
  bool refills_fail = false;
  int pages_read = 0;
  Bodies shown;
};

TEST(Hydration, EachPostComesWithItsBody) {
  HydrationWorld w(3);
  const Page page = w.Visit({.limit = 2});
  EXPECT_THAT(HydrationWorld::Ids(page), ElementsAre(3, 2));
  EXPECT_THAT(w.shown.of_items, ElementsAre(BodyValues{"text of 3"}, BodyValues{"text of 2"}));
  EXPECT_TRUE(page.next);
  EXPECT_EQ(w.pages_read, 1);
}

TEST(Hydration, WhatIsGoneLeavesThePageWhichIsRefilled) {
  HydrationWorld w(10);
  w.Gone(8, 9);
  const Page page = w.Visit({.limit = 4});
  EXPECT_THAT(HydrationWorld::Ids(page), ElementsAre(10, 7, 6, 5));
  EXPECT_THAT(w.shown.of_items.back(), ElementsAre(BodyValue("text of 5")));
  EXPECT_EQ(w.shown.gone, 2u);
  EXPECT_THAT(w.bodies.asked.back(), ElementsAre(PostId{6}, PostId{5}))
      << "no more than is missing";
  EXPECT_EQ(page.next->post, PostId{5});
}

TEST(Hydration, RefillsAreBoundedAndThePageGoesOnBehindWhatIsGone) {
  HydrationWorld w(100);
  w.Gone(11, 100);
  const Page page = w.Visit({.limit = 2});
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_EQ(w.pages_read, 1 + static_cast<int>(Hydration::kRefills));
  EXPECT_EQ(page.next->post, PostId{91});
  EXPECT_EQ(w.Walk({.limit = 2}), w.There());
}

TEST(Hydration, APageBeginsWhereItsNewestPostIsAlsoWhenThatIsGone) {
  HydrationWorld w(5);
  w.Gone(5, 5);
  w.Visit({.limit = 2});
  EXPECT_EQ(w.shown.newest->post, PostId{5});
}

TEST(Hydration, WithoutTheDatabaseThePageStaysAsItWas) {
  HydrationWorld w(5);
  w.Gone(4, 4);
  w.bodies.fails = Status::Later("bodies", "away");
  const Page page = w.Visit({.limit = 3});
  EXPECT_FALSE(w.shown.available);
  EXPECT_THAT(HydrationWorld::Ids(page), ElementsAre(5, 4, 3));
  EXPECT_THAT(w.shown.of_items, IsEmpty());
  EXPECT_EQ(page.next->post, PostId{3});
  EXPECT_EQ(w.shown.newest->post, PostId{5});
}

TEST(Hydration, ARefillThatFailsEndsThePageBehindWhatWasLookedUp) {
  HydrationWorld w(10);
  w.Gone(9, 9);
  w.refills_fail = true;
  Page page = w.Visit({.limit = 3});
  EXPECT_THAT(HydrationWorld::Ids(page), ElementsAre(10, 8));
  EXPECT_EQ(page.next->post, PostId{8});

  w.refills_fail = false;
  w.bodies.asked.clear();
  w.bodies.on_read = [&] {
    if (w.bodies.asked.size() == 2) w.bodies.fails = Status::Later("bodies", "away");
  };
  page = w.Visit({.limit = 3});
  EXPECT_TRUE(w.shown.available) << "what is shown has its bodies";
  EXPECT_THAT(HydrationWorld::Ids(page), ElementsAre(10, 8));
  EXPECT_EQ(page.next->post, PostId{8});
}

TEST(Hydration, BodiesThatAreTooLargeForOnePageEndIt) {
  HydrationWorld w(10);
  w.bodies.most_at_once = 2;
  const Page page = w.Visit({.limit = 5});
  EXPECT_THAT(HydrationWorld::Ids(page), ElementsAre(10, 9));
  EXPECT_EQ(page.next->post, PostId{9});
  EXPECT_EQ(w.Walk({.limit = 5}), w.There());
}

TEST(Hydration, AnEmptyPageAsksForNoBodies) {
  HydrationWorld w(0);
  const Page page = w.Visit({.limit = 5});
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_FALSE(page.next);
  EXPECT_TRUE(w.shown.available);
  EXPECT_THAT(w.bodies.asked, IsEmpty());
}

TEST(Hydration, WalksOverRandomHolesSkipNothingAndRepeatNothing) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 300; ++round) {
    HydrationWorld w(random.Below(60));
    for (const Item& item : w.timeline) {
      if (random.Below(3) > 0) w.bodies.rows.erase(item.post);
    }
    w.bodies.most_at_once = 1 + random.Below(20);
    EXPECT_EQ(w.Walk({.limit = 1 + static_cast<uint32_t>(random.Below(12))}), w.There());
  }
}

}  // namespace
}  // namespace fanline::timeline
