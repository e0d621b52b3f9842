// What makes a shard's tables: the base, schemas/sql/shard.sql, and on top of it migrations, the
// files of schemas/sql/migrations. Each has a number, and the shard's table `migration` says which
// of them it has had. A number is written down behind the file's last statement, so a file that was
// interrupted is made again from its first: each may be made twice. Programs of the version before
// run on beside a migration; what they cannot run beside is another schema_version
// (docs/upgrades.md). Blocking; throws MysqlError.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/mysql/sql/connection.h"

namespace fanline::mysql {

struct Migration {
  uint32_t number = 0;
  std::string_view file;                // its name
  std::vector<std::string> statements;  // the last one writes the number down
};

// The base, which is number 0, and the migrations from 1 on without a gap.
using Migrations = std::vector<Migration>;

struct MigrationFile {
  std::string_view name, script;  // "0001_pinned_posts.sql"; both outlive what is made of them
};
Migrations MigrationsOf(const std::vector<MigrationFile>& files);

// Those of this build. Nothing else is in its source file, so that a test may link a program with
// later ones.
const Migrations& OurMigrations();

// Of `ours` those that a shard has not had, ascending.
using MissingMigrations = std::vector<const Migration*>;
MissingMigrations FindMissing(Connection& connection, const Migrations& ours);

// The highest number that the shard has had and `ours` lacks: a newer program was there.
// Who changes a procedure adds a migration, so the procedures may be newer, too.
std::optional<uint32_t> FindNewer(Connection& connection, const Migrations& ours);

// Makes what is missing, and each procedure that differs from this program's; nothing where a newer
// program was.
void MigrateShard(Connection& connection, const Migrations& ours);

}  // namespace fanline::mysql
