// The one table from error codes of the servers and of their client library to what the caller
// should do.
//
// Only errors that say that this very value cannot be stored are never. All others are later,
// including unknown codes: the operator mends a missing table, a full disk or a wrong password, and
// events quarantined until then would be lost work.
#pragma once

#include <stdexcept>
#include <string>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

struct Config;

enum class ErrorKind {
  kDeadlock,  // this transaction was rolled back as the victim: repeat it at once
  kLost,      // the connection is useless or leads to the wrong server: open it again; the
              // statement may have been executed nevertheless
  kBusy,      // refused for a reason outside this request; the connection is still good
  kData,      // this value can never be stored
};

// What a read-only server answers to a write, and what we answer to a read of truth there.
inline constexpr int kReadOnly = 1290;
// Ours: the server is of a kind or version that cannot hold the truth (server.h). Its Status is
// never, with the cause kSetting, but later for work that has begun (shard_pool.h, CheckUnchanged).
inline constexpr int kUnsupported = -1;

// Whether a server answers so to who wants to connect. It says nothing about those connected.
bool RefusesToConnect(int code);

// Whether the server ended a statement at its time limit (Limited).
bool IsTimeLimit(int code);

// Knows the server codes (1xxx, 3xxx, 4xxx) of MariaDB and MySQL, and the client codes (2xxx).
// 0: an error that the connector raised itself.
ErrorKind KindOf(int code);

// 1213 for a deadlock that the storage engine has reported by a number of its own. Else `code`.
int CodeOf(int code, const std::string& message);

class MysqlError : public std::runtime_error {
 public:
  MysqlError(int code, const std::string& message)
      : std::runtime_error(message), code_(CodeOf(code, message)), kind_(KindOf(code_)) {}
  int code() const { return code_; }
  ErrorKind kind() const { return kind_; }

 private:
  int code_;
  ErrorKind kind_;
};

// Which option to change when the server refuses a statement about a table of an application: the
// one that names the table, or the one that names its columns. "": neither; the error may pass.
std::string OptionBehind(const MysqlError& error, const std::string& table,
                         const std::string& columns);

// kData is never. All others are later and name the shard or the resource. Without advice for a
// server that is not a shard.
Status StatusOf(const MysqlError& error, Shard shard);
Status StatusOf(const MysqlError& error, const Config& config, Shard shard);
Status StatusOf(const MysqlError& error, const std::string& resource);

}  // namespace fanline::mysql
