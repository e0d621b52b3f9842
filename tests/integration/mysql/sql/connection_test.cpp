// One connection: its session, and what a transaction does when its body fails.
#include "backends/mysql/sql/connection.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/shards.h"
#include "tests/support/temporary_file.h"

namespace fanline::mysql {
namespace {

class ConnectionTest : public ::testing::Test {
 protected:
  std::string Variable(const std::string& name) {
    std::string value;
    connection_.Query("SELECT @@session." + name, [&](const Row& row) { value = row.Text(1); });
    return value;
  }
  void Insert(int author) {
    connection_.Execute("INSERT INTO author (author_id, last_at) VALUES (" +
                        std::to_string(author) + ", 1)");
  }
  int64_t Rows() { return shards_.Number(0, "SELECT COUNT(*) FROM author"); }

  Shards shards_;
  Connection& connection_ = shards_.on(0);
};

TEST_F(ConnectionTest, TheSessionIsStrictUtcReadCommittedAndAutocommit) {
  EXPECT_EQ(Variable(OnMySql() ? "transaction_isolation" : "tx_isolation"), "READ-COMMITTED");
  EXPECT_EQ(Variable("time_zone"), "+00:00");
  EXPECT_EQ(Variable("autocommit"), "1");
  EXPECT_NE(Variable("sql_mode").find("STRICT_ALL_TABLES"), std::string::npos);
  EXPECT_EQ(Variable("innodb_lock_wait_timeout"), "2");
  if (OnMySql()) {
    EXPECT_EQ(Variable("wait_timeout"), "60");
  } else {
    EXPECT_EQ(Variable("idle_transaction_timeout"), "5");
  }
}

// Otherwise a COMMIT would begin another transaction, which holds its locks until somebody commits.
TEST_F(ConnectionTest, AServersCompletionTypeIsNotTheSessions) {
  const Config as_admin = AsAdmin(shards_.config());
  Connection admin(as_admin, 0);
  admin.Open();
  admin.Execute("SET GLOBAL completion_type = 'CHAIN'");
  connection_.Open();
  admin.Execute("SET GLOBAL completion_type = DEFAULT");
  EXPECT_EQ(Variable("completion_type"), "NO_CHAIN");
}

// Each opens the connection while the server's own setting is another.
class ServersSettings : public ConnectionTest {
 protected:
  void OpenUnder(const std::string& name, const std::string& value) {
    const Config as_admin = AsAdmin(shards_.config());
    Connection admin(as_admin, 0);
    admin.Open();
    std::string before;
    admin.Query("SELECT @@global." + name, [&](const Row& row) { before = row.Text(1); });
    admin.Execute("SET GLOBAL " + name + " = " + value);
    EXPECT_NO_THROW(connection_.Open());
    admin.Execute("SET GLOBAL " + name + " = " + (before.empty() ? "''" : before));
  }
};

TEST_F(ServersSettings, TextIsUtf8WhateverTheServerMakesOfSessions) {
  OpenUnder("init_connect", "'SET NAMES latin1'");
  for (const char* const of : {"client", "connection", "results"}) {
    EXPECT_EQ(Variable(std::string("character_set_") + of), "utf8mb4");
  }
  EXPECT_EQ(shards_.Number(0, "SELECT CHAR_LENGTH('\u00e9')"), 1);
}

TEST_F(ServersSettings, ALimitOfRowsCutsNothing) {
  OpenUnder("sql_select_limit", "1");
  int rows = 0;
  connection_.Query("SELECT 1 UNION ALL SELECT 2", [&](const Row&) { ++rows; });
  EXPECT_EQ(rows, 2);
}

TEST_F(ServersSettings, ALimitOfTimeEndsNothing) {
  OpenUnder(OnMySql() ? "max_execution_time" : "max_statement_time", OnMySql() ? "10" : "0.01");
  bool ended = true;
  EXPECT_NO_THROW(
      connection_.Query("SELECT SLEEP(0.1)", [&](const Row& row) { ended = row.Int64(1) != 0; }));
  EXPECT_FALSE(ended);
}

TEST_F(ServersSettings, ReadOnlyTransactionsAreNotTheSessions) {
  OpenUnder(OnMySql() ? "transaction_read_only" : "tx_read_only", "1");
  EXPECT_NO_THROW(Insert(1));
  EXPECT_EQ(Rows(), 1);
}

// Both shards' account has one password: it is changed for an account of this test's own.
TEST_F(ConnectionTest, ANewPasswordInTheFileHoldsFromTheNextConnectionOn) {
  const Config as_admin = AsAdmin(shards_.config());
  Connection admin(as_admin, 0);
  admin.Open();
  const std::string database = as_admin.shards[0].database;
  MakeUser(admin, "turning", "s3cret-1");
  admin.Execute("GRANT SELECT ON " + database + ".* TO turning@127.0.0.1");

  Config config = shards_.config();
  config.user = "turning";
  const TemporaryFile file("s3cret-1\n");
  config.password.file = file.path();
  Connection connection(config, 0);
  connection.Open();
  admin.Execute("ALTER USER turning@127.0.0.1 IDENTIFIED BY 's3cret-2'");
  EXPECT_THROW(connection.Open(), MysqlError);
  file.Write("s3cret-2\n");
  connection.Open();

  file.Remove();
  try {
    connection.Open();
    FAIL() << "there is no password";
  } catch (const MysqlError& error) {
    EXPECT_EQ(StatusOf(error, 0).outcome, Outcome::kLater);
    EXPECT_NE(std::string(error.what()).find(config.password.file), std::string::npos);
  }
  admin.Execute("DROP USER turning@127.0.0.1");
}

// So strict a server refuses a setting of the session that others cut to their limit.
TEST_F(ConnectionTest, WhatOpensOnlyHalfwayIsClosed) {
  const Config as_admin = AsAdmin(shards_.config());
  Connection admin(as_admin, 0);
  admin.Open();
  std::string before;
  admin.Query("SELECT @@global.sql_mode", [&](const Row& row) { before = row.Text(1); });
  admin.Execute("SET GLOBAL sql_mode = 'STRICT_ALL_TABLES'");
  Config config = shards_.config();
  config.lock_wait = std::chrono::hours(24 * 3650);
  Connection connection(config, 0);
  try {
    connection.Open();
    ADD_FAILURE() << "nobody may wait for a lock for ten years";
  } catch (const MysqlError& error) {
    EXPECT_NE(error.kind(), ErrorKind::kLost) << error.what();
  }
  EXPECT_FALSE(connection.is_open());
  admin.Execute("SET GLOBAL sql_mode = '" + before + "'");
}

// The stack's MariaDB speaks no TLS (stack/local_stack.py). MySQL does, but the authority here is
// no certificate at all.
TEST_F(ConnectionTest, AServerThatOffersNoTlsIsRefusedWhenItIsDemanded) {
  Config config = shards_.config();
  const TemporaryFile file("not looked at");
  config.tls.authority = file.path();
  Connection connection(config, 0);
  try {
    connection.Open();
    FAIL() << "it was spoken to plainly";
  } catch (const MysqlError& error) {
    EXPECT_EQ(error.code(), 2026) << error.what();
  }
}

TEST_F(ConnectionTest, ADeadlocksVictimStartsOverFromACleanState) {
  int attempts = 0;
  connection_.Transact([&] {
    Insert(1);
    if (++attempts < 3) throw MysqlError(1213, "deadlock");
    return true;
  });
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(Rows(), 1);
}

// A real one: each locks its row, waits until the other has locked its own, and wants that too.
TEST_F(ConnectionTest, OfTwoThatLockEachOthersRowBothCommitInTheEnd) {
  Insert(1);
  Insert(2);
  std::barrier both_locked(2);
  std::atomic<int> attempts = 0;
  std::vector<std::thread> threads;
  for (const int mine : {1, 2}) {
    threads.emplace_back([&, mine] {
      Connection connection(shards_.config(), 0);
      connection.Open();
      bool first = true;
      connection.Transact([&] {
        ++attempts;
        for (const int author : {mine, 3 - mine}) {
          connection.Execute("UPDATE author SET last_at = last_at + 1 WHERE author_id = " +
                             std::to_string(author));
          if (std::exchange(first, false)) both_locked.arrive_and_wait();
        }
        return true;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(attempts, 2) << "no deadlock";
  EXPECT_EQ(shards_.Number(0, "SELECT SUM(last_at) FROM author"), 2 + 4);
}

TEST_F(ConnectionTest, ADeadlockThatComesBackEachTimeIsGivenUp) {
  int attempts = 0;
  const auto body = [&]() -> bool {
    ++attempts;
    Insert(1);
    throw MysqlError(1213, "deadlock");
  };
  EXPECT_THROW(connection_.Transact(body), MysqlError);
  EXPECT_EQ(attempts, 5);
  EXPECT_EQ(Rows(), 0);
}

TEST_F(ConnectionTest, OtherErrorsRollBackAndAreNotRepeated) {
  int attempts = 0;
  const auto body = [&] {
    ++attempts;
    Insert(1);
    Insert(1);  // the same key again
    return true;
  };
  EXPECT_THROW(connection_.Transact(body), MysqlError);
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(Rows(), 0);
}

TEST_F(ConnectionTest, ABodyThatDeclinesLeavesNothing) {
  connection_.Transact([&] {
    Insert(1);
    return false;
  });
  EXPECT_EQ(Rows(), 0);
  Insert(2);  // and the session is out of the transaction: others see it
  Connection other(shards_.config(), 0);
  other.Open();
  other.Query("SELECT COUNT(*) FROM author", [](const Row& row) { EXPECT_EQ(row.Int64(1), 1); });
}

TEST_F(ConnectionTest, ALostConnectionIsNeverReopenedSilently) {
  const std::string id = std::to_string(shards_.Number(0, "SELECT CONNECTION_ID()"));
  Connection killer(shards_.config(), 0);
  killer.Open();
  int attempts = 0;
  const auto body = [&] {
    ++attempts;
    Insert(1);
    killer.Execute("KILL CONNECTION " + id);
    Insert(2);
    return true;
  };
  EXPECT_THROW(connection_.Transact(body), MysqlError);
  EXPECT_FALSE(connection_.is_open());
  EXPECT_THROW(Insert(3), MysqlError);
  connection_.Open();
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(Rows(), 0);
}

TEST_F(ConnectionTest, TheWholeRangeOfIdsAndNullsArriveAsTheyAre) {
  connection_.Query("SELECT 18446744073709551614, -9007199254740993, NULL, 'text'",
                    [](const Row& row) {
                      EXPECT_EQ(row.UInt64(1), UINT64_MAX - 1);
                      EXPECT_EQ(row.Int64(2), -9007199254740993);
                      EXPECT_EQ(row.OptionalInt64(3), std::nullopt);
                      EXPECT_EQ(row.Text(4), "text");
                    });
}

}  // namespace
}  // namespace fanline::mysql
