#include "backends/mysql/installation/migrations.h"

#include <set>

#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/check.h"
#include "fanline/base/number.h"
#include "fanline/model/bucket.h"
#include "schemas/sql_schema.h"

namespace fanline::mysql {
namespace {

Migration Numbered(uint32_t number, const MigrationFile& file) {
  Migration migration{number, file.name, SplitStatements(file.script)};
  migration.statements.push_back(Sql("INSERT IGNORE INTO migration (number, file) VALUES (", number,
                                     ", ", Quoted(file.name), ")"));
  return migration;
}

std::set<uint32_t> FindMade(Connection& connection) {
  std::set<uint32_t> made;
  if (!HasTable(connection, "migration")) return made;
  connection.Query("SELECT number FROM migration",
                   [&](const Row& row) { made.insert(static_cast<uint32_t>(row.UInt64(1))); });
  return made;
}

struct Procedure {
  std::string_view name, script;
};
constexpr Procedure kProcedures[] = {{"change_edge", sql_schema::kChangeEdgeSql},
                                     {"follow_new_edge", sql_schema::kFollowNewEdgeSql}};

// A procedure has this comment on the server if it was made from this very text. The server shows
// the text itself only to its definer.
std::string CommentOf(std::string_view script) { return "crc32 " + std::to_string(Crc32(script)); }

// Whether this account sees a procedure of the name, for which `further` holds.
bool IsSeen(Connection& connection, std::string_view procedure, std::string_view further = "") {
  return 0 <
         connection.Number(Sql(
             "SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = DATABASE()"
             " AND routine_name = ",
             Quoted(procedure), further));
}
bool IsMade(Connection& connection, std::string_view procedure, const std::string& comment) {
  return IsSeen(connection, procedure, Sql(" AND routine_comment = ", Quoted(comment)));
}

// Calls may fail meanwhile, also where one statement replaces a procedure (MariaDB). So this
// replaces only a procedure that differs. The script is one statement and must not be cut at its
// semicolons.
//
// MySQL replaces none: it refuses a name that is taken, but looks first whether this account may
// make procedures. So one is dropped only when nothing but its name stood in the way. Another run
// may do the same meanwhile.
void MakeProcedure(Connection& connection, const Procedure& procedure) {
  constexpr int kExists = 1304;
  constexpr int kAttempts = 5;
  const auto& [name, script] = procedure;
  const std::string comment = CommentOf(script);
  std::string statement(script);
  const size_t at = statement.find("SQL SECURITY INVOKER\n");
  FANLINE_CHECK(at != std::string::npos, "procedures have the rights of their callers");
  statement.insert(at, "COMMENT " + Quoted(comment) + ' ');
  for (int attempt = 1; !IsMade(connection, name, comment); ++attempt) {
    try {
      connection.Execute(statement);
      return;
    } catch (const MysqlError& error) {
      if (error.code() != kExists || attempt == kAttempts) throw;
    }
    if (!IsMade(connection, name, comment))
      connection.Execute(Sql("DROP PROCEDURE IF EXISTS ", name));
  }
}

// MySQL has no ADD COLUMN IF NOT EXISTS.
void MakeOnce(Connection& connection, const std::string& statement) {
  constexpr int kColumnExists = 1060;
  try {
    connection.Execute(statement);
  } catch (const MysqlError& error) {
    if (error.code() != kColumnExists) throw;
  }
}

}  // namespace

bool HasTable(Connection& connection, std::string_view name) {
  return 0 < connection.Number(Sql("SELECT COUNT(*) FROM information_schema.tables"
                                   " WHERE table_schema = DATABASE() AND table_name = ",
                                   Quoted(name)));
}

Migrations MigrationsOf(const std::vector<MigrationFile>& files) {
  Migrations all{Numbered(0, {"shard.sql", sql_schema::kShardSql})};
  for (const MigrationFile& file : files) {
    const auto number = ParseNumber<uint32_t>(file.name.substr(0, file.name.find('_')));
    FANLINE_CHECK(number == all.size(), "names of migrations begin with their numbers, from 1 on");
    all.push_back(Numbered(*number, file));
  }
  return all;
}

MissingMigrations FindMissing(Connection& connection, const Migrations& ours) {
  const std::set<uint32_t> made = FindMade(connection);
  MissingMigrations missing;
  for (const Migration& migration : ours) {
    if (made.count(migration.number) == 0) missing.push_back(&migration);
  }
  return missing;
}

std::optional<uint32_t> FindNewer(Connection& connection, const Migrations& ours) {
  const std::set<uint32_t> made = FindMade(connection);
  if (made.empty() || *made.rbegin() <= ours.back().number) return std::nullopt;
  return *made.rbegin();
}

std::vector<std::string_view> FindMissingProcedures(Connection& connection) {
  std::vector<std::string_view> missing;
  for (const Procedure& procedure : kProcedures) {
    if (!IsSeen(connection, procedure.name)) missing.push_back(procedure.name);
  }
  return missing;
}

std::vector<std::string_view> FindOtherProcedures(Connection& connection) {
  std::vector<std::string_view> others;
  for (const auto& [name, script] : kProcedures) {
    if (IsSeen(connection, name) && !IsMade(connection, name, CommentOf(script))) {
      others.push_back(name);
    }
  }
  return others;
}

void MigrateShard(Connection& connection, const Migrations& ours) {
  if (FindNewer(connection, ours)) return;
  for (const Migration* migration : FindMissing(connection, ours)) {
    for (const std::string& statement : migration->statements) MakeOnce(connection, statement);
  }
  for (const Procedure& procedure : kProcedures) MakeProcedure(connection, procedure);
}

}  // namespace fanline::mysql
