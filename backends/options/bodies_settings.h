// The options that tell a program where the bodies of posts are: in a table of the application.
#pragma once

#include <optional>
#include <string>

#include "backends/mysql/posts/post_bodies.h"
#include "daemon/options/options.h"

namespace fanline::options {

struct BodiesSettings {
  BodiesSettings() {
    config.server.user = "fanline";
    config.id_column = "id";
  }
  std::string server;          // "tcp://host:port/database"; empty: no bodies
  mysql::BodiesConfig config;  // all else that the options below say
};

// --bodies-mysql, --bodies-mysql-user, --bodies-mysql-password[-file],
// --bodies-mysql-tls-{ca,cert,key}, --bodies-table, --bodies-id-column, --bodies-columns,
// --bodies-time-limit. Refuses names of the table and its columns that are not identifiers.
// `settings` outlives the table.
void AddOptions(daemon::OptionTable& table, BodiesSettings& settings);

// `settings` must have been accepted by a table. Nothing: no bodies.
[[nodiscard]] std::optional<mysql::BodiesConfig> ToConfig(const BodiesSettings& settings);

}  // namespace fanline::options
