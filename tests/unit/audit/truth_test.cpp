// Compares the audit's model with one so simple that it is obviously right.
#include "audit/truth.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

namespace fanline::audit {
namespace {

using ::testing::ElementsAre;

struct Post {
  Item item;
  bool pushed = true;
};

// A small graph, spread over shards by nothing in particular.
struct World {
  std::set<std::pair<UserId, UserId>> edges;
  std::vector<Post> posts;
  std::vector<UserId> readers;  // those the audit asks about
  std::mt19937_64 random;
  bool own_posts = false;

  explicit World(uint64_t seed) : random(seed) {
    const uint64_t users = 2 + random() % 20;
    for (uint64_t user = 1; user <= users; ++user) {
      if (random() % 3 != 0) readers.push_back(UserId{user});
    }
    own_posts = seed % 2 == 1;
    for (uint64_t i = random() % 80; i > 0; --i) edges.emplace(Any(users), Any(users));
    for (uint64_t i = random() % 120; i > 0; --i) {
      // Few distinct times, so that many are equal.
      posts.push_back(
          {{PostId{i}, static_cast<UnixMs>(1 + random() % 30), Any(users)}, random() % 4 != 0});
      if (random() % 3 == 0) posts.back().item.original = {PostId{1}, UserId{1}};
    }
  }
  UserId Any(uint64_t users) { return UserId{1 + random() % users}; }

  TimelineTruth Truth(size_t shards) {
    std::vector<TimelineTruth::Part> parts(shards, TimelineTruth::Part(readers));
    // Some twice, and in no order.
    std::vector<std::pair<UserId, UserId>> all(edges.begin(), edges.end());
    for (const auto& edge : edges) {
      if (random() % 4 == 0) all.push_back(edge);
    }
    std::shuffle(all.begin(), all.end(), random);
    for (const auto& [reader, author] : all) {
      parts[random() % shards].AddEdge(reader, author, WantsReposts(reader, author));
    }
    for (const Post& post : posts) {
      parts[random() % shards].AddPost(post.item, post.pushed);
    }
    return TimelineTruth(readers, std::move(parts), own_posts);
  }

  static bool WantsReposts(UserId reader, UserId author) {
    return reader == author || (Raw(reader) + Raw(author)) % 3 != 0;
  }

  std::vector<Item> Wanted(UserId reader, Floor floor) const {
    std::vector<Item> wanted;
    for (const Post& post : posts) {
      const bool by_edge = edges.count({reader, post.item.author}) == 1 &&
                           (!post.item.original || WantsReposts(reader, post.item.author));
      const bool followed = by_edge || (own_posts && reader == post.item.author);
      if (followed && post.item.created_at > floor) wanted.push_back(post.item);
    }
    std::sort(wanted.begin(), wanted.end(), TimelineTruth::Before);
    return wanted;
  }
};

TEST(TimelineTruth, ExpectsTheVisiblePostsOfEverybodyFollowedNewerThanTheFloor) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    World world(seed);
    const TimelineTruth truth = world.Truth(1 + seed % 3);
    for (size_t i = 0; i < world.readers.size(); ++i) {
      for (const Floor floor : {Floor{0}, Floor{7}, Floor{15}, Floor{30}}) {
        std::vector<Item> expected{{PostId{999}, 999}};  // is overwritten
        truth.Expected(i, floor, &expected);
        EXPECT_EQ(expected, world.Wanted(world.readers[i], floor))
            << "seed " << seed << ", reader " << i << ", floor " << floor;
      }
    }
  }
}

TEST(TimelineTruth, KnowsWhichPostsOfAnAuthorAreMergedAtRead) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    World world(seed);
    const TimelineTruth truth = world.Truth(1 + seed % 3);
    for (uint64_t author = 1; author <= 22; ++author) {
      std::vector<Item> wanted, merged;
      for (const Post& post : world.posts) {
        if (post.item.author != UserId{author} || post.pushed || post.item.created_at <= 7)
          continue;
        wanted.push_back(post.item);
      }
      std::sort(wanted.begin(), wanted.end(), TimelineTruth::Before);
      truth.Merged(UserId{author}, true, 7, &merged);
      EXPECT_EQ(merged, wanted) << "seed " << seed << ", author " << author;
      merged.clear();
      truth.Merged(UserId{author}, false, 7, &merged);
      std::erase_if(wanted, [](const Item& item) { return item.original; });
      EXPECT_EQ(merged, wanted) << "seed " << seed << ", author " << author;
    }
  }
}

TEST(Differences, AreWhatOnlyOneSideHas) {
  const Item a{PostId{1}, 30}, b{PostId{2}, 20}, c{PostId{3}, 10};
  std::vector<Item> missing, extra;
  Differences(std::vector{a, b}, std::vector{b, c}, &missing, &extra);
  EXPECT_THAT(missing, ElementsAre(a));
  EXPECT_THAT(extra, ElementsAre(c));
}

TEST(Differences, APostAtAnotherTimeIsBothMissingAndExtra) {
  std::vector<Item> missing, extra;
  Differences(std::vector{Item{PostId{1}, 30}}, std::vector{Item{PostId{1}, 31}}, &missing, &extra);
  EXPECT_THAT(missing, ElementsAre(Item{PostId{1}, 30}));
  EXPECT_THAT(extra, ElementsAre(Item{PostId{1}, 31}));
}

}  // namespace
}  // namespace fanline::audit
