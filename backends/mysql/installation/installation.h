// Which installation the shards belong to: table `installation`, one row copied to every shard.
// Every program reads it at its start and refuses to run when the shards disagree, with each other
// or with the program's own list of shards, or when a row changes while it runs. Blocking; for
// start-up and rare checks.
#pragma once

#include <optional>
#include <vector>

#include "backends/mysql/installation/installation_row.h"
#include "backends/mysql/installation/migrations.h"
#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/shard_connections.h"
#include "fanline/base/outcome.h"

namespace fanline::mysql {

// Of each shard the migrations that it has not had, by shard; changes nothing. Never: a shard has
// no row, is of another schema_version, is not the one of that number among as many, or was
// migrated by a newer program than this one. Here and below, `ours` is what the tables are made of;
// it outlives what is found, and tests hand in other migrations than this build has.
Status ReadMissing(const Config& config, std::vector<MissingMigrations>* out,
                   const Migrations& ours = OurMigrations());

// Makes them on every shard, one after the other, and the procedures anew. Never, with nothing
// changed: as ReadMissing. May be run again, also beside another run.
Status Migrate(const Config& config, const Migrations& ours = OurMigrations());

// The same for who then creates the installation: a shard without a row is given all tables, and
// one that a newer program has migrated is left as it is.
Status MakeTables(const Config& config, const Migrations& ours = OurMigrations());

// Of an Installation to be created: the generation that a shard already has, else one drawn at
// random, so that no two installations have the same.
inline constexpr uint64_t kAnyGeneration = 0;

// Writes the row on every shard that has none. Writes nothing when a shard that has it disagrees.
// Running it again finishes an interrupted run. `installation.shard_map` is of config.shards.size()
// shards.
Status CreateInstallation(const Config& config, Installation installation);

// What all shards agree on. Never: the message names the first difference: shard, field and both
// values. Later: a shard cannot be asked.
Status ReadInstallation(const Config& config, Installation* out);

// For who has to say something while shards are away: what the first shard that answers holds. Of
// each shard whether it does: later, it cannot be asked; never, it holds something else, or another
// shard's copy. Not done when no shard tells.
Status ReadInstallationAround(ShardConnections& connections, Installation* out,
                              std::vector<Status>* shards);

// How a shard's tables stand to this program, whatever installation it is of. Throws MysqlError.
struct TablesFound {
  bool installed = false;  // it has a row in table `installation`
  MissingMigrations missing = {};
  std::optional<uint32_t> newer = {};  // a migration that this program does not know
};
[[nodiscard]] TablesFound FindTables(Connection& connection);

// Whether the shards still hold what ReadInstallation found. Never: one that can be asked does not;
// the message says what to type. A shard that cannot be asked says nothing.
Status CheckUnchanged(ShardConnections& connections, const Installation& installation);

}  // namespace fanline::mysql
