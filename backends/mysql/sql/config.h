// How the shards are reached. The order of `shards` is their numbering, the same in every program
// of an installation (table `installation` says which server is which, and is checked).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fanline/base/backoff.h"
#include "fanline/base/outcome.h"
#include "fanline/base/secret.h"
#include "fanline/base/tls_files.h"
#include "fanline/model/bucket.h"

namespace fanline::mysql {

struct ShardAddress {
  std::string host;
  uint16_t port = 3306;
  std::string database;
  friend bool operator==(const ShardAddress&, const ShardAddress&) = default;
};

struct Config {
  std::vector<ShardAddress> shards;
  std::string resource;  // of a server that is no shard: what a Status names in place of mysql_N
  std::string user;
  Secret password;  // never logged, never part of a message; read for each connection
  TlsFiles tls;     // when on: a server that does not prove its name by it is refused

  // Bounds of every call; the client library counts in whole seconds. A statement that exceeds
  // read_timeout costs its connection, so lock waits are given up well before (lock_wait).
  std::chrono::seconds connect_timeout{2};
  std::chrono::seconds read_timeout{5};
  std::chrono::seconds write_timeout{5};
  std::chrono::seconds lock_wait{2};
  // A process that hangs within a transaction holds its rows' locks for ever, and other writers of
  // these rows wait. The server ends such a session after this long.
  std::chrono::seconds idle_transaction{5};
  // In place of read_timeout, of statements that make or alter tables: they take as long as a table
  // is large. They wait for its other users no longer than lock_wait all the same.
  std::chrono::seconds migration_timeout{3600};
  // How often a connection in use asks whether its server is still the primary. After a planned
  // switchover the old primary lags behind and refuses only writes. Reads of truth ask each time
  // (Connection::RequirePrimary): a row missing there would be taken for a deleted post.
  std::chrono::seconds primary_check{1};
  Backoff reopen{.first = std::chrono::milliseconds(100), .most = std::chrono::seconds(2)};
};

// "tcp://host:port/database,..." ("tcp://" and ":port" may be left out; an IPv6 address stands in
// brackets). Empty, and *why set, when `text` is no such list. Credentials in it are refused: they
// have options of their own.
std::vector<ShardAddress> ParseShards(std::string_view text, std::string* why);

// The resource name of a shard in a Status, a metric or a log line: "mysql_0".
std::string ResourceOf(Shard shard);

// Called when a shard becomes reachable (done) or unreachable (later, with the reason), and when
// the reason changes; from an adapter's thread.
using HealthSink = std::function<void(Shard shard, const Status& status)>;

}  // namespace fanline::mysql
