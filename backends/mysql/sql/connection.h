// One connection to one shard. Autocommit; READ COMMITTED; session time in UTC; strict SQL mode.
//
// Never reconnects behind the caller's back (a silent reconnect drops the transaction and resets
// the isolation level): an error of kind kLost closes it, and its owner opens it anew. Truth is
// read on primaries only. Open refuses a read-only server (read_only or innodb_read_only).
// CheckPrimary and RequirePrimary close the connection to a server that has become read-only: the
// request is then `later`, and the next Open resolves the host's name anew.
//
// A planned switchover makes the old primary read-only, lets the replica catch up, and only then
// writes to the replica. So a read was of the truth if the server that answered it was no read-only
// one AFTERWARDS: nobody could have written elsewhere yet. A check before a read proves nothing.
//
// Calls block, bounded by the timeouts of Config, and throw MysqlError. One thread at a time; it
// may move between threads while nothing runs.
//
// Results are fetched whole before the first row is shown. Streaming would be 6% faster and is a
// trap: this client library takes an error in the middle of a streamed result (a killed query, a
// server that gives up) for its end, and followers would be missing silently. Large results are
// therefore read in pages. Raw libmariadb does not pay either: reading first pages of 100 authors
// of 200 followers, it made 1.1 times the connector's rows per second (text) and 1.1 times
// (prepared); four fifths of the time are the server's.
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

  // Of a column that is not ours.
  enum class Type { kInteger, kWideInteger, kReal, kText, kBytes };  // wide: may be above 2^53
  Type TypeOf(uint32_t column) const;
  bool IsNull(uint32_t column) const;
  double Double(uint32_t column) const;

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

  // Call before each use. Asks the server whether it is still the primary, at the first use and
  // then every Config::primary_check. Throws like a statement; closes the connection to a read-only
  // server. It keeps a connection from leading to the wrong server for long; it proves no read.
  void CheckPrimary(Time now);
  // Call after reads whose answers are acted on. Throws, and closes the connection, unless the
  // server was the primary while it answered them.
  void RequirePrimary();

  // Rows inserted + 2 x rows changed for an upsert, else rows changed.
  uint64_t Execute(const std::string& sql);
  void Query(const std::string& sql, const std::function<void(const Row&)>& each);

  // Runs `body` in a transaction and commits it. A deadlock's victim starts over, a few times.
  // False from `body` and any exception roll back. When the commit loses the connection, nobody
  // knows whether it happened: the caller's writes must be idempotent.
  void Transact(const std::function<bool()>& body);

  // Calls a procedure that makes its own transaction, and shows the rows of its result if it has
  // one. A deadlock's victim starts over, a few times; any other error rolls back what the
  // procedure left open. When it loses the connection, nobody knows whether it committed, as above.
  void Call(const std::string& sql, const std::function<void(const Row&)>& each);

 private:
  void CallOnce(const std::string& sql, const std::function<void(const Row&)>& each);
  void RetryDeadlocks(const std::function<void()>& attempt);
  void TransactOnce(const std::function<bool()>& body);
  void RollBack() noexcept;

  const Config& config_;
  const Shard shard_;
  const Options options_;
  std::unique_ptr<sql::Connection> connection_;
  std::unique_ptr<sql::Statement> statement_;
  std::optional<Time> checked_primary_;  // nothing: not yet since Open
};

}  // namespace fanline::mysql
