#include "backends/options/mysql_settings.h"

#include <algorithm>

#include "backends/options/tls_settings.h"
#include "fanline/base/check.h"

namespace fanline::options {
namespace {

using namespace std::chrono_literals;

std::string Problem(const MysqlSettings& settings) {
  std::string why;
  if (!mysql::ParseShards(settings.shards, &why).empty()) return {};
  return "--mysql-shards: " + why;
}

std::chrono::seconds RoundedUp(std::chrono::milliseconds time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

}  // namespace

void AddOptions(daemon::OptionTable& table, MysqlSettings& settings) {
  table
      .Add("mysql-shards", &settings.shards,
           "the shards, of MariaDB or MySQL, always in the same order: "
           "tcp://host:port/database,...")
      .Unit("URI,...")
      .Required();
  table.Add("mysql-user", &settings.user, "the user on every shard");
  table.AddSecret("mysql-password", &settings.password, "the password of that user");
  AddTls(table, "mysql", settings.tls);
  table
      .Add("mysql-connect-timeout", &settings.connect_timeout,
           "how long connecting may take, rounded up to seconds")
      .Range(1ms, 1min);
  table
      .Add("mysql-read-timeout", &settings.read_timeout,
           "how long a statement may take, rounded up to seconds")
      .Range(2s, 10min);
  table.Check([&settings] { return Problem(settings); });
}

void AddMigrationTimeout(daemon::OptionTable& table, MysqlSettings& settings) {
  table
      .Add("migration-timeout", &settings.migration_timeout,
           "how long a statement that makes or alters a table may take, rounded up to seconds")
      .Range(2s, 168h);
}

mysql::Config ToConfig(const MysqlSettings& settings) {
  std::string why;
  mysql::Config config;
  config.shards = mysql::ParseShards(settings.shards, &why);
  FANLINE_CHECK(!config.shards.empty(), "settings that a table has accepted");
  config.user = settings.user;
  config.password = settings.password;
  config.tls = settings.tls;
  config.connect_timeout = RoundedUp(settings.connect_timeout);
  config.read_timeout = RoundedUp(settings.read_timeout);
  config.write_timeout = config.read_timeout;
  config.migration_timeout = RoundedUp(settings.migration_timeout);
  // A lock wait that is longer than a read would cost the connection.
  config.lock_wait = std::min(config.lock_wait, config.read_timeout / 2);
  return config;
}

}  // namespace fanline::options
