#include "daemon/options/nearest_name.h"

#include <gtest/gtest.h>

namespace fanline::daemon {
namespace {

const std::vector<std::string> kKnown{"kafka-brokers", "redis", "window"};

TEST(NearestName, FindsWhatIsAFewLettersAway) {
  EXPECT_EQ(NearestName("kafka_broker", kKnown), "kafka-brokers");
  EXPECT_EQ(NearestName("windwo", kKnown), "window");
}

TEST(NearestName, DoesNotGuessWhenNothingIsNear) {
  EXPECT_EQ(NearestName("shards", kKnown), std::nullopt);
  EXPECT_EQ(NearestName("x", {}), std::nullopt);
  EXPECT_EQ(DidYouMean("shards", kKnown), "");
}

}  // namespace
}  // namespace fanline::daemon
