// Walks over the pages of a home timeline, pulled or live.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace fanline::timeline
