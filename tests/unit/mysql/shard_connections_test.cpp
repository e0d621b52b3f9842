#include "backends/mysql/sql/shard_connections.h"

#include <gtest/gtest.h>

namespace fanline::mysql {
namespace {

TEST(ShardConnections, WithinTheBackOffAShardFailsAsItDid) {
  Config config;
  config.shards = {{"127.0.0.1", 1, "nobody listens"}};
  config.reopen = {.first = std::chrono::hours(1), .most = std::chrono::hours(1)};
  ShardConnections connections(config);
  const auto never = [](Connection&) { FAIL(); };
  const Status first = connections.Run(0, never), second = connections.Run(0, never);
  EXPECT_TRUE(first.message.starts_with("SQL error 2002: ")) << first.message;
  EXPECT_EQ(second.message, first.message);
}

}  // namespace
}  // namespace fanline::mysql
