// Which servers may hold the truth, and what statements say to one kind alone.
#include "backends/mysql/sql/server.h"

#include <gmock/gmock.h>

#include "backends/mysql/binlog/binlog_end.h"
#include "backends/mysql/sql/errors.h"

namespace fanline::mysql {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(Servers, TheSupportedOnesAreKnownByTheirVersions) {
  for (const auto& [version, name] : {
           std::pair("10.11.11-MariaDB-0+deb12u1-log", "MariaDB 10.11.11"),
           std::pair("11.8.2-MariaDB", "MariaDB 11.8.2"),
           std::pair("8.0.29", "MySQL 8.0.29"),
           std::pair("8.0.36-28", "MySQL 8.0.36"),  // Percona
           std::pair("8.4.6-google", "MySQL 8.4.6"),
           std::pair("9.7.4-2", "MySQL 9.7.4"),
           std::pair("10.0", "MySQL 10.0.0"),
       }) {
    const Server server = ServerOf(version);
    EXPECT_EQ(server.name, name);
    EXPECT_THAT(server.refusal, IsEmpty()) << version;
  }
}

TEST(Servers, OthersAreRefusedByName) {
  for (const char* old : {"10.10.7-MariaDB", "5.7.44-log", "8.0.28", ""}) {
    EXPECT_THAT(ServerOf(old).refusal, AllOf(HasSubstr("too old"), HasSubstr("MySQL 8.0.29")));
  }
  for (const auto& [version, name] : {std::pair("8.0.11-TiDB-v7.5.1", "TiDB (8.0.11-TiDB-v7.5.1)"),
                                      std::pair("8.0.30-Vitess", "Vitess (8.0.30-Vitess)")}) {
    EXPECT_EQ(ServerOf(version).name, name);
    EXPECT_THAT(ServerOf(version).refusal, HasSubstr("stored procedures"));
  }
}

// No other attempt would find another server: a program does not start.
TEST(Servers, ARefusalIsNever) {
  const Status status = StatusOf(MysqlError(kUnsupported, "MySQL 5.7.44 is too old"), 1);
  EXPECT_TRUE(status.never());
  EXPECT_EQ(status.message, "mysql_1: MySQL 5.7.44 is too old");
}

TEST(Servers, OneTextSaysWhatEachKindUnderstands) {
  EXPECT_EQ(Limited(1500ms, "SELECT 1"),
            "/*M! SET STATEMENT max_statement_time = 1.500 FOR */ "
            "SELECT /*+ MAX_EXECUTION_TIME(1500) */ 1");
  EXPECT_EQ(IdleTransactionLimit(5s),
            "/*M!100300 , idle_transaction_timeout = 5 */ /*!80000 , wait_timeout = 60 */");
  EXPECT_STREQ(kNoTimeLimit,
               "/*M!100100 , max_statement_time = 0 */ /*!80000 , max_execution_time = 0 */");
  EXPECT_STREQ(kServerStart,
               "/*!80000 COALESCE(UNIX_TIMESTAMP() - (SELECT variable_value FROM "
               "performance_schema.global_status WHERE variable_name = 'Uptime'), */ "
               "RIGHT(UUID(), 17) /*!80000 ) */");
  EXPECT_TRUE(IsTimeLimit(1969) && IsTimeLimit(3024));
  EXPECT_FALSE(IsTimeLimit(1317));
}

TEST(Servers, MySqlTellsTheEndOfItsBinaryLogSinceItsVersion8_2) {
  EXPECT_TRUE(TellsEndOfBinlog("10.11.11-MariaDB-0+deb12u1-log"));
  EXPECT_TRUE(TellsEndOfBinlog("9.7.4-2"));
  EXPECT_TRUE(TellsEndOfBinlog("8.2.0"));
  EXPECT_FALSE(TellsEndOfBinlog("8.0.36-28"));
}

TEST(Servers, SomeLeaveDatabasesOutOfTheirBinaryLogs) {
  EXPECT_TRUE(LogsDatabase("fanline", "", ""));
  EXPECT_FALSE(LogsDatabase("fanline", "", "test,fanline"));
  EXPECT_TRUE(LogsDatabase("fanline", "", "fanline_test,fan"));
  EXPECT_TRUE(LogsDatabase("fanline", "fanline,test", "fanline")) << "the first counts";
  EXPECT_FALSE(LogsDatabase("fanline", "test", ""));
}

}  // namespace
}  // namespace fanline::mysql
