// The definition of a shard's tables: the base, schemas/sql/shard.sql, and on top of it the
// migrations, the files of schemas/sql/migrations. Each has a number, and the shard's table
// `migration` lists those that it has had. The number is recorded after the file's last statement,
// so an interrupted file is repeated from its first statement. Therefore every statement must be
// safe to run twice. Programs of the version before keep running during a migration. A change that
// they cannot survive needs a new schema_version (docs/upgrades.md). Blocking; throws MysqlError.
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
  std::vector<std::string> statements;  // the last one records the number
};

// The base with number 0, then the migrations from 1 on without a gap.
using Migrations = std::vector<Migration>;

struct MigrationFile {
  std::string_view name, script;  // "0001_pinned_posts.sql"; both outlive the result
};
Migrations MigrationsOf(const std::vector<MigrationFile>& files);

// The migrations of this build. They stand alone in their source file, so that a test can link a
// program with more of them.
const Migrations& OurMigrations();

bool HasTable(Connection& connection, std::string_view name);

// The ones of `ours` that a shard lacks, ascending.
using MissingMigrations = std::vector<const Migration*>;
MissingMigrations FindMissing(Connection& connection, const Migrations& ours);

// The highest number that the shard has had and `ours` lacks: a newer program has migrated it. A
// changed procedure always comes with a migration, so then the procedures may be newer too.
std::optional<uint32_t> FindNewer(Connection& connection, const Migrations& ours);

// The names of our procedures that this account does not see: one is missing, or the account may
// not execute it.
std::vector<std::string_view> FindMissingProcedures(Connection& connection);

// The names of those that it sees and MigrateShard would make anew.
std::vector<std::string_view> FindOtherProcedures(Connection& connection);

// Makes the missing migrations, and each procedure that differs from this program's. Does nothing
// if a newer program has migrated the shard.
void MigrateShard(Connection& connection, const Migrations& ours);

}  // namespace fanline::mysql
