// What an error of MariaDB or of its client library means for the caller: the one table from error
// codes to outcomes.
//
// Never is only for errors that name this very value as unstorable. All others are later, also
// codes not in the table: the operator mends a missing table, a full disk or a wrong password, and
// events quarantined meanwhile would be lost work.
#pragma once

#include <stdexcept>
#include <string>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

enum class ErrorKind {
  kDeadlock,  // the transaction was rolled back as the victim: repeat it at once
  kLost,      // the connection is of no use any more, or leads to the wrong server: open anew;
              // the statement may have been executed all the same
  kBusy,      // refused for a reason outside this request; the connection is still good
  kData,      // this value can never be stored
};

// A read-only server's answer to a write, and ours to a read of truth there.
inline constexpr int kReadOnly = 1290;

// The server codes (1xxx, 4xxx) and client codes (2xxx) of MariaDB, and the few in which MySQL 8
// differs. 0 = an error the connector raised itself.
ErrorKind KindOf(int code);

class MysqlError : public std::runtime_error {
 public:
  MysqlError(int code, const std::string& message)
      : std::runtime_error(message), code_(code), kind_(KindOf(code)) {}
  int code() const { return code_; }
  ErrorKind kind() const { return kind_; }

 private:
  int code_;
  ErrorKind kind_;
};

// kData: never. All others: later, naming the shard, or the resource.
Status StatusOf(const MysqlError& error, Shard shard);
Status StatusOf(const MysqlError& error, const std::string& resource);

}  // namespace fanline::mysql
