// Requests that were queued together, and what one of them does to the others.
#include "backends/mysql/sql/shard_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <set>

#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kDataError = 1264;

struct Store {
  using Reply = struct Stored;
  uint64_t id = 0;
  Shard shard = 0;
  bool bad = false;
};
struct Stored {
  uint64_t id = 0;
  Status status;
};

// Holds its first batch until it is told to go on, so that what comes meanwhile waits together.
struct Picky {
  static constexpr const char* kName = "picky";
  static constexpr PoolLimits kLimits{.batch = 8};

  std::vector<Stored> DoAll(Connection& connection, const std::vector<Store>& requests) {
    batches->push_back(requests.size());
    if (batches->size() == 1) {
      begun->set_value();
      go_on.wait();
    }
    connection.Query("SELECT 1", [](const Row&) {});
    for (const Store& request : requests) {
      if (request.bad) throw MysqlError(kDataError, "out of range");
    }
    return std::vector<Stored>(requests.size());
  }

  std::vector<size_t>* batches;  // of one thread
  std::promise<void>* begun;
  std::shared_future<void> go_on;
};

TEST(ShardPort, OneThatCannotBeUsedSpoilsNoneOfThoseItWasMergedWith) {
  Shards shards;
  std::promise<void> begun, go_on;
  std::vector<size_t> batches;
  Replies<Stored> replies;
  {
    ShardPort<Picky, Store> port(shards.config(), {}, kNoLog,
                                 {&batches, &begun, go_on.get_future()});
    port.Submit(Store{1, 0}, replies);
    begun.get_future().wait();
    for (uint64_t id = 2; id <= 6; ++id) port.Submit(Store{id, 0, id == 4}, replies);
    go_on.set_value();
    for (uint64_t id = 1; id <= 6; ++id) {
      const Status status = replies.Await(id).status;
      EXPECT_EQ(status.never(), id == 4) << id;
      EXPECT_EQ(status.done(), id != 4) << id;
    }
  }
  EXPECT_THAT(batches, ElementsAre(1, 5, 1, 1, 1, 1, 1));
}

TEST(ShardPort, WhatIsLateOrWantedByNobodyIsToldSoAndNeverServed) {
  Shards shards;
  std::promise<void> begun, go_on;
  std::vector<size_t> batches;
  Replies<Stored> replies;
  {
    ShardPort<Picky, Store> port(shards.config(), {}, kNoLog,
                                 {&batches, &begun, go_on.get_future()});
    port.Submit(Store{1, 0}, replies);
    begun.get_future().wait();
    const auto client = std::make_shared<std::atomic<bool>>(true);
    port.Serve(Store{2, 0}, replies, {.alive = client});
    port.Serve(Store{3, 0}, replies, {.until = MonoNow()});
    port.Submit(Store{4, 0}, replies);
    *client = false;
    go_on.set_value();
    for (const uint64_t id : {1, 4}) EXPECT_TRUE(replies.Await(id).status.done());
    for (const uint64_t id : {2, 3}) {
      const Status status = replies.Await(id).status;
      EXPECT_TRUE(status.later()) << id;
      EXPECT_EQ(status.resource, "mysql_0");
      EXPECT_EQ(status.cause, Cause::kOverloaded);
    }
  }
  EXPECT_THAT(batches, ElementsAre(1, 1));
}

// Its connection is killed before it is used for the first time, as a server's restart does it.
struct Killed {
  static constexpr const char* kName = "killed";
  static constexpr PoolLimits kLimits{};
  static constexpr bool kReopens = true;

  Stored Do(Connection& connection, const Store& request) {
    uint64_t id = 0;
    connection.Query("SELECT CONNECTION_ID()", [&](const Row& row) { id = row.UInt64(1); });
    if (++*calls == 1) shards->on(request.shard).Execute("KILL " + std::to_string(id));
    connection.Query("SELECT 1", [](const Row&) {});
    return {};
  }

  Shards* shards;
  std::atomic<int>* calls;
};

TEST(ShardPort, ARequestOverAConnectionThatDiedIsServedOnceMoreIfTheServiceWantsIt) {
  Shards shards;
  std::atomic<int> calls = 0;
  ShardPort<Killed, Store> port(shards.config(), {}, kNoLog, {&shards, &calls});
  const Status status = Ask(port, Store{1, 0}).status;
  EXPECT_TRUE(status.done()) << status.message;
  EXPECT_EQ(calls, 2);
}

// Its only worker is busy all the while.
TEST(ShardPort, WhatIsLateIsToldSoWhenTheOwnerSees) {
  Shards shards;
  std::promise<void> begun, go_on;
  std::vector<size_t> batches;
  Replies<Stored> replies;
  ShardPort<Picky, Store> port(shards.config(), {}, kNoLog, {&batches, &begun, go_on.get_future()});
  port.Submit(Store{1, 0}, replies);
  begun.get_future().wait();
  port.SubmitInTurn(Store{2, 0}, replies, {.until = MonoNow()});
  EXPECT_EQ(port.waiting(), 1u);
  port.DropLate();
  EXPECT_EQ(replies.Await(2).status.cause, Cause::kOverloaded);
  EXPECT_EQ(port.waiting(), 0u);
  go_on.set_value();
  EXPECT_TRUE(replies.Await(1).status.done());
}

// Which connection served it, after `seconds`.
struct Which {
  using Reply = struct Was;
  uint64_t id = 0;
  Shard shard = 0;
  double seconds = 0;
};
struct Was {
  uint64_t id = 0;
  Status status;
  uint64_t connection = 0;
};
struct Connections {
  static constexpr const char* kName = "connections";
  static constexpr PoolLimits kLimits{.threads_per_shard = 8};
  static Was Do(Connection& connection, const Which& request) {
    Was was;
    connection.Query("SELECT CONNECTION_ID(), SLEEP(" + std::to_string(request.seconds) + ")",
                     [&](const Row& row) { was.connection = row.UInt64(1); });
    return was;
  }
};

class IdleWorkers : public ::testing::Test {
 protected:
  IdleWorkers() {
    std::set<uint64_t> all;
    while (all.size() < 8) {  // until each has connected, and has waited for a job once
      Replies<Was> replies;
      for (uint64_t id = 1; id <= 8; ++id) port_.Submit(Which{id, 0, 0.1}, replies);
      for (uint64_t id = 1; id <= 8; ++id) all.insert(replies.Await(id).connection);
    }
  }

  Shards shards_;
  ShardPort<Connections, Which> port_{shards_.config(), {}, kNoLog};
};

// A reply may arrive before its worker waits again, so two take turns.
TEST_F(IdleWorkers, TheOneThatServedLastIsNext) {
  std::set<uint64_t> used;
  for (int i = 0; i < 64; ++i) used.insert(Ask(port_, Which{}).connection);
  EXPECT_LE(used.size(), 2u);
}

TEST_F(IdleWorkers, AreNotWokenForWhatAReplyAsksFor) {
  struct Chain {
    void Push(const Was& was) {
      used.insert(was.connection);
      if (++answers == 64) return ended.set_value();
      port.Submit(Which{}, *this);
    }
    ShardPort<Connections, Which>& port;
    std::set<uint64_t> used = {};
    int answers = 0;
    std::promise<void> ended = {};
  };
  Chain chain{port_};
  port_.Submit(Which{}, chain);
  chain.ended.get_future().wait();
  EXPECT_EQ(chain.used.size(), 1u);
}

struct MissingTable {
  static constexpr const char* kName = "missing";
  static constexpr PoolLimits kLimits{};
  static Stored Do(Connection& connection, const Store& request) {
    connection.Query(request.bad ? "SELECT nonsense" : "SELECT 1 FROM missing", [](const Row&) {});
    return {};
  }
};

TEST(ShardPort, WhatIsAskedForAgainAndAgainInVainIsALineOnceInAWhile) {
  Shards shards;
  Replies<Stored> replies;
  std::mutex mutex;
  std::vector<std::string> lines;
  const auto log = [&](LogLevel level, const std::string& line) {
    const std::lock_guard lock(mutex);
    if (level == LogLevel::kWarn) lines.push_back(line);
  };
  {
    ShardPort<MissingTable, Store> port(shards.config(), {}, log);
    for (uint64_t id = 1; id <= 20; ++id) {
      port.Submit(Store{id, 0}, replies);
      EXPECT_TRUE(replies.Await(id).status.later());
    }
    port.Submit(Store{21, 0, true}, replies);
    EXPECT_TRUE(replies.Await(21).status.later());
  }
  EXPECT_THAT(lines, ElementsAre(HasSubstr("feedctl migrate"), HasSubstr("nonsense")));
}

}  // namespace
}  // namespace fanline::mysql
