#include "fanline/consuming/shard_shares.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

TEST(ShardShares, WhatAShardHasBeyondItsShareIsHeldUp) {
  ShardShares shares(2, 7);
  shares.of(0).jobs = 4;
  EXPECT_EQ(shares.held_up(), 0u) << "half of seven, rounded up";
  shares.of(0).jobs = 6;
  EXPECT_EQ(shares.held_up(), 2u);
  shares.of(0).parked = 1;
  EXPECT_EQ(shares.held_up(), 2u) << "it is one of these";
  shares.of(0).parked = 5;
  EXPECT_EQ(shares.held_up(), 5u);
  shares.of(1).jobs = 3;
  EXPECT_EQ(shares.held_up(), 5u);
  EXPECT_EQ(shares.jobs(), 9u);
}

TEST(ShardShares, AreFullOnceEachShardHasItsOwn) {
  ShardShares shares(3, 30);
  shares.of(0).jobs = 100;
  shares.of(1).jobs = 10;
  shares.of(2).jobs = 9;
  EXPECT_FALSE(shares.full());
  shares.of(2).jobs = 10;
  EXPECT_TRUE(shares.full());
  shares.of(0).parked = 91;
  EXPECT_FALSE(shares.full()) << "nine of a hundred can be worked on";
}

// Whatever the others do: they may hang.
TEST(ShardShares, HaveRoomOnceOneShardHasHalfOfItsOwn) {
  ShardShares shares(3, 30);
  for (const Shard shard : {0, 1, 2}) shares.of(shard).jobs = 10;
  shares.of(1).jobs = 6;
  EXPECT_FALSE(shares.roomy());
  shares.of(2).jobs = 5;
  EXPECT_TRUE(shares.roomy());
}

}  // namespace
}  // namespace fanline
