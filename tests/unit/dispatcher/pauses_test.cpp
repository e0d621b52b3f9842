// What is under way is bounded: beyond the bounds a partition pauses.
#include <gtest/gtest.h>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

TEST(Dispatcher, PausesWhileTooMuchIsUnderWay) {
  World w(Open(4));
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}, AuthorOn(0)));
  w.Give(Published(PostId{4}, AuthorOn(1)));
  w.Step();
  EXPECT_EQ(w.paused, 0u) << "one of them is beyond its shard's share";
  w.Give(Published(PostId{5}, AuthorOn(1)));
  w.Step();
  EXPECT_EQ(w.paused, 1u);
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
}

// They have no shard, and a bound of their own.
TEST(Dispatcher, PausesWhileTooManyLettersAreUnderWay) {
  World w(Open(4));
  for (int i = 0; i < 3; ++i) w.GiveBytes("no event");
  w.Give(Published());
  w.Step();
  EXPECT_EQ(w.paused, 0u);
  w.GiveBytes("no event");
  w.Step();
  EXPECT_EQ(w.paused, 1u);
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
  EXPECT_EQ(w.letters.size(), 4u);
}

}  // namespace
}  // namespace fanline::dispatcher
