// How the shards are reached. The order of `shards` is their numbering. It is the same in every
// program of an installation; table `installation` records which server is which, and programs
// check it.
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
// "db1:3306/feed"
std::string AddressOf(const ShardAddress& shard);

struct Config {
  std::vector<ShardAddress> shards;
  std::string resource;  // the name in a Status of a server that is not a shard
  // Whether our tables and procedures are there. False: an application's own database, which may be
  // any server that understands the few statements we send it.
  bool holds_ours = true;
  // A server that is read-only will do: nothing read there is taken for the truth.
  bool replica = false;
  std::string user;
  Secret password;  // never logged, never part of a message; read for each connection
  TlsFiles tls;     // when on, a server that cannot prove its name is refused

  // Limits of every call, in whole seconds because the client library counts in them. A statement
  // that exceeds read_timeout costs its connection, so lock waits end well before (lock_wait).
  std::chrono::seconds connect_timeout{2};
  std::chrono::seconds read_timeout{5};
  std::chrono::seconds write_timeout{5};
  std::chrono::seconds lock_wait{2};
  // A process that hangs within a transaction keeps its row locks, and other writers of these rows
  // wait. The server ends such a session after this long.
  std::chrono::seconds idle_transaction{5};
  // Replaces read_timeout for statements that create or alter tables, which take long on large
  // tables. They still wait at most lock_wait for other users of the table.
  std::chrono::seconds migration_timeout{3600};
  // How often a connection in use asks whether its server is still the primary. After a planned
  // switchover the old primary lags behind and refuses only writes. Reads of truth ask each time
  // (Connection::RequirePrimary), because a row missing there would be taken for a deleted post.
  std::chrono::seconds primary_check{1};
  Backoff reopen{.first = std::chrono::milliseconds(100), .most = std::chrono::seconds(2)};

  std::string NameOf(Shard shard) const { return resource.empty() ? ResourceOf(shard) : resource; }
  // For messages: "shard 1 at db1:3306/feed".
  std::string PlaceOf(Shard shard) const;
  // The place of whom a Status names; "": it is none of these shards.
  std::string PlaceOf(std::string_view named) const;
};

// "tcp://host:port/database,...". "tcp://" and ":port" are optional; an IPv6 address stands in
// brackets. Returns an empty list and sets *why when `text` has another form. Credentials in it are
// refused: they have options of their own.
std::vector<ShardAddress> ParseShards(std::string_view text, std::string* why);

// Called when a shard becomes reachable (done) or unreachable (later, with the reason), and when
// the reason changes. Runs on a thread of the adapter.
using HealthSink = std::function<void(Shard shard, const Status& status)>;

}  // namespace fanline::mysql
