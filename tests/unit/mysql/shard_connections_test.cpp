#include "backends/mysql/sql/shard_connections.h"

#include <gtest/gtest.h>

namespace fanline::mysql {
namespace {

TEST(ShardConnections, AShardKnownToBeAwayIsNotAsked) {
  Config config;
  config.shards = {{"127.0.0.1", 1, "nobody"}, {"127.0.0.1", 1, "listens"}};
  ShardConnections connections(config, {}, [](Shard shard) { return shard == 1; });
  const auto never = [](Connection&) { FAIL(); };
  const Status away = connections.Run(1, never);
  EXPECT_TRUE(away.later());
  EXPECT_EQ(away.resource, "mysql_1");
  EXPECT_EQ(away.message, "known to be away");
  const Status asked = connections.Run(0, never);
  EXPECT_TRUE(asked.later());
  EXPECT_NE(asked.message, "known to be away");
}

// Why, in a number too: by it operators are told a wrong password from a server that is away.
TEST(ShardConnections, WithinTheBackOffAShardFailsAsItDid) {
  Config config;
  config.shards = {{"127.0.0.1", 1, "nobody listens"}};
  config.reopen = {.first = std::chrono::hours(1), .most = std::chrono::hours(1)};
  ShardConnections connections(config);
  const auto never = [](Connection&) { FAIL(); };
  const Status first = connections.Run(0, never), second = connections.Run(0, never);
  EXPECT_TRUE(first.message.starts_with("MariaDB error 2002: ")) << first.message;
  EXPECT_EQ(second.message, first.message);
}

}  // namespace
}  // namespace fanline::mysql
