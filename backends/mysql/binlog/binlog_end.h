// Whether a server's binary log tells of rows of log1 in a form that we read, and where it ends.
#pragma once

#include <cstdint>
#include <string>

#include "backends/mysql/sql/connection.h"

namespace fanline::mysql {

inline constexpr int kRightMissing = 1227;  // an error of the server

struct BinlogPlace {
  std::string file;
  uint64_t position = 0;
};

struct BinlogEnd {
  BinlogPlace place;
  std::string database;  // the connection's, by the name that the server gives it
};

// What an account needs to be told where the binary log ends, and to be sent it.
inline constexpr const char* kBinlogRights =
    "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO the mirrors' account on every shard, or "
    "go back by feedctl relations mode async";

// Whether rows of a database are logged, by the server's settings binlog_do_db and
// binlog_ignore_db: names between commas. The second counts where the first is empty.
[[nodiscard]] bool LogsDatabase(const std::string& database, const std::string& only,
                                const std::string& not_these);

// The end as it is now: what is committed from now on comes behind it. Throws MysqlError, and says
// what to set, if the server keeps no binary log, or one that does not tell of single rows, or of
// this database, or a compressed one. MySQL before 8.2 does not know the statement that asks.
[[nodiscard]] BinlogEnd EndOfBinlog(Connection& connection);

// Why a mirror in the mode `log` cannot listen to this server, and what to set: "what; what to do".
// "": it can, if its account has the rights of this connection's. Throws MysqlError if the server
// does not answer.
[[nodiscard]] std::string WhyNoBell(Connection& connection);

}  // namespace fanline::mysql
