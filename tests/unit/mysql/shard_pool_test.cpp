// A shard that cannot be reached. What needs a server is in tests/integration/mysql/sql.
#include "backends/mysql/sql/shard_pool.h"

#include <gtest/gtest.h>

#include <future>
#include <string_view>

namespace fanline::mysql {
namespace {

struct Asker {
  static constexpr const char* kName = "asker";
  static void ServeBatch(Connection&, std::vector<int>&) { ADD_FAILURE() << "there is no server"; }
  void FailJob(int, const Status& status) { failed.push_back(status); }
  std::vector<Status> failed;
};

// Why, and what to do about it, too: operators are told a wrong password from a server that is
// away.
void ExpectToldWhyAtOnce(const PoolLimits& limits) {
  Config config;
  config.shards = {{"127.0.0.1", 1, "nobody listens"}};
  config.reopen = {.first = std::chrono::hours(1), .most = std::chrono::hours(1)};
  Asker asker;
  std::promise<Status> away;
  std::string logged;  // before the sink is told
  ShardPool<int, Asker> pool(
      config, limits, asker, [&](Shard, const Status& status) { away.set_value(status); },
      [&](LogLevel, const std::string& line) { logged = line; });
  const Status told = away.get_future().get();
  EXPECT_TRUE(logged.ends_with(std::string("; ") + told.advice)) << logged;
  pool.Submit(0, 7);
  ASSERT_EQ(asker.failed.size(), 1u);
  for (const Status& status : {told, asker.failed[0]}) {
    EXPECT_TRUE(status.later());
    EXPECT_EQ(status.resource, "mysql_0");
    EXPECT_TRUE(status.message.starts_with("SQL error 2002: ")) << status.message;
    EXPECT_EQ(status.cause, Cause::kAway);
    EXPECT_NE(std::string_view(status.advice), "");
  }
}

TEST(ShardPool, WhoAsksAShardThatIsAwayIsToldWhyAtOnce) { ExpectToldWhyAtOnce({}); }

TEST(ShardPool, AProberFindsThatAShardIsAway) {
  ExpectToldWhyAtOnce({.threads_per_shard = 0, .probes = true});
}

// The API's answers everything that waits for the shard.
TEST(ShardPool, ASinkThatTakesItsTimeHoldsUpNobodyWhoAsks) {
  Config config;
  config.shards = {{"127.0.0.1", 1, "nobody listens"}};
  Asker asker;
  std::promise<void> told, go_on;
  std::atomic<bool> held_up = false;
  std::atomic<int> times = 0;
  ShardPool<int, Asker> pool(
      config, {}, asker,
      [&](Shard, const Status&) {
        if (++times > 1) return;
        told.set_value();
        held_up =
            go_on.get_future().wait_for(std::chrono::seconds(10)) != std::future_status::ready;
      },
      [](LogLevel, const std::string&) {});
  told.get_future().wait();
  pool.Submit(0, 7);
  EXPECT_EQ(pool.waiting(), 0u);
  EXPECT_EQ(asker.failed.size(), 1u);
  go_on.set_value();
  EXPECT_FALSE(held_up);
}

}  // namespace
}  // namespace fanline::mysql
