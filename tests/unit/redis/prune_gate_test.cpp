#include "backends/redis/prune_gate.h"

#include <gtest/gtest.h>

namespace fanline::redis {
namespace {

TEST(RedisPruneGate, AsksWhileNothingIsKnown) { EXPECT_TRUE(PruneGate().open()); }

TEST(RedisPruneGate, ClosesWhereNearlyAllAreLiveAndOpensWhereManyAreNot) {
  PruneGate gate;
  for (int call = 0; call < 20; ++call) gate.Note(500, 10);
  EXPECT_FALSE(gate.open());
  for (int call = 0; call < 20; ++call) gate.Note(500, 100);
  EXPECT_TRUE(gate.open());
}

TEST(RedisPruneGate, AFewReadersDoNotSwingIt) {
  PruneGate gate;
  for (int call = 0; call < 20; ++call) gate.Note(500, 0);
  gate.Note(20, 20);
  EXPECT_FALSE(gate.open());
  gate.Note(0, 0);
  EXPECT_FALSE(gate.open());
}

}  // namespace
}  // namespace fanline::redis
