// Every refusal of client/errors.cpp as a real server gives it: what it means to the pusher and to
// a reader, and that all goes on when it is over. Those about one key (OOM, WRONGTYPE) and NOSCRIPT
// are in timelines_test.cpp and ownership_test.cpp, those of a Cluster in cluster_test.cpp, LOADING
// in tests/e2e/redis_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/integration/redis/timelines_world.h"
#include "tests/integration/soon.h"

namespace fanline::redis::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// A pusher that owns Bob's range, and his timeline.
class RedisAnswers : public RedisRange {
 protected:
  explicit RedisAnswers(std::chrono::milliseconds heartbeat = 60s) : RedisRange(Told(heartbeat)) {
    TakeOver();
    Build(kBob);
  }

  static Options Told(std::chrono::milliseconds heartbeat) {
    Options options = OptionsFromEnvironment();
    options.heartbeat = heartbeat;
    return options;
  }

  void TakeOver() { Own(++epoch_); }
  BatchWritten Push() {
    return driver_.Do(BatchOf(range_, epoch_)
                          .Write(kBob, {{PostId{++posts_}, 1'700'000'000'000, UserId{500}}})
                          .Take());
  }
  Status Read() { return reader_.Read(kBob).status; }
  static void ExpectLater(const BatchWritten& pushed, bool needs_claim, const char* why) {
    EXPECT_TRUE(pushed.status.later());
    EXPECT_EQ(pushed.needs_claim, needs_claim) << pushed.status.message;
    EXPECT_THAT(pushed.status.message, HasSubstr(why));
  }
  void ExpectAllGoesOn() {
    EXPECT_EQ(Push().results, std::vector<int8_t>{1});
    EXPECT_TRUE(Read().done());
  }

  uint64_t epoch_ = 4;
  uint64_t posts_ = 0;
};

// Somebody's script that does not end.
class EndlessScript {
 public:
  EndlessScript(Console& console, const Options& options)
      : console_(console), thread_([&options] {
          Console(options).Run({"EVAL", "while true do end", "0"});
        }) {
    while (console_.Run({"PING"}).find("BUSY") == std::string::npos) std::this_thread::yield();
  }
  ~EndlessScript() {
    EXPECT_EQ(console_.Run({"SCRIPT", "KILL"}), "OK");
    thread_.join();
  }

 private:
  Console& console_;
  std::thread thread_;
};

TEST_F(RedisAnswers, BusyIsWaitedOutAndTheClaimHolds) {
  console_.Run({"CONFIG", "SET", "lua-time-limit", "20"});
  {
    const EndlessScript script(console_, options_);
    ExpectLater(Push(), false, "BUSY");
    EXPECT_THAT(Read().message, HasSubstr("BUSY"));
  }
  ExpectAllGoesOn();
}

class RedisAnswersToABeat : public RedisAnswers {
 protected:
  RedisAnswersToABeat() : RedisAnswers(20ms) {}
};

TEST_F(RedisAnswersToABeat, ANodeTooBusyToSayWhoItIsIsClaimedAnew) {
  console_.Run({"CONFIG", "SET", "lua-time-limit", "20"});
  {
    const EndlessScript script(console_, options_);
    driver_.WaitUntilConnected(false);
    EXPECT_THAT(driver_.WhyNotConnected(), HasSubstr("BUSY"));
  }
  driver_.WaitUntilConnected();
  EXPECT_TRUE(Push().needs_claim);
  TakeOver();
  ExpectAllGoesOn();
}

TEST_F(RedisAnswers, MisconfIsWaitedOut) {
  const std::string file = console_.List({"CONFIG", "GET", "dir"}).at(1) + "/" +
                           console_.List({"CONFIG", "GET", "dbfilename"}).at(1);
  const std::filesystem::path in_the_way = file;  // a folder where the snapshot should be
  std::filesystem::remove(in_the_way);
  std::filesystem::create_directories(in_the_way / "x");
  console_.Run({"CONFIG", "SET", "save", "3600 1"});
  console_.Run({"BGSAVE"});
  ASSERT_TRUE(Soon([&] {
    return console_.Run({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  }));
  const BatchWritten pushed = Push();
  console_.Run({"CONFIG", "SET", "save", ""});
  std::filesystem::remove_all(in_the_way);
  ExpectLater(pushed, false, "MISCONF");
  ExpectAllGoesOn();
}

// A Redis that takes no write at all must not be taken for one that lost a key: the hint waits.
TEST_F(RedisAnswers, NoReplicasIsWaitedOut) {
  console_.Run({"CONFIG", "SET", "min-replicas-to-write", "1"});
  const BatchWritten pushed = Push();
  const Status read = Read();  // writes nothing: its time to live was set within the minute
  console_.Run({"CONFIG", "SET", "min-replicas-to-write", "0"});
  ExpectLater(pushed, false, "NOREPLICAS");
  EXPECT_TRUE(read.done());
  ExpectAllGoesOn();
}

// A master that was made a replica behind our back: nothing that was claimed there counts.
TEST_F(RedisAnswers, ReadonlyMeansThatWhatWasClaimedIsVoid) {
  console_.Run({"REPLICAOF", "127.0.0.1", "1"});
  const BatchWritten pushed = Push();
  console_.Run({"REPLICAOF", "NO", "ONE"});
  ExpectLater(pushed, true, "READONLY");
  driver_.WaitUntilConnected();
  EXPECT_TRUE(Push().needs_claim);
  TakeOver();
  ExpectAllGoesOn();
}

// It does not know yet who begins a timeline at its master.
TEST_F(RedisAnswers, AReplicaTellsNoNews) {
  const auto news = [&] { return driver_.Do(ReadNews{0, range_, epoch_, 0, 10}); };
  EXPECT_EQ(news().announced.size(), 1u);
  console_.Run({"REPLICAOF", "127.0.0.1", "1"});
  const NewsRead told = news();
  console_.Run({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(told.status.later());
  EXPECT_TRUE(told.needs_claim);
  EXPECT_THAT(told.status.message, HasSubstr("READONLY"));
  EXPECT_TRUE(told.announced.empty());
  driver_.WaitUntilConnected();
  TakeOver();
  EXPECT_EQ(news().announced.size(), 1u);
}

TEST_F(RedisAnswers, AReplicaThatLostItsMasterIsWaitedOut) {
  console_.Run({"CONFIG", "SET", "replica-serve-stale-data", "no"});
  console_.Run({"REPLICAOF", "127.0.0.1", "1"});
  const std::string plain = console_.Run({"GET", "x"});
  const BatchWritten pushed = Push();
  const Status read = Read();
  console_.Run({"REPLICAOF", "NO", "ONE"});
  console_.Run({"CONFIG", "SET", "replica-serve-stale-data", "yes"});
  EXPECT_THAT(plain, HasSubstr("MASTERDOWN"));
  ExpectLater(pushed, true, "");
  EXPECT_TRUE(read.later());
  driver_.WaitUntilConnected();
  TakeOver();
  ExpectAllGoesOn();
}

TEST_F(RedisAnswers, NoauthIsWaitedOutAndTheRangeClaimedAnew) {
  const size_t before = driver_.times_connected();
  console_.Run({"CONFIG", "SET", "requirepass", "n3w"});
  console_.Run({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  driver_.WaitUntilConnected(false);
  // The first reason is the connection that ended.
  ASSERT_TRUE(Soon([&] { return driver_.WhyNotConnected().find("NOAUTH") != std::string::npos; }));
  EXPECT_THAT(driver_.WhyNotConnected(), HasSubstr("; set --redis-user and "));
  EXPECT_TRUE(Push().status.later());
  EXPECT_THAT(Read().message, AnyOf(HasSubstr("NOAUTH"), HasSubstr("closed")));
  EXPECT_THAT(Read().message, HasSubstr("NOAUTH"));
  console_.Run({"CONFIG", "SET", "requirepass", ""});
  driver_.WaitForConnection(before);
  TakeOver();
  ExpectAllGoesOn();
}

}  // namespace
}  // namespace fanline::redis::testing
