// One connection to one shard. Autocommit; READ COMMITTED; session time in UTC; strict SQL mode.
//
// Never reconnects behind the caller's back (a silent reconnect drops the transaction and resets
// the isolation level): an error of kind kLost closes it, and whoever owns it opens it anew.
// Truth is read on primaries only. A server that is read-only (read_only or innodb_read_only) is
// refused when the connection opens, and CheckPrimary closes the connection to one that has become
// so: what is asked then is `later`, and opening anew resolves the host's name anew.
//
// Calls block, bounded by the timeouts of Config, and throw MysqlError. One thread at a time; it
// may move between threads while nothing runs.
//
// Results are fetched whole before the first row is shown. Row by row would be 6% faster and is a
// trap: this client library takes an error in the middle of a streamed result (a killed query, a
// server that gives up) for its end, and followers would be missing silently. What is large is
// therefore read in pages. Nor does going past the connector pay: reading first pages of 100
// authors of 200 followers, raw libmariadb made 1.1 of the connector's rows per second (text)
// and 1.1 (prepared); four fifths of the time are the server's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/errors.h"
#include "fanline/base/time.h"

namespace sql {
class Connection;
class ResultSet;
class Statement;
}  // namespace sql

namespace fanline::mysql {

// One row while it is shown. Columns count from 1, as in the connector.
class Row {
 public:
  explicit Row(sql::ResultSet& result) : result_(result) {}
  uint64_t UInt64(uint32_t column) const;
  int64_t Int64(uint32_t column) const;
  bool Bool(uint32_t column) const { return Int64(column) != 0; }
  std::string Text(uint32_t column) const;
  std::optional<int64_t> OptionalInt64(uint32_t column) const;

 private:
  sql::ResultSet& result_;
};

class Connection {
 public:
  struct Options {
    bool local_infile = false;                         // LOAD DATA LOCAL: only for a bulk load
    std::optional<std::chrono::seconds> read_timeout;  // instead of Config's
  };

  // `config` outlives the connection. Opens nothing yet.
  Connection(const Config& config, Shard shard, Options options);
  Connection(const Config& config, Shard shard) : Connection(config, shard, Options()) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Shard shard() const { return shard_; }
  bool is_open() const { return connection_ != nullptr; }
  void Open();  // throws; closes what was open; a read-only server is refused
  void Close() noexcept;

  // Before each use: asks the server whether it is still the primary, at the first use and then
  // every Config::primary_check. Throws like a statement; a read-only server costs the connection.
  // What is read between two checks may be read from a server just demoted.
  void CheckPrimary(Time now);

  // Rows inserted + 2 x rows changed for an upsert, else rows changed.
  uint64_t Execute(const std::string& sql);
  void Query(const std::string& sql, const std::function<void(const Row&)>& each);

  // Runs `body` in a transaction and commits it. A deadlock's victim starts over, a few times.
  // `body` returning false rolls back. Whatever is thrown rolls back too. When Commit itself
  // loses the connection nobody knows whether it happened: the caller's writes are idempotent.
  void Transact(const std::function<bool()>& body);

  // Calls a procedure that makes its own transaction, and shows the rows of its result if it has
  // one. A deadlock's victim starts over, a few times; any other error rolls back what the
  // procedure left open. Lost while it ran: nobody knows whether it had committed, as above.
  void Call(const std::string& sql, const std::function<void(const Row&)>& each);

 private:
  void CallOnce(const std::string& sql, const std::function<void(const Row&)>& each);
  void RetryDeadlocks(const std::function<void()>& attempt);
  void TransactOnce(const std::function<bool()>& body);
  void RollBack() noexcept;
  void RefuseReadOnly();

  const Config& config_;
  const Shard shard_;
  const Options options_;
  std::unique_ptr<sql::Connection> connection_;
  std::unique_ptr<sql::Statement> statement_;
  std::optional<Time> checked_primary_;  // nothing: not yet since Open
};

}  // namespace fanline::mysql
