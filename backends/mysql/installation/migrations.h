// What made a shard's tables what they are: the files of schemas/sql/migrations by number, and the
// shard's table `migration`, which says which of them it has had. A number is written down behind
// the file's last statement, so a file that was interrupted is made again from its first: each may
// be made twice. Programs of before run on beside a change; what they cannot is another
// schema_version (docs/upgrades.md). Blocking; throws MysqlError.
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

// All there are, from 1 on without a gap.
const std::vector<Migration>& Migrations();

// Of a shard: those it has not had, ascending.
using MissingMigrations = std::vector<const Migration*>;
MissingMigrations FindMissing(Connection& connection);

// The highest number that the shard has had and that is none of Migrations(): a newer program was
// there. Who changes a procedure adds a migration, so the procedures may be newer, too.
std::optional<uint32_t> FindNewer(Connection& connection);

// Makes them, and each procedure that differs from this program's; nothing where a newer program
// was.
void MigrateShard(Connection& connection);

}  // namespace fanline::mysql
