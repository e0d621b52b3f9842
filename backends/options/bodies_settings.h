// The options that tell a program where the bodies of posts are: in a table of the application.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "backends/mysql/posts/post_bodies.h"
#include "daemon/options/options.h"
#include "fanline/base/secret.h"
#include "fanline/base/tls_files.h"

namespace fanline::options {

struct BodiesSettings {
  std::string server;  // "tcp://host:port/database"; empty: no bodies
  std::string user = "fanline";
  Secret password;
  TlsFiles tls;
  std::string table;
  std::string id_column = "id";
  std::vector<std::string> columns;
  std::chrono::milliseconds time_limit{1000};
};

// --bodies-mysql, --bodies-mysql-user, --bodies-mysql-password[-file],
// --bodies-mysql-tls-{ca,cert,key}, --bodies-table, --bodies-id-column, --bodies-columns,
// --bodies-time-limit. Refuses names of the table and its columns that are not identifiers.
// `settings` outlives the table.
void AddOptions(daemon::OptionTable& table, BodiesSettings& settings);

// `settings` must have been accepted by a table. Nothing: no bodies.
[[nodiscard]] std::optional<mysql::BodiesConfig> ToConfig(const BodiesSettings& settings);

}  // namespace fanline::options
