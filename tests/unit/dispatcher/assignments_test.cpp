// Partitions come, go and come back; the work of one assignment is not that of the next.
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

TEST(Dispatcher, ALogThatLostItsTailIsReadFromItsFirstRecord) {
  World w;
  w.Assign(0, 50, 45);
  EXPECT_EQ(w.sought, 0);
  EXPECT_EQ(w.committed, 0) << "or whoever starts next reports it again";
  w.Give(Published());
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, DoesNotCommitForAPartitionItLost) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  w.RunUntilIdle();
  EXPECT_LE(w.committed, 0);
  EXPECT_TRUE(w.dispatcher.drained());
}

TEST(Dispatcher, WorkOfAnEarlierAssignmentFinishesNothingOfThisOne) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  const auto earlier = std::exchange(w.appends, {});
  ASSERT_EQ(earlier.size(), kRanges);
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Assign();
  w.next_offset = 0;
  w.Give(Published());
  for (const auto& append : earlier) w.inbox.emplace_back(HintsAppended{append.id, {}});
  w.Step();
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_LE(w.committed, 0);
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, TakesNothingThatWasReadInFrontOfItsSeek) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 3, 0, 1'000'000});
  w.next_offset = 7;
  w.Give(Published());
  w.Step();
  EXPECT_TRUE(w.transactions.empty());
  w.next_offset = 3;
  w.Give(Published());
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 4);
}

}  // namespace
}  // namespace fanline::dispatcher
