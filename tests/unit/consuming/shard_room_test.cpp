#include "fanline/consuming/shard_room.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

constexpr size_t kManyJobs = 10'000;

Record Of(size_t bytes) {
  Record record;
  record.value.assign(bytes, 'x');
  return record;
}

TEST(ShardRoom, WhatWaitsForAShardThatIsAwayIsNotUnderWay) {
  ShardRoom room(2, kManyJobs, 1 << 20);
  for (int i = 0; i < 5; ++i) room.Took(0, Of(10));
  room.Took(1, Of(10));
  EXPECT_EQ(room.parked(), 0u);
  room.Answered(0, true);
  EXPECT_EQ(room.parked(), 5u);
  room.Took(0, Of(10));
  EXPECT_EQ(room.parked(), 6u);
}

// At full load there is always something to park: a shard that is back must not stay parked.
TEST(ShardRoom, OfAShardThatIsBackOnlyTheBacklogIsParkedHoweverManyJobsCome) {
  ShardRoom room(1, kManyJobs, 1 << 20);
  constexpr size_t kBacklog = 1'000;
  for (size_t i = 0; i < kBacklog; ++i) room.Took(0, Of(10));
  room.Answered(0, true);
  room.Answered(0, false);
  for (size_t left = kBacklog; left > 0; --left) {
    ASSERT_EQ(room.parked(), left);
    room.Took(0, Of(10));  // as many come as go
    room.Finished(0, Of(10));
  }
  EXPECT_EQ(room.parked(), 0u);
  room.Answered(0, true);
  EXPECT_EQ(room.parked(), kBacklog) << "away again: all that it has";
}

TEST(ShardRoom, TheBytesOfEachShardsJobsAreBounded) {
  ShardRoom room(2, kManyJobs, 20'000);
  for (int i = 0; i < 4; ++i) room.Took(0, Of(4'000));
  room.Took(1, Of(4'000));
  EXPECT_FALSE(room.full()) << "each shard has its own";
  room.Took(0, Of(4'000));
  EXPECT_TRUE(room.full());
  for (int i = 0; i < 2; ++i) room.Finished(0, Of(4'000));
  EXPECT_FALSE(room.roomy());
  room.Finished(0, Of(4'000));
  EXPECT_TRUE(room.roomy());
}

TEST(ShardRoom, OnlyWhatFilledItsShareKeepsTheConsumerWaiting) {
  ShardRoom room(2, kManyJobs, 20'000);
  room.Took(0, Of(12'000));
  room.Answered(0, true);
  room.Took(1, Of(20'000));
  EXPECT_TRUE(room.full());
  room.Finished(1, Of(20'000));
  EXPECT_TRUE(room.roomy()) << "the shard that is away holds more than half of its own";
}

TEST(ShardRoom, TheBytesOfRecordsWithoutAShardAreBoundedToo) {
  ShardRoom room(1, kManyJobs, 20'000);
  room.Took(std::nullopt, Of(20'000));
  EXPECT_TRUE(room.full());
  EXPECT_EQ(room.jobs(), 0u);
  room.Finished(std::nullopt, Of(20'000));
  EXPECT_TRUE(room.roomy());
}

// A shard that hangs answers neither that it is there nor that it is not.
TEST(ShardRoom, WhatAShardHasBeyondItsShareIsParkedAndItsMemoryIsBounded) {
  ShardRoom room(2, 9, 20'000);
  for (int i = 0; i < 5; ++i) room.Took(0, Of(3'000));
  EXPECT_EQ(room.parked(), 0u) << "half of nine, rounded up";
  EXPECT_FALSE(room.full()) << "under way";
  room.Took(1, Of(10));
  room.Took(0, Of(3'000));
  EXPECT_EQ(room.parked(), 1u);
  EXPECT_TRUE(room.full());
  room.Answered(0, true);
  EXPECT_EQ(room.parked(), 6u);
  room.Answered(0, false);
  for (int i = 0; i < 6; ++i) room.Finished(0, Of(3'000));
  EXPECT_EQ(room.parked(), 0u);
  EXPECT_TRUE(room.roomy());
}

TEST(ShardRoom, WorksThatFinishInAnotherOrderLeaveNothingBehind) {
  ShardRoom room(1, kManyJobs, 5'000);
  room.Took(0, Of(10));
  room.Answered(0, true);
  room.Answered(0, false);
  room.Took(0, Of(9'000));
  room.Finished(0, Of(9'000));  // a later one, and larger
  EXPECT_EQ(room.parked(), 0u);
  EXPECT_TRUE(room.roomy());
  room.Finished(0, Of(10));
  room.Took(0, Of(100));
  room.Answered(0, true);
  EXPECT_EQ(room.parked(), 1u);
  EXPECT_FALSE(room.full());
}

}  // namespace
}  // namespace fanline
