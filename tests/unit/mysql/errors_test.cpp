#include "backends/mysql/sql/errors.h"

#include <gmock/gmock.h>

#include "backends/mysql/sql/config.h"

namespace fanline::mysql {
namespace {

using ::testing::HasSubstr;

TEST(ErrorTable, EachClassOfErrorHasItsKind) {
  for (const int deadlock : {1213, 3101}) EXPECT_EQ(KindOf(deadlock), ErrorKind::kDeadlock);
  for (const int lost : {2002, 2003, 2006, 2013, 2014, 2030, 1927, 1053, 0}) {
    EXPECT_EQ(KindOf(lost), ErrorKind::kLost) << lost;
  }
  for (const int refused : {1040, 1045, 1290, 1665}) {
    EXPECT_EQ(KindOf(refused), ErrorKind::kLost) << refused;
  }
  for (const int busy : {1205, 1317, 1114, 1021}) EXPECT_EQ(KindOf(busy), ErrorKind::kBusy) << busy;
  for (const int data : {1264, 1366, 1406, 4025}) EXPECT_EQ(KindOf(data), ErrorKind::kData) << data;
}

TEST(ErrorTable, OnlyDataIsNeverAndAllElseNamesTheShard) {
  const Status never = StatusOf(MysqlError(1264, "out of range"), 3);
  EXPECT_TRUE(never.never());
  EXPECT_TRUE(never.resource.empty());
  for (const int code : {1213, 1205, 2013, 1290, 1146, 99999}) {
    const Status later = StatusOf(MysqlError(code, "text"), 3);
    EXPECT_TRUE(later.later()) << code;
    EXPECT_EQ(later.resource, "mysql_3");
    EXPECT_THAT(later.message, HasSubstr(std::to_string(code) + ": text"));
  }
}

TEST(ErrorTable, ADeadlockThatTheStorageEngineReportsIsOne) {
  const MysqlError deadlock(1180, "Got error 149 - 'Lock deadlock; Retry transaction' on COMMIT");
  EXPECT_EQ(deadlock.kind(), ErrorKind::kDeadlock);
  EXPECT_EQ(StatusOf(deadlock, 0).cause, Cause::kLocked);
  EXPECT_EQ(MysqlError(1180, "Got error 28 - 'No space' on COMMIT").kind(), ErrorKind::kBusy);
}

// The tables of an installation may be older than the program.
TEST(ErrorTable, AMissingTableColumnOrProcedureSaysWhatToType) {
  for (const int code : {1146, 1054, 1305, 1318}) {
    EXPECT_THAT(StatusOf(MysqlError(code, "Table 'f.range_start' doesn't exist"), 0).message,
                ::testing::EndsWith("; feedctl migrate makes what is missing"));
    EXPECT_THAT(StatusOf(MysqlError(code, "Table 'f.installation' doesn't exist"), 0).message,
                ::testing::EndsWith("; run feedctl init first"));
  }
  EXPECT_THAT(StatusOf(MysqlError(1205, "text"), 0).message, ::testing::Not(HasSubstr("feedctl")));
}

TEST(ErrorTable, AServerThatAdmitsNoFurtherConnectionIsNotAway) {
  for (const int code :
       {1040, 1203, 1226, 1045, 1129, 1130, 1251, 1524, 1698, 1862, 3118, 3955, 4150, 4151}) {
    EXPECT_TRUE(RefusesToConnect(code)) << code;
    EXPECT_EQ(KindOf(code), ErrorKind::kLost) << code;
  }
  for (const int code : {0, 2002, 2003, 2006, 2013, 1053, 1290, 1049, 1665}) {
    EXPECT_FALSE(RefusesToConnect(code)) << code;
  }
}

TEST(ErrorTable, SaysWhyAndWhatToDo) {
  const auto of = [](int code, const char* text = "x") {
    return StatusOf(MysqlError(code, text), 0);
  };
  const Status away = of(2002, "Can't connect to server on 'm1' (111)");
  EXPECT_EQ(away.message, "SQL error 2002: connection refused");
  EXPECT_EQ(of(2002, "Can't connect to server on 'm1' (115)").message,
            "SQL error 2002: no connection");
  EXPECT_EQ(away.cause, Cause::kAway);
  EXPECT_STREQ(away.advice, "start it or set --mysql-shards / FANLINE_MYSQL_SHARDS");
  for (const int code : {1044, 1045, 1049, 1130, 1146, 1054, 1305, 1318, 1148, 1227, 1251, 1524,
                         1665, 1698, 1820, 1862, 3118, 3948, 3955, 4150, 4151, 4166, 2026}) {
    EXPECT_EQ(of(code).cause, Cause::kSetting) << code;
  }
  EXPECT_STREQ(of(4166).advice,
               "SET GLOBAL local_infile = ON on every shard (clouds: the parameter group)");
  EXPECT_THAT(of(1665).advice, HasSubstr("SET GLOBAL binlog_format = ROW"));
  EXPECT_THAT(of(1044).advice, HasSubstr("create the database if it is not there, and give"));
  EXPECT_THAT(of(1044).advice, HasSubstr("who makes the tables; docs/security.md"));
  EXPECT_THAT(of(1045).advice,
              HasSubstr("--mysql-password-file (or --mysql-password); or --mysql-tls-ca"));
  EXPECT_THAT(of(3118).advice, HasSubstr("ACCOUNT UNLOCK"));
  EXPECT_THAT(of(3955).advice, HasSubstr("ACCOUNT UNLOCK"));
  EXPECT_THAT(of(4150).advice, HasSubstr("FLUSH PRIVILEGES"));
  EXPECT_THAT(of(1524).advice, HasSubstr("IDENTIFIED WITH caching_sha2_password"));
  EXPECT_THAT(of(1698).advice, HasSubstr("by the server's socket only"));
  for (const int too_many : {1040, 1203, 1226}) {
    EXPECT_EQ(of(too_many).cause, Cause::kOther) << "it may pass";
    EXPECT_THAT(of(too_many).advice, HasSubstr("--pull-threads"));
  }
  EXPECT_EQ(of(1290).cause, Cause::kOther) << "a failover passes";
  EXPECT_THAT(of(1290).advice, HasSubstr("--mysql-shards"));
  EXPECT_STREQ(of(1146).advice, "") << "the message says it";
  EXPECT_STREQ(of(2026).advice, "set --mysql-tls-ca to who signed its certificate");
  EXPECT_STREQ(of(2026, "SSL is required, but the server does not support it").advice,
               "turn TLS on at the server, or leave --mysql-tls-ca out");
  EXPECT_THAT(of(2026, "SSL connection error: Validation of SSL server certificate failed").advice,
              HasSubstr("another name"));
  EXPECT_EQ(of(1205).cause, Cause::kLocked);
  EXPECT_EQ(of(1213).cause, Cause::kLocked);
  EXPECT_EQ(of(1114).cause, Cause::kOther);
}

// Programs need fewer rights than whoever makes the tables.
TEST(ErrorTable, WhatAnAccountMayNotDoIsNamedWithTheRightsItLacks) {
  const auto of = [](int code, const char* text) { return StatusOf(MysqlError(code, text), 0); };
  for (const auto& [code, text] :
       {std::pair(1142, "SELECT command denied to user 'u'@'h' for table 'installation'"),
        std::pair(1143, "UPDATE command denied to user 'u'@'h' for column 'own'"),
        std::pair(1370, "execute command denied to user 'u'@'h' for routine 'f.change_edge'")}) {
    EXPECT_EQ(of(code, text).cause, Cause::kSetting);
    EXPECT_THAT(of(code, text).advice, HasSubstr("DELETE and EXECUTE")) << text;
  }
  for (const auto& [code, text] :
       {std::pair(1142, "CREATE command denied to user 'u'@'h' for table 'migration'"),
        std::pair(1370, "alter routine command denied to user 'u'@'h' for routine 'f.x'")}) {
    EXPECT_EQ(of(code, text).cause, Cause::kSetting);
    EXPECT_THAT(of(code, text).advice, HasSubstr("CREATE ROUTINE and ALTER ROUTINE")) << text;
  }
  EXPECT_THAT(of(1227, "you need the SYSTEM_USER privilege").advice,
              HasSubstr("the account that made the tables"));
}

TEST(ErrorTable, AServerThatCannotBeAShardIsNeverAndNamedWithItsAddress) {
  Config config;
  config.shards = {{"m0", 3306, "feed"}, {"m1", 3307, "feed"}};
  const Status status = StatusOf(MysqlError(kUnsupported, "MySQL 5.7.1 is too old"), config, 1);
  EXPECT_TRUE(status.never());
  EXPECT_EQ(status.cause, Cause::kSetting);
  EXPECT_EQ(status.message, "shard 1 at m1:3307/feed: MySQL 5.7.1 is too old");
}

TEST(ErrorTable, AServerThatIsNoShardIsSpokenOfWithoutTheOptionsOfShards) {
  Config config;
  config.shards = {{"app", 3306, "posts"}};
  config.resource = "bodies";
  const Status status = StatusOf(MysqlError(1045, "no"), config, 0);
  EXPECT_EQ(status.resource, "bodies");
  EXPECT_EQ(status.cause, Cause::kSetting);
  EXPECT_STREQ(status.advice, "");
}

}  // namespace
}  // namespace fanline::mysql
