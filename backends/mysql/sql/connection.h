// One connection to one shard. Autocommit; READ COMMITTED; session time in UTC; strict SQL mode.
//
// A connection never reconnects by itself, because a silent reconnect drops the transaction and
// resets the isolation level. An error of kind kLost closes it, and its owner opens it again. Truth
// is read on primaries only: Open refuses a read-only server (read_only or innodb_read_only), and
// CheckPrimary and RequirePrimary close the connection to a server that has become read-only. The
// request is then `later`, and the next Open resolves the host's name again.
//
// A planned switchover makes the old primary read-only, lets the replica catch up, and only then
// writes to the replica. So a read returned the truth if its server was still writable AFTERWARDS:
// nobody could have written elsewhere before. A check before a read proves nothing. Config::replica
// turns all of this off.
//
// Calls block, limited by the timeouts of Config, and throw MysqlError. One thread at a time; it
// may change between calls.
//
// Results are fetched whole before the first row is passed on. Streaming would be 6% faster but
// loses rows: this client library takes an error within a streamed result (a killed query, a server
// that gives up) for its end, and followers would be missing silently. Large results are therefore
// read in pages. Raw libmariadb does not pay either: reading first pages of 100 authors of 200
// followers, it made 1.1 times the connector's rows per second, both with text and with prepared
// statements. Four fifths of the time are the server's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/errors.h"
#include "fanline/base/time.h"

namespace sql {
class Connection;
class ResultSet;
class Statement;
}  // namespace sql

namespace fanline::mysql {

// One row of a result, valid during the call that gets it. Columns count from 1, as in the
// connector.
class Row {
 public:
  explicit Row(sql::ResultSet& result) : result_(result) {}
  uint64_t UInt64(uint32_t column) const;
  int64_t Int64(uint32_t column) const;
  bool Bool(uint32_t column) const { return Int64(column) != 0; }
  std::string Text(uint32_t column) const;
  std::optional<int64_t> OptionalInt64(uint32_t column) const;

  // For columns of applications' tables.
  enum class Type { kInteger, kWideInteger, kReal, kText, kBytes };  // wide: may exceed 2^53
  Type TypeOf(uint32_t column) const;
  bool IsNull(uint32_t column) const;
  double Double(uint32_t column) const;

 private:
  sql::ResultSet& result_;
};

class Connection {
 public:
  struct Options {
    bool local_infile = false;                         // LOAD DATA LOCAL; for bulk loads only
    std::optional<std::chrono::seconds> read_timeout;  // replaces Config's
  };

  // `config` outlives the connection. Does not open it.
  Connection(const Config& config, Shard shard, Options options);
  Connection(const Config& config, Shard shard) : Connection(config, shard, Options()) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Shard shard() const { return shard_; }
  // Tells servers apart, and the starts of a server: of the one that Open found.
  uint64_t server() const { return server_; }
  // "MySQL 9.7.4"
  const std::string& server_name() const { return server_name_; }
  bool is_open() const { return connection_ != nullptr; }
  // Closes what was open. Refuses a read-only server, and one that cannot hold what is ours
  // (server.h). Throws, and is closed then: a session with only part of its settings is of no use.
  void Open();
  void Close() noexcept;

  // Call before each use. Asks the server whether it is still the primary, at the first use and
  // then every Config::primary_check. Throws like a statement, and closes the connection to a
  // read-only server. This bounds how long a connection leads to the wrong server; it proves no
  // read.
  void CheckPrimary(Time now);
  // Call after reads whose results are acted on. Throws and closes the connection unless the server
  // was the primary while it answered them.
  void RequirePrimary();

  // Returns the rows changed; for an upsert, the rows inserted + 2 x the rows changed.
  uint64_t Execute(const std::string& sql);
  void Query(const std::string& sql, const std::function<void(const Row&)>& each);
  // The first column of the last row; 0 without a row.
  uint64_t Number(const std::string& sql);
  // Each row as `read` makes it.
  template <class Read>
  auto All(const std::string& sql, Read read) {
    std::vector<std::invoke_result_t<Read&, const Row&>> rows;
    Query(sql, [&](const Row& row) { rows.push_back(read(row)); });
    return rows;
  }

  // Runs `body` in a transaction and commits it. The victim of a deadlock starts over, a few times.
  // The transaction is rolled back if `body` returns false or throws. If the connection is lost
  // during the commit, the commit may or may not have happened, so the caller's writes must be
  // idempotent.
  void Transact(const std::function<bool()>& body);

  // Calls a procedure that makes its own transaction, and passes on the rows of its result, if any.
  // The victim of a deadlock starts over, a few times. Any other error rolls back what the
  // procedure left open. If the connection is lost, the commit may or may not have happened, as in
  // Transact.
  void Call(const std::string& sql, const std::function<void(const Row&)>& each);

 private:
  void Connect();
  void RequireSupported();
  void CallOnce(const std::string& sql, const std::function<void(const Row&)>& each);
  void RetryDeadlocks(const std::function<void()>& attempt);
  void TransactOnce(const std::function<bool()>& body);
  void RollBack() noexcept;

  const Config& config_;
  const Shard shard_;
  const Options options_;
  std::unique_ptr<sql::Connection> connection_;
  std::unique_ptr<sql::Statement> statement_;
  uint64_t server_ = 0;
  std::string server_name_;
  std::optional<Time> checked_primary_;  // nothing: not since Open
};

}  // namespace fanline::mysql
