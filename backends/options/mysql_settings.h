// The options that tell every program of ours where the shards are.
#pragma once

#include <chrono>
#include <string>

#include "backends/mysql/sql/config.h"
#include "daemon/options/options.h"
#include "fanline/base/secret.h"
#include "fanline/base/tls_files.h"

namespace fanline::options {

struct MysqlSettings {
  std::string shards;  // "tcp://host:port/database,..." in the installation's order
  std::string user = "fanline";
  Secret password;
  TlsFiles tls;
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds read_timeout{5000};
  std::chrono::milliseconds migration_timeout{3'600'000};
};

// --mysql-shards (required), --mysql-user, --mysql-password[-file], --mysql-tls-{ca,cert,key},
// --mysql-connect-timeout, --mysql-read-timeout. `settings` outlives the table.
void AddOptions(daemon::OptionTable& table, MysqlSettings& settings);

// --migration-timeout, for programs that create or alter tables. `settings` outlives the table.
void AddMigrationTimeout(daemon::OptionTable& table, MysqlSettings& settings);

// `settings` must have been accepted by a table. Timeouts are rounded up to whole seconds because
// the client library counts in them.
[[nodiscard]] mysql::Config ToConfig(const MysqlSettings& settings);

}  // namespace fanline::options
