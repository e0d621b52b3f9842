// Requests that were queued together, and what one of them does to the others.
#include "backends/mysql/sql/shard_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"
#include "tests/integration/soon.h"

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

// A reply may arrive before its worker waits again, so some take turns.
TEST_F(IdleWorkers, TheOneThatServedLastIsNext) {
  std::set<uint64_t> used;
  for (int i = 0; i < 64; ++i) used.insert(Ask(port_, Which{}).connection);
  EXPECT_LT(used.size(), 6u) << "of eight";
}

TEST_F(IdleWorkers, AreNotWokenForWhatAReplyAsksFor) {
  struct Chain {
    void Push(const Was& was) {
      switches += std::exchange(last, was.connection) != was.connection;
      if (++answers == 64) return ended.set_value();
      port.Submit(Which{}, *this);
    }
    ShardPort<Connections, Which>& port;
    uint64_t last = 0;
    int switches = 0, answers = 0;
    std::promise<void> ended = {};
  };
  Chain chain{port_};
  port_.Submit(Which{}, chain);
  chain.ended.get_future().wait();
  EXPECT_LT(chain.switches, 10) << "of 64";
}

struct Hold {
  using Reply = Stored;
  uint64_t id = 0;
  Shard shard = 0;
  std::function<void()> run;
};
struct Holds {
  static constexpr const char* kName = "holds";
  static constexpr ClassLimits kClasses[] = {{.reserved = 0}, {.reserved = 1}};
  static constexpr PoolLimits kLimits{.threads_per_shard = 3, .classes = kClasses};
  static Stored Do(Connection&, const Hold& request) {
    request.run();
    return {};
  }
};
const Turn kCommon{.work_class = 0}, kReserved{.work_class = 1};

// Two workers are for all classes. When one of them ends, its reply's request may be served, and so
// may the one that waited for such a worker: the third has to be woken.
TEST(ShardPort, AWorkerThatGoesOnLeavesNoRequestToWorkersThatSleep) {
  Shards shards;
  struct Chain {
    void Push(const Stored&) { then(); }
    std::function<void()> then;
  };
  Chain chain;
  Replies<Stored> replies;
  std::promise<void> go, end, begun[4];
  const auto ended = end.get_future().share();
  const auto slow = [&](size_t number) {
    return [&, number] {
      begun[number].set_value();
      ended.wait();
    };
  };
  ShardPort<Holds, Hold> port(shards.config(), {}, kNoLog);
  {  // until all three have connected
    std::atomic<int> together = 0;
    for (uint64_t id = 1; id <= 3; ++id) {
      port.SubmitInTurn(Hold{id, 0,
                             [&] {
                               ++together;
                               while (together < 3) std::this_thread::yield();
                             }},
                        replies, id == 3 ? kReserved : kCommon);
    }
    for (uint64_t id = 1; id <= 3; ++id) replies.Await(id);
  }
  chain.then = [&] { port.SubmitInTurn(Hold{10, 0, slow(0)}, replies, kReserved); };
  port.SubmitInTurn(Hold{11, 0,
                         [&] {
                           begun[1].set_value();
                           go.get_future().wait();
                         }},
                    chain, kCommon);
  port.SubmitInTurn(Hold{12, 0, slow(2)}, replies, kCommon);
  for (const size_t each : {1, 2}) begun[each].get_future().wait();
  port.SubmitInTurn(Hold{13, 0, slow(3)}, replies, kCommon);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the third sleeps again
  go.set_value();
  for (const size_t each : {0, 3}) {
    EXPECT_EQ(begun[each].get_future().wait_for(std::chrono::seconds(10)),
              std::future_status::ready);
  }
  end.set_value();
  for (const uint64_t id : {10, 12, 13}) replies.Await(id);
}

TEST(ShardPort, AnIdleWorkerFindsThatItsConnectionIsGone) {
  Shards shards;
  ShardPort<Connections, Which> port(shards.config(), {}, kNoLog, {},
                                     {.look_at_idle = std::chrono::milliseconds(50)});
  const std::string first = std::to_string(Ask(port, Which{}).connection);
  Connection admin(shards.config(), 0);
  admin.Open();
  admin.Execute("KILL " + first);
  EXPECT_TRUE(Soon([&] {
    bool again = false;
    admin.Query("SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND id > " +
                    first + " AND id <> CONNECTION_ID()",
                [&](const Row&) { again = true; });
    return again;
  }));
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
