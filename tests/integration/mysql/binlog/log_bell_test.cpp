// Bells over real binary logs: what they tell of, what they refuse by name, and that they come up
// again at the present after whatever ended them. The servers keep binary logs (stack/with-stack
// --binlog).
#include "backends/mysql/binlog/log_bell.h"

#include <gmock/gmock.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/mysql/demotable_primary.h"
#include "tests/integration/mysql/shards.h"
#include "tests/integration/soon.h"

namespace fanline::mysql {
namespace {

using ::testing::HasSubstr;
constexpr const char* kRights = "REPLICATION SLAVE, REPLICATION CLIENT";

// Listens to shard 0 as a mirror does, but comes back after a failure only when told to.
class Listener {
 public:
  Listener(const Config& config, LogSink log) : bell_(config, std::move(log), 7) {}

  void Ask(bool anew = false) {
    {
      const std::lock_guard lock(mutex_);
      why_.clear();
      resting_ = false;
    }
    bell_.Submit(HearLog{1, 0, anew}, *this);
  }
  // Without coming back after the answer, as it rests.
  void AskOnce() { bell_.Submit(HearLog{1, 0, false}, *this); }
  void Push(LogHeard reply) {
    {
      const std::lock_guard lock(mutex_);
      if (!reply.status.done()) {
        EXPECT_TRUE(reply.status.later());
        EXPECT_EQ(reply.status.resource, "mysql_0");
        why_ = reply.status.message + "; " + reply.status.advice;
        return;
      }
      ++answers_;
      begun_ += reply.begun;
      told_.insert(reply.log_ids.begin(), reply.log_ids.end());
      if (resting_) return;
    }
    bell_.Submit(HearLog{1, 0, false}, *this);
  }
  void Rest() {
    const std::lock_guard lock(mutex_);
    resting_ = true;
  }
  bool WasTold(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return told_.contains(id);
  }
  size_t told() {
    const std::lock_guard lock(mutex_);
    return told_.size();
  }
  int answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }
  // How many bells were hung up and answered.
  int begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  // Why it failed; "": it has not.
  std::string why() {
    const std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  std::mutex mutex_;
  std::set<uint64_t> told_;
  std::string why_;
  int answers_ = 0, begun_ = 0;
  bool resting_ = false;
  MysqlLogBell bell_;  // last: its threads use the members above
};

class LogBell : public ::testing::Test {
 protected:
  LogBell() {
    admin_.Open();
    admin_.Execute(std::string("GRANT ") + kRights + " ON *.* TO " + account());
  }
  ~LogBell() override {
    for (const auto& [setting, value] : kept_) Set(setting, value);
    admin_.Execute("SET GLOBAL read_only = OFF");
  }

  std::string account() const { return shards_.config().user + "@127.0.0.1"; }
  void Set(const std::string& setting, const std::string& value) {
    const bool number = value == "0" || value == "1";
    admin_.Execute("SET GLOBAL " + setting + " = " + (number ? value : "'" + value + "'"));
  }
  // Until the test ends.
  void SetForNow(const std::string& setting, const std::string& value) {
    admin_.Query("SELECT @@global." + setting,
                 [&](const Row& row) { kept_.emplace(setting, row.Text(1)); });
    Set(setting, value);
  }
  uint64_t Insert() { return InsertBy(shards_.on(0)); }
  static uint64_t InsertBy(Connection& connection) {
    connection.Execute(
        "INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (1, 5, 7, 9, 1, 1)");
    return connection.Number("SELECT LAST_INSERT_ID()");
  }
  // Whether a row that is inserted now is told of. Comes back after failures.
  ::testing::AssertionResult Rings() {
    uint64_t id = 0;
    return Soon([&] {
      if (!listener_.why().empty()) listener_.Ask();
      id = Insert();
      return listener_.WasTold(id) || Soon1([&] { return listener_.WasTold(id); });
    });
  }
  // Within a tenth of a second.
  template <class Predicate>
  static bool Soon1(Predicate predicate) {
    for (int i = 0; i < 10 && !predicate(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return predicate();
  }
  ::testing::AssertionResult Fails() {
    return Soon([&] { return !listener_.why().empty(); });
  }
  // The links to the binary log.
  std::vector<std::string> Links() {
    return admin_.All(
        "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'",
        [](const Row& row) { return row.Text(1); });
  }
  void KillLinks() {
    for (const std::string& id : Links()) KillIfThere(admin_, id);
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  Shards shards_;
  const Config as_admin_ = AsAdmin(shards_.config());
  Connection admin_{as_admin_, 0};
  std::map<std::string, std::string> kept_;
  std::mutex mutex_;
  std::string log_;
  Listener listener_{shards_.config(), [this](LogLevel, const std::string& line) {
                       const std::lock_guard lock(mutex_);
                       log_ += line + "\n";
                     }};
};

TEST_F(LogBell, TellsOfARowOnceItIsCommitted) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  uint64_t kept = 0, rolled_back = 0;
  shards_.on(0).Transact([&] {
    kept = Insert();
    EXPECT_FALSE(Soon1([&] { return listener_.WasTold(kept); }));
    return true;
  });
  EXPECT_TRUE(Soon([&] { return listener_.WasTold(kept); }));
  shards_.on(0).Transact([&] {
    rolled_back = Insert();
    return false;
  });
  EXPECT_TRUE(Rings());
  EXPECT_FALSE(listener_.WasTold(rolled_back));
  EXPECT_THAT(log(), HasSubstr("(binary log): listening from binlog."));
}

TEST_F(LogBell, TellsOfFollowsAndOfNothingElse) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  const size_t before = listener_.told();
  shards_.on(0).Execute("UPDATE log1 SET done = 1");
  shards_.on(0).Execute("DELETE FROM log1 WHERE id = 1");
  shards_.PutFollower(shards_.UserOn(0, 1), UserId{7});
  ASSERT_TRUE(Rings());
  EXPECT_LE(listener_.told(), before + 3) << "what was inserted to see whether it rings";
  const uint64_t last = Insert();
  std::string many = "INSERT INTO log1 (kind, src, dst, ver, state, pos) VALUES (1, 5, 7, 9, 1, 1)";
  for (int row = 1; row < 500; ++row) many += ", (1, 5, 7, 9, 1, 1)";
  shards_.on(0).Execute(many);
  EXPECT_TRUE(Soon([&] { return listener_.WasTold(last + 500); })) << "in many events";
  for (uint64_t id = last; id <= last + 500; ++id) EXPECT_TRUE(listener_.WasTold(id)) << id;
}

TEST_F(LogBell, WhateverARowsImageIs) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  for (const char* const image : {"MINIMAL", "NOBLOB", "FULL"}) {
    admin_.Execute(std::string("SET SESSION binlog_row_image = '") + image + "'");
    const uint64_t id = InsertBy(admin_);
    EXPECT_TRUE(Soon([&] { return listener_.WasTold(id); })) << image;
  }
}

TEST_F(LogBell, AcrossRotationsPurgesChecksumsAndOtherTables) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  const std::string link = Links().at(0);
  admin_.Execute("FLUSH BINARY LOGS");
  EXPECT_TRUE(Rings());
  std::string file;
  admin_.Query("SHOW BINARY LOGS", [&](const Row& row) { file = row.Text(1); });
  admin_.Execute("PURGE BINARY LOGS TO '" + file + "'");
  EXPECT_TRUE(Rings());
  for (const char* const checksum : {"NONE", "CRC32"}) {
    SetForNow("binlog_checksum", checksum);
    EXPECT_TRUE(Rings()) << checksum;
  }
  shards_.on(0).Execute("ALTER TABLE log1 ADD COLUMN more SMALLINT NOT NULL DEFAULT 7 AFTER kind");
  EXPECT_TRUE(Rings());
  shards_.on(0).Execute("ALTER TABLE log1 DROP COLUMN more");
  EXPECT_TRUE(Rings());
  EXPECT_EQ(Links(), std::vector{link}) << "all by one link";
}

TEST_F(LogBell, AColumnThatNobodyKnowsIsNamed) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  shards_.on(0).Execute("ALTER TABLE log1 ADD COLUMN remark VARCHAR(20) NOT NULL DEFAULT ''");
  Insert();
  ASSERT_TRUE(Fails());
  EXPECT_THAT(listener_.why(), HasSubstr("log1 with a column of type 15"));
  EXPECT_THAT(log(), HasSubstr("polls go on"));
}

TEST_F(LogBell, ALinkThatIsKilledInTheMiddleOfATransactionComesUpAtThePresent) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  uint64_t during = 0;
  shards_.on(0).Transact([&] {
    during = Insert();
    EXPECT_EQ(listener_.begun(), 1);
    KillLinks();
    EXPECT_TRUE(Fails());
    EXPECT_THAT(listener_.why(), HasSubstr("the link ended")) << "the server is well";
    return true;
  });
  const uint64_t meanwhile = Insert();
  ASSERT_TRUE(Rings());
  EXPECT_FALSE(listener_.WasTold(meanwhile)) << "that is the polls' to find";
  EXPECT_FALSE(listener_.WasTold(during));
  EXPECT_EQ(listener_.begun(), 2);
}

TEST_F(LogBell, WithoutNewsItAnswersNowAndThen) {
  listener_.Ask();
  EXPECT_TRUE(Soon([&] { return listener_.answers() >= 2; }));
  EXPECT_EQ(listener_.told(), 0u);
}

TEST_F(LogBell, WhatComesBetweenTwoQuestionsIsKept) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  listener_.Rest();
  const uint64_t first = Insert();
  ASSERT_TRUE(Soon([&] { return listener_.WasTold(first); }));
  const uint64_t second = Insert();
  EXPECT_FALSE(Soon1([&] { return listener_.WasTold(second); })) << "nobody asks";
  listener_.Ask();
  EXPECT_TRUE(Soon([&] { return listener_.WasTold(second); }));
}

// As under load, when the mirror reads rows in between.
TEST_F(LogBell, ALinkWhoseEveryAnswerIsThereAlreadyStaysUp) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  const auto link = Links();
  listener_.Rest();
  const uint64_t first = Insert();
  ASSERT_TRUE(Soon([&] { return listener_.WasTold(first); }));
  for (int question = 0; question < 15; ++question) {
    const uint64_t id = Insert();
    EXPECT_FALSE(Soon1([&] { return listener_.WasTold(id); })) << "nobody asks";
    listener_.AskOnce();
    EXPECT_TRUE(listener_.WasTold(id));
  }
  EXPECT_EQ(Links(), link);
}

TEST_F(LogBell, ALinkThatNobodyAsksForIsTakenDown) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  EXPECT_EQ(Links().size(), 1u);
  listener_.Rest();
  EXPECT_TRUE(Soon([&] { return Links().empty(); }));
  listener_.Ask();
  EXPECT_TRUE(Soon([&] { return Links().size() == 1; }));
}

TEST_F(LogBell, IsHungUpAnewWhenAsked) {
  listener_.Ask();
  ASSERT_TRUE(Rings());
  const auto before = Links();
  listener_.Rest();
  const uint64_t last = Insert();
  ASSERT_TRUE(Soon([&] { return listener_.WasTold(last); }));
  const uint64_t kept = Insert();
  EXPECT_FALSE(Soon1([&] { return listener_.WasTold(kept); })) << "nobody asks";
  listener_.Ask(true);
  EXPECT_TRUE(Soon([&] { return Links().size() == 1 && Links() != before; }));
  const uint64_t id = Insert();
  EXPECT_TRUE(Soon([&] { return listener_.WasTold(id); }));
  EXPECT_FALSE(listener_.WasTold(kept)) << "by the link of before";
}

TEST_F(LogBell, AMissingRightIsNamed) {
  for (const char* const right : {"REPLICATION SLAVE", "REPLICATION CLIENT"}) {
    admin_.Execute(std::string("REVOKE ") + right + " ON *.* FROM " + account());
    listener_.Ask();
    EXPECT_TRUE(Fails());
    EXPECT_THAT(listener_.why(), HasSubstr(std::string("GRANT ") + kRights)) << right;
    EXPECT_THAT(log(), HasSubstr(kRights));
    admin_.Execute(std::string("GRANT ") + kRights + " ON *.* TO " + account());
    EXPECT_TRUE(Rings()) << right;
    KillLinks();
    EXPECT_TRUE(Fails());
  }
}

TEST_F(LogBell, ABinaryLogOfStatementsIsRefused) {
  SetForNow("binlog_format", "STATEMENT");
  listener_.Ask();
  ASSERT_TRUE(Fails());
  EXPECT_THAT(listener_.why(), HasSubstr("SET GLOBAL binlog_format = ROW"));
  Set("binlog_format", "MIXED");
  EXPECT_TRUE(Rings()) << "our transactions leave rows in it";
}

TEST_F(LogBell, ACompressedBinaryLogIsRefused) {
  const std::string setting = OnMySql() ? "binlog_transaction_compression" : "log_bin_compress";
  const std::string mend = "SET GLOBAL " + setting + " = OFF";
  listener_.Ask();
  ASSERT_TRUE(Rings());
  SetForNow(setting, "1");
  KillLinks();
  ASSERT_TRUE(Fails());
  listener_.Ask();
  ASSERT_TRUE(Fails());
  EXPECT_THAT(listener_.why(), HasSubstr(mend)) << "at the start";
  admin_.Execute(mend);
  ASSERT_TRUE(Rings());
  if (!OnMySql()) return;
  Connection compresses(shards_.config(), 0);
  compresses.Open();
  compresses.Execute("SET @fixture = 1");
  admin_.Execute("GRANT SESSION_VARIABLES_ADMIN ON *.* TO " + account());
  compresses.Execute("SET SESSION binlog_transaction_compression = ON");
  InsertBy(compresses);
  ASSERT_TRUE(Fails());
  EXPECT_THAT(listener_.why(), HasSubstr(mend)) << "and by an event";
}

// The client library would go to this machine's own server, by its socket.
TEST_F(LogBell, AServerIsReachedAtItsPortAlsoIfItsNameIsLocalhost) {
  Config config = shards_.config();
  config.shards[0].host = "localhost";
  Listener listener(config, kNoLog);
  listener.Ask();
  EXPECT_TRUE(Soon([&] {
    const uint64_t id = Insert();
    return Soon1([&] { return listener.WasTold(id); });
  })) << listener.why();
}

TEST_F(LogBell, AServerThatWasDemotedIsRefused) {
  admin_.Execute("SET GLOBAL read_only = ON");
  listener_.Ask();
  ASSERT_TRUE(Fails());
  EXPECT_THAT(listener_.why(), HasSubstr("read-only"));
}

}  // namespace
}  // namespace fanline::mysql
