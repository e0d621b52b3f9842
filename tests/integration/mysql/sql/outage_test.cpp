// A shard that is away, refuses, hangs or drops connections: its own requests are told so by name,
// in bounded time, and the other shard's never notice.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "backends/mysql/posts/post_store.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/posts/truth.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/shard_port.h"
#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"
#include "tests/integration/soon.h"
#include "tests/support/hanging_host.h"

namespace fanline::mysql {
namespace {

constexpr uint16_t kNobodysPort = 1;

class Outage : public ::testing::Test {
 protected:
  Config With(uint16_t port_of_shard_1) const {
    Config config = shards_.config();
    config.shards[1].port = port_of_shard_1;
    config.connect_timeout = std::chrono::seconds(1);
    config.reopen = {.first = std::chrono::milliseconds(20), .most = std::chrono::milliseconds(50)};
    return config;
  }
  TruthService service() const { return {shards_.map(), RangeLayout(16)}; }
  ReadSync Request(Shard shard, uint64_t id) const {
    return {id, UserId{1}, shards_.UserOn(shard, 1), 1};
  }
  // Kills every connection of ours to `shard` but the test's own.
  int KillConnections(Shard shard) {
    std::vector<std::string> ids;
    shards_.on(shard).Query("SELECT id FROM information_schema.processlist WHERE user = '" +
                                shards_.config().user + "' AND id <> CONNECTION_ID()",
                            [&](const Row& row) { ids.push_back(row.Text(1)); });
    for (const auto& id : ids) KillIfThere(shards_.on(shard), id);
    return static_cast<int>(ids.size());
  }

  Shards shards_;
  Replies<SyncTruth> replies_;
};

void ExpectAway(const SyncTruth& reply, const std::string& resource) {
  const Status& status = reply.status;
  EXPECT_TRUE(status.later()) << status.message;
  EXPECT_EQ(status.resource, resource);
  EXPECT_FALSE(status.message.empty());
}

void ExpectDone(const SyncTruth& reply) {
  const Status& status = reply.status;
  EXPECT_TRUE(status.done()) << status.message;
}

TEST_F(Outage, AShardThatRefusesIsNamedAndTheOtherAnswers) {
  std::atomic<int> down = 0, up = 0;
  const HealthSink health = [&](Shard shard, const Status& status) {
    EXPECT_EQ(shard, status.done() ? 0u : 1u);
    ++(status.done() ? up : down);
  };
  MysqlTruth truth(With(kNobodysPort), health, kNoLog, service());
  for (uint64_t id = 1; id <= 100; id += 2) {
    truth.Submit(Request(0, id), replies_);
    truth.Submit(Request(1, id + 1), replies_);
    ExpectDone(replies_.Await(id));
    ExpectAway(replies_.Await(id + 1), "mysql_1");
  }
  EXPECT_EQ(down, 1);
  EXPECT_EQ(up, 1);
}

TEST_F(Outage, AShardThatHangsCostsItsRequestsAConnectTimeoutAndTheOthersNothing) {
  const HangingHost host;
  MysqlTruth truth(With(host.address().port), {}, kNoLog, service());
  const auto begin = std::chrono::steady_clock::now();
  truth.Submit(Request(1, 1), replies_);
  truth.Submit(Request(0, 2), replies_);
  ExpectDone(replies_.Await(2));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
  ExpectAway(replies_.Await(1), "mysql_1");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  // From here on it is known to be away: no waiting at all.
  const auto again = std::chrono::steady_clock::now();
  for (uint64_t id = 10; id < 200; ++id) {
    truth.Submit(Request(1, id), replies_);
    ExpectAway(replies_.Await(id), "mysql_1");
    ASSERT_LT(std::chrono::steady_clock::now() - again, std::chrono::seconds(60));
  }
}

TEST_F(Outage, AFullQueueRefusesInsteadOfGrowing) {
  shards_.on(0).Execute("LOCK TABLES follower WRITE");
  MysqlTruth truth(shards_.config(), {}, kNoLog, service(),
                   {.threads_per_shard = 1, .batch = 1, .queue = 10});
  constexpr uint64_t kRequests = 20;
  for (uint64_t id = 1; id <= kRequests; ++id) truth.Submit(Request(0, id), replies_);
  ExpectAway(replies_.Await(kRequests), "mysql_0");  // answered while the others still wait
  shards_.on(0).Execute("UNLOCK TABLES");
  ExpectDone(replies_.Await(1));
}

struct Ping {
  using Reply = struct Pong;
  uint64_t id = 0;
  Shard shard = 0;
};
struct Pong {
  uint64_t id = 0;
  Status status;
  std::string connection;
};
struct PingService {
  static constexpr const char* kName = "ping";
  static constexpr PoolLimits kLimits{.probes = true};
  static Pong Do(Connection& connection, const Ping&) {
    Pong pong;
    connection.Query("SELECT CONNECTION_ID()",
                     [&](const Row& row) { pong.connection = row.Text(1); });
    return pong;
  }
};

// One worker and one prober, whose account is the test's own.
class Prober : public Outage {
 protected:
  Prober() {
    admin_.Open();
    MakeUser(admin_, "probed", "s3cret-1");
    admin_.Execute("GRANT SELECT ON " + as_admin_.shards[0].database + ".* TO probed@127.0.0.1");
    config_.user = "probed";
    config_.password = {"s3cret-1", {}};
    config_.shards.resize(1);
    port_.emplace(
        config_, [this](Shard, const Status& status) { ++(status.done() ? up_ : down_); },
        [this](LogLevel, const std::string& line) {
          if (line.find("1045") != std::string::npos) ++refused_;
        });
    worker_ = Ask(*port_, Ping{}).connection;
  }
  ~Prober() override {
    port_.reset();
    admin_.Execute("DROP USER probed@127.0.0.1");
  }

  // Waits until the prober has connected and been answered: two looks find the same session asleep.
  // MySQL does not say for how many milliseconds it has been.
  std::string AwaitProber() {
    std::string id;
    EXPECT_TRUE(Soon([&] {
      const std::string before = std::exchange(id, "");
      admin_.Query(
          "SELECT id FROM information_schema.processlist WHERE user = 'probed'"
          " AND command = 'Sleep' AND id <> " +
              worker_,
          [&](const Row& row) { id = row.Text(1); });
      if (!id.empty() && id == before) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return false;
    }));
    return id;
  }
  void Kill(const std::string& id) { admin_.Execute("KILL CONNECTION " + id); }

  const Config as_admin_ = AsAdmin(shards_.config());
  Connection admin_{as_admin_, 0};
  Config config_ = With(shards_.config().shards[1].port);
  std::atomic<int> up_ = 0, down_ = 0, refused_ = 0;
  std::optional<ShardPort<PingService, Ping>> port_;
  std::string worker_;
};

TEST_F(Prober, KilledAloneItLeavesTheShardThere) {
  std::string before;
  for (int i = 0; i < 3; ++i) {
    const std::string prober = AwaitProber();
    ASSERT_NE(prober, before);
    before = prober;
    Kill(prober);
  }
  AwaitProber();
  EXPECT_TRUE(Ask(*port_, Ping{}).status.done());
  EXPECT_EQ(down_, 0);
}

TEST_F(Prober, RefusedByAServerThatServesTheWorkersItLeavesTheShardThere) {
  const std::string prober = AwaitProber();
  admin_.Execute("ALTER USER probed@127.0.0.1 IDENTIFIED BY 's3cret-2'");
  Kill(prober);
  EXPECT_TRUE(Soon([&] { return refused_ > 0; }));
  for (int i = 0; i < 50; ++i) {
    const Pong pong = Ask(*port_, Ping{});
    EXPECT_TRUE(pong.status.done()) << pong.status.message;
    EXPECT_EQ(pong.connection, worker_);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(down_, 0);

  Kill(worker_);
  EXPECT_TRUE(Soon([&] { return !Ask(*port_, Ping{}).status.done() && down_ > 0; }));
  admin_.Execute("ALTER USER probed@127.0.0.1 IDENTIFIED BY 's3cret-1'");
  EXPECT_TRUE(Soon([&] { return Ask(*port_, Ping{}).status.done(); }));
}

struct ShardTold {
  uint64_t id = 0;
  Status status;
};

// A planned switchover leaves the old primary up, as a replica that lags behind.
class Demoted : public Outage {
 protected:
  void SetReadOnly(const std::string& value) { primary_.SetReadOnly(value); }

  DemotablePrimary primary_{shards_.config(), 1};
};

TEST_F(Demoted, TruthIsNotReadFromWhatWasThePrimary) {
  Config config = With(shards_.config().shards[1].port);
  config.primary_check = std::chrono::seconds(0);
  MysqlTruth truth(config, {}, kNoLog, service());
  truth.Submit(Request(1, 1), replies_);
  ExpectDone(replies_.Await(1));

  SetReadOnly("ON");
  for (uint64_t id = 10; id < 20; ++id) {
    truth.Submit(Request(1, id), replies_);
    ExpectAway(replies_.Await(id), "mysql_1");
    truth.Submit(Request(0, id + 100), replies_);
    ExpectDone(replies_.Await(id + 100));
  }

  SetReadOnly("OFF");
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (uint64_t id = 1000;; ++id) {
    truth.Submit(Request(1, id), replies_);
    if (replies_.Await(id).status.done()) break;
    ASSERT_LT(std::chrono::steady_clock::now(), soon);
  }
}

// Nobody asks it for anything.
TEST_F(Demoted, AProberTellsWhatEachShardIsAndWhatItBecomes) {
  Config config = With(shards_.config().shards[1].port);
  config.primary_check = std::chrono::seconds(0);
  Replies<ShardTold> told;
  std::atomic<uint64_t> of_shard_1 = 0;
  const ShardPort<PingService, Ping> port(
      config,
      [&](Shard shard, const Status& status) {
        told.Push({shard == 0 ? 0 : ++of_shard_1, status});
      },
      kNoLog);
  EXPECT_TRUE(told.Await(0).status.done());
  EXPECT_TRUE(told.Await(1).status.done());
  SetReadOnly("ON");
  const Status away = told.Await(2).status;
  EXPECT_TRUE(away.later());
  EXPECT_EQ(away.resource, "mysql_1");
  EXPECT_NE(away.message.find("read-only"), std::string::npos) << away.message;
  SetReadOnly("OFF");
  EXPECT_TRUE(told.Await(3).status.done()) << "told once, however often it was asked meanwhile";
}

// What is asked once a second leaves a second.
TEST_F(Demoted, TruthReadSinceTheLastCheckIsNotTaken) {
  Config config = With(shards_.config().shards[1].port);
  config.primary_check = std::chrono::hours(1);
  MysqlTruth truth(config, {}, kNoLog, service());
  for (uint64_t id = 1; id <= 10; ++id) {  // by each of its threads
    truth.Submit(Request(1, id), replies_);
    truth.Submit(Request(1, id + 100), replies_);
    ExpectDone(replies_.Await(id));
    ExpectDone(replies_.Await(id + 100));
  }
  SetReadOnly("ON");
  truth.Submit(Request(1, 1'000), replies_);
  ExpectAway(replies_.Await(1'000), "mysql_1");
}

TEST_F(Demoted, TruthReadWhileItIsDemotedIsNotTaken) {
  const Config config = shards_.config();
  ShardConnections connections(config);
  const auto read = [&](Connection& connection) {
    connection.Query("SELECT 1", [](const Row&) {});
  };
  ASSERT_TRUE(connections.ReadTruth(1, read).done());
  const Status status = connections.ReadTruth(1, [&](Connection& connection) {
    read(connection);
    SetReadOnly("ON");
  });
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
}

// What one reader's reads rest on: of both shards, the second of which is demoted.
class DemotedTruth : public Demoted {
 protected:
  bool Read(Shard shard) {
    std::vector<UserId> followees;
    return truth_.Followees(shards_.UserOn(shard, 1), &followees).done();
  }

  MysqlReaderTruth truth_{shards_.config(), shards_.map()};
};

TEST_F(DemotedTruth, IsConfirmedTogetherUnlessAServerWasDemotedSince) {
  EXPECT_TRUE(truth_.Confirm().done()) << "nothing was read";
  for (const Shard shard : {0, 1, 0}) ASSERT_TRUE(Read(shard));
  EXPECT_TRUE(truth_.Confirm().done());

  for (const Shard shard : {0, 1, 0}) ASSERT_TRUE(Read(shard));
  SetReadOnly("ON");
  const Status status = truth_.Confirm();
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
  SetReadOnly("OFF");
  EXPECT_TRUE(truth_.Confirm().done()) << "of those reads all is said";
}

// Whatever connection asks it.
TEST_F(DemotedTruth, IsConfirmedByTheServerThatWasReadAndNoOther) {
  ASSERT_TRUE(Read(1));
  KillConnections(1);
  EXPECT_TRUE(truth_.Confirm().done());

  Config config = shards_.config();
  ShardsHere<ReaderService, ConfirmReads> server(config);
  const auto confirmed = Ask(server, ConfirmReads{0, 1, 7});
  EXPECT_TRUE(confirmed.status.later());
  EXPECT_EQ(confirmed.status.resource, "mysql_1");
}

TEST_F(Demoted, ABlockingCallerIsToldSoUntilThereIsAPrimary) {
  Config config = shards_.config();
  config.primary_check = std::chrono::seconds(0);
  config.reopen = {.first = std::chrono::milliseconds(1), .most = std::chrono::milliseconds(1)};
  ShardConnections connections(config);
  int calls = 0;
  const auto ask = [&](Shard shard) {
    return connections.Run(shard, [&](Connection&) { ++calls; });
  };
  ASSERT_TRUE(ask(1).done());
  SetReadOnly("ON");
  const Status status = ask(1);
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_1");
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(ask(0).done());
  SetReadOnly("OFF");
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!ask(1).done()) ASSERT_LT(std::chrono::steady_clock::now(), soon);
}

TEST_F(Demoted, AServerIsAskedAtTheFirstUseAndThenOncePerPeriod) {
  Config config = shards_.config();
  Connection connection(config, 1);
  connection.Open();
  const Time begin{};
  const auto asked = [&](Time now) {
    const int64_t before = Counted(connection, "SESSION STATUS LIKE 'Questions'");
    connection.CheckPrimary(now);
    return Counted(connection, "SESSION STATUS LIKE 'Questions'") - before - 1;
  };
  EXPECT_EQ(asked(begin), 1);
  for (const auto later :
       {Duration(0), Duration(1), Duration(config.primary_check) - Duration(1)}) {
    EXPECT_EQ(asked(begin + later), 0);
  }
  EXPECT_EQ(asked(begin + config.primary_check), 1);
  EXPECT_EQ(asked(begin + config.primary_check + Duration(1)), 0);

  connection.Open();
  SetReadOnly("ON");  // while the connection was waiting for its first use
  EXPECT_THROW(connection.CheckPrimary(begin + config.primary_check), MysqlError);
  EXPECT_FALSE(connection.is_open());
  EXPECT_THROW(connection.Open(), MysqlError);
  EXPECT_FALSE(connection.is_open());
}

TEST_F(Outage, AMissingTableIsLaterAndNamesTheShard) {
  shards_.on(0).Execute("DROP TABLE author_post");
  MysqlPostStore store(shards_.config(), {}, kNoLog);
  const FeedEvent event{
      .kind = EventKind::kDeleted, .post = PostId{1}, .author = shards_.UserOn(0, 1)};
  const auto reply = Ask(store, ApplyEvents{0, 0, {event}});
  EXPECT_TRUE(reply.status.later()) << reply.status.message;
  EXPECT_EQ(reply.status.resource, "mysql_0");
}

TEST_F(Outage, AnIdleConnectionThatDiedCostsABlockingCallerNothing) {
  ShardConnections connections(shards_.config());
  const auto ask = [&] {
    return connections.Run(
        1, [](Connection& connection) { connection.Query("SELECT 1", [](const Row&) {}); });
  };
  ASSERT_TRUE(ask().done());
  ASSERT_GT(KillConnections(1), 0);
  EXPECT_TRUE(ask().done());
}

TEST_F(Outage, ABlockingCallerIsRefusedAtOnceUntilTheBackOffIsOver) {
  const HangingHost host;
  Config config = With(host.address().port);
  config.reopen = {.first = std::chrono::seconds(30), .most = std::chrono::seconds(30)};
  ShardConnections connections(config);
  const auto ask = [&] { return connections.Run(1, [](Connection&) {}); };
  EXPECT_EQ(ask().resource, "mysql_1");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(ask().later());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // not 100
}

TEST_F(Outage, AStatementThatExceedsItsTimeCostsItsConnectionOnce) {
  Config config = shards_.config();
  config.read_timeout = std::chrono::seconds(1);
  ShardConnections connections(config);
  const auto run = [&](const char* sql) {
    return connections.Run(
        0, [&](Connection& connection) { connection.Query(sql, [](const Row&) {}); });
  };
  ASSERT_TRUE(run("SELECT 1").done());
  const auto begin = std::chrono::steady_clock::now();
  const Status status = run("SELECT SLEEP(4)");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1900));
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "mysql_0");
  EXPECT_TRUE(run("SELECT 1").done());
}

TEST_F(Outage, AStatementThatIsKilledIsAnErrorNotAShortResult) {
  const std::string id = std::to_string(shards_.Number(0, "SELECT CONNECTION_ID()"));
  Connection killer(shards_.config(), 0);
  killer.Open();
  // Half of the rows come fast, then one takes for ever.
  const std::string slow = "SELECT seq, IF(seq = 50000, SLEEP(4), 0) FROM " + Numbers(100'000);
  std::atomic<bool> finished = false;
  std::thread kill([&] {
    while (!finished) {
      int sleeping = 0;
      killer.Query("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " + id +
                       " AND state = 'User sleep'",
                   [&](const Row& row) { sleeping = static_cast<int>(row.Int64(1)); });
      if (sleeping == 0) continue;
      killer.Execute("KILL QUERY " + id);
      return;
    }
  });
  int rows = 0;
  EXPECT_THROW(shards_.on(0).Query(slow, [&](const Row&) { ++rows; }), MysqlError);
  finished = true;
  kill.join();
  EXPECT_EQ(rows, 0);
}

TEST_F(Outage, WhoHangsWithinATransactionLetsGoOfItsRows) {
  Config config = shards_.config();
  config.idle_transaction = std::chrono::seconds(1);  // shorter than the other waits for the lock
  Connection hung(config, 0);
  hung.Open();
  if (OnMySql()) hung.Execute("SET SESSION wait_timeout = 1");  // a minute, and not for its config
  const std::string write =
      "INSERT INTO author (author_id, last_at) VALUES (7, 1) "
      "ON DUPLICATE KEY UPDATE last_at = last_at + 1";
  shards_.on(0).Execute(write);
  hung.Execute("START TRANSACTION");
  hung.Execute(write);

  EXPECT_NO_THROW(shards_.on(0).Execute(write));

  EXPECT_EQ(shards_.Number(0, "SELECT last_at FROM author WHERE author_id = 7"), 2);
  EXPECT_THROW(hung.Execute("COMMIT"), MysqlError);
  EXPECT_FALSE(hung.is_open());
}

}  // namespace
}  // namespace fanline::mysql
