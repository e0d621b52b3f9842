// A server's binary log from a place on, as a replica gets it. The only code that uses libmariadb's
// replication API: Connector/C++ has none.
//
// The server sends all events of all databases, and a heartbeat while there are none. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/mysql/binlog/binlog_end.h"
#include "backends/mysql/sql/config.h"

struct st_mysql;
struct st_mariadb_rpl;

namespace fanline::mysql {

class BinlogLink {
 public:
  static constexpr std::chrono::milliseconds kHeartbeat{500};
  // A longer event ends the link: no event of ours is near that.
  static constexpr unsigned long kMostBytes = 64UL << 20;

  // Connects, and asks for all that follows `from`. `server_id` is of no other server and of no
  // other replica: a server ends the link of the first when a second one comes. Throws MysqlError.
  BinlogLink(const Config& config, Shard shard, const BinlogPlace& from, uint32_t server_id);
  ~BinlogLink();

  // The next event, until the next call. Waits for a heartbeat at the longest. Throws MysqlError
  // when the link is lost, also if nothing comes for Config::read_timeout.
  [[nodiscard]] std::string_view Next();

 private:
  struct Close {
    void operator()(st_mysql* link) const;
    void operator()(st_mariadb_rpl* link) const;
  };
  [[noreturn]] void Throw() const;
  void Set(const char* sql);

  std::unique_ptr<st_mysql, Close> mysql_;
  std::unique_ptr<st_mariadb_rpl, Close> log_;  // below: it is closed first
};

}  // namespace fanline::mysql
