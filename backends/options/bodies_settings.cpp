#include "backends/options/bodies_settings.h"

#include <algorithm>

#include "backends/mysql/sql/sql_text.h"
#include "backends/options/tls_settings.h"
#include "fanline/base/check.h"

namespace fanline::options {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMostColumns = 32;

std::string Problem(const BodiesSettings& settings) {
  const mysql::BodiesConfig& config = settings.config;
  if (settings.server.empty()) {
    if (config.table.empty() && config.columns.empty()) return {};
    return "--bodies-mysql: names no server; set it, or leave out --bodies-table and "
           "--bodies-columns";
  }
  std::string why;
  if (mysql::ParseShards(settings.server, &why).size() != 1) {
    return "--bodies-mysql: " + (why.empty() ? "one server, not several" : why);
  }
  const std::string rule = "a name is letters, digits and underscores, at most 64 of them";
  if (!mysql::IsIdentifier(config.table)) return "--bodies-table: " + rule;
  if (!mysql::IsIdentifier(config.id_column)) return "--bodies-id-column: " + rule;
  const auto& columns = config.columns;
  if (columns.empty() || columns.size() > kMostColumns) {
    return "--bodies-columns: name what pages show, such as text,lang; at most 32 columns";
  }
  for (auto column = columns.begin(); column != columns.end(); ++column) {
    if (!mysql::IsIdentifier(*column)) return "--bodies-columns: " + rule;
    if (std::find(columns.begin(), column, *column) != column) {
      return "--bodies-columns: " + *column + " is given twice";
    }
  }
  return {};
}

}  // namespace

void AddOptions(daemon::OptionTable& table, BodiesSettings& settings) {
  mysql::BodiesConfig& config = settings.config;
  table
      .Add("bodies-mysql", &settings.server,
           "the application's MariaDB or MySQL, where pages find the bodies of posts: "
           "tcp://host:port/database, a primary. Without it pages have no bodies")
      .Unit("URI");
  table.Add("bodies-mysql-user", &config.server.user, "the user there; it needs to read the table");
  table.AddSecret("bodies-mysql-password", &config.server.password, "the password of that user");
  AddTls(table, "bodies-mysql", config.server.tls);
  table.Add("bodies-table", &config.table, "the table or view with a row for each post");
  table.Add("bodies-id-column", &config.id_column,
            "its column of posts' ids, integers with an index");
  table.Add("bodies-columns", &config.columns, "its columns that a page shows").Unit("NAME,...");
  table
      .Add("bodies-time-limit", &config.time_limit,
           "how long the bodies of a page may take; then it is served without")
      .Range(10ms, 1min);
  table.Check([&settings] { return Problem(settings); });
}

std::optional<mysql::BodiesConfig> ToConfig(const BodiesSettings& settings) {
  if (settings.server.empty()) return std::nullopt;
  mysql::BodiesConfig config = settings.config;
  std::string why;
  config.server.shards = mysql::ParseShards(settings.server, &why);
  FANLINE_CHECK(config.server.shards.size() == 1, "settings that a table has accepted");
  config.server.resource = "bodies";
  config.server.holds_ours = false;
  // The server itself ends a statement at the limit. These timeouts are for a server that does not
  // answer at all.
  const auto limit = std::chrono::ceil<std::chrono::seconds>(config.time_limit);
  config.server.connect_timeout = limit;
  config.server.read_timeout = config.server.write_timeout = limit + 1s;
  return config;
}

}  // namespace fanline::options
