// The installation that the shards belong to: table `installation`, one row copied to every shard.
// Every program reads it at its start. It refuses to run if the shards disagree with each other or
// with the program's own list of shards, or if a row changes while it runs. Blocking; for the start
// and rare checks.
#pragma once

#include <optional>
#include <vector>

#include "backends/mysql/installation/installation_row.h"
#include "backends/mysql/installation/migrations.h"
#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/base/outcome.h"

namespace fanline::mysql {

// Finds the migrations that each shard lacks, by shard; changes nothing. Never: a shard has no row,
// has another schema_version, has another number or another count of shards than it was named with,
// or was migrated by a newer program than this one. Here and below, `ours` is the tables'
// definition. It outlives the result; tests pass in other migrations than this build's.
Status ReadMissing(const Config& config, std::vector<MissingMigrations>* out,
                   const Migrations& ours = OurMigrations());

// Makes the missing migrations on every shard, one shard after another, and replaces procedures
// that differ. Never, with nothing changed, in the cases of ReadMissing. It may be run again, even
// beside another run.
Status Migrate(const Config& config, const Migrations& ours = OurMigrations());

// Like Migrate, for a caller that creates the installation next: a shard without a row gets all
// tables, and a shard that a newer program has migrated stays as it is.
Status MakeTables(const Config& config, const Migrations& ours = OurMigrations());

// For CreateInstallation: takes the generation that a shard already has, or else draws one at
// random, so that no two installations have the same.
inline constexpr uint64_t kAnyGeneration = 0;

// Writes the row on every shard that has none. If a shard has a row that disagrees, writes nothing.
// A second run finishes an interrupted one. `installation.shard_map` has config.shards.size()
// shards.
Status CreateInstallation(const Config& config, Installation installation);

// Reads what all shards agree on. Never: they disagree, or a server cannot be a shard. The message
// names the first difference: shard, field and both values. Later: a shard cannot be asked.
Status ReadInstallation(const Config& config, Installation* out);

// For programs that must answer while shards are away: returns the row of the first shard that
// answers. *shards says of each shard whether it agrees. later: it cannot be asked; never: it has a
// different row, or another shard's copy. Not done if no shard answers.
Status ReadInstallationAround(ShardConnections& connections, Installation* out,
                              std::vector<Status>* shards);

// The state of a shard's tables, compared with this program's, for any installation. Throws
// MysqlError.
struct TablesFound {
  bool installed = false;  // it has a row in table `installation`
  MissingMigrations missing = {};
  std::optional<uint32_t> newer = {};             // a migration that this program does not know
  std::vector<std::string_view> procedures = {};  // missing, or this account may not call them
  std::vector<std::string_view> others = {};      // procedures that Migrate would make anew
  // Error 1665 answers every write: the binary log keeps statements, not rows.
  bool refuses_writes = false;
};
[[nodiscard]] TablesFound FindTables(Connection& connection);

// Whether the shards still hold what ReadInstallation found. Never: one of them does not; the
// message says what to do. Shards that cannot be asked do not count.
Status CheckUnchanged(ShardConnections& connections, const Installation& installation);

}  // namespace fanline::mysql
