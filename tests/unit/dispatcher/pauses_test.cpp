// What is under way is bounded: beyond the bounds a partition pauses.
#include <gtest/gtest.h>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

TEST(Dispatcher, PausesWhileTooMuchIsUnderWay) {
  Limits limits;
  limits.events_open = 4;
  World w(limits);
  w.Assign();
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

TEST(Dispatcher, PausesWhenTheSpanOfAPartitionReachesItsBound) {
  Limits limits;
  limits.events_span_per_partition = 4;
  World w(limits);
  w.Assign();
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}));
  w.Step();
  EXPECT_EQ(w.paused, 0u);
  w.Give(Published(PostId{4}));
  w.Step();
  EXPECT_EQ(w.paused, 1u);
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
}

// The partition flows from its seek on, whatever was ordered before.
TEST(Dispatcher, APartitionThatIsAssignedAgainStartsAnew) {
  Limits limits;
  limits.events_span_per_partition = 2;
  World w(limits);
  w.Assign();
  for (uint64_t post = 1; post <= 2; ++post) w.Give(Published(PostId{post}));
  w.Step();
  ASSERT_EQ(w.paused, 1u);
  w.Assign();
  EXPECT_EQ(w.resumed, 0u) << "the seek did that";
  w.next_offset = 0;
  for (uint64_t post = 1; post <= 2; ++post) w.Give(Published(PostId{post}));
  w.Step();
  EXPECT_EQ(w.paused, 2u);
}

// They have no shard, and a bound of their own.
TEST(Dispatcher, PausesWhileTooManyLettersAreUnderWay) {
  Limits limits;
  limits.events_open = 4;
  World w(limits);
  w.Assign();
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
