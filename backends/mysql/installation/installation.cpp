#include "backends/mysql/installation/installation.h"

#include <random>

#include "backends/mysql/sql/sql_text.h"

namespace fanline::mysql {
namespace {

Shard ShardCount(const Config& config) { return static_cast<Shard>(config.shards.size()); }

// Nothing: the shard has no row, or not even the table.
std::optional<std::string> SchemaOf(Connection& connection) {
  std::optional<std::string> schema;
  if (!HasTable(connection, "installation")) return schema;
  connection.Query("SELECT schema_version FROM installation",
                   [&](const Row& row) { schema = row.Text(1); });
  return schema;
}

bool IsKnown(const std::string& schema) { return schema == std::to_string(kSchemaVersion); }

// Reads the columns in the table's order. Nothing: the shard has no row. For another schema only
// the version is set, because the columns may differ.
std::optional<InstallationRow> ReadRow(Connection& connection) {
  InstallationRow row = RowOf({}, connection.shard());
  if (const auto schema = SchemaOf(connection); schema && !IsKnown(*schema)) {
    row.front().value = *schema;
    return row;
  }
  std::string sql = "SELECT ";
  AppendJoined(sql, row, [](std::string& out, const InstallationField& f) { out += f.name; });
  bool found = false;
  connection.Query(sql + " FROM installation", [&](const Row& columns) {
    found = true;
    for (uint32_t i = 0; i < row.size(); ++i) row[i].value = columns.Text(i + 1);
  });
  if (!found) return std::nullopt;
  return row;
}

void WriteRow(Connection& connection, const InstallationRow& row) {
  std::string sql = "INSERT IGNORE INTO installation (id,";
  AppendJoined(sql, row, [](std::string& out, const InstallationField& f) { out += f.name; });
  sql += ") VALUES (1,";
  AppendJoined(sql, row,
               [](std::string& out, const InstallationField& f) { out += Quoted(f.value); });
  connection.Execute(sql + ")");
}

Status ReadRow(ShardConnections& connections, Shard shard, std::optional<InstallationRow>* out) {
  return connections.Run(shard, [&](Connection& connection) { *out = ReadRow(connection); });
}

Status NeverOf(const Config& config, Shard shard, const std::string& why) {
  return Status::Never(config.PlaceOf(shard) + ": " + why);
}

// Not `never`: feedctl init makes the tables first, and may be about to write the row.
Status NoRow(const Config& config, Shard shard) {
  Status status =
      Status::Later(config.NameOf(shard), "table installation is empty: run feedctl init");
  status.cause = Cause::kSetting;
  return status;
}

// Whether the shard's row is refused. A server of another kind is refused, too (kUnsupported), and
// its row says nothing then.
bool IsRefused(const Status& row) { return row.never() && row.cause != Cause::kSetting; }

enum class MissingRow { kIsFine, kIsAwaited };

// Whether `row` is the one that the shard should have. A row that is awaited is `later`.
Status JudgeRow(const Config& config, Shard shard, const std::optional<InstallationRow>& row,
                const Installation& expected, MissingRow missing) {
  if (!row) return missing == MissingRow::kIsFine ? Status::Done() : NoRow(config, shard);
  const std::string difference = DifferenceOf(*row, RowOf(expected, shard));
  return difference.empty() ? Status::Done() : NeverOf(config, shard, difference);
}

Status CompareRow(ShardConnections& connections, Shard shard, const Installation& expected,
                  MissingRow missing) {
  std::optional<InstallationRow> row;
  if (Status status = ReadRow(connections, shard, &row); !status.done()) return status;
  return JudgeRow(connections.config(), shard, row, expected, missing);
}

Status CompareRows(ShardConnections& connections, const Installation& expected,
                   MissingRow missing) {
  for (Shard shard = 0; shard < ShardCount(connections.config()); ++shard) {
    Status status = CompareRow(connections, shard, expected, missing);
    if (!status.done()) return status;
  }
  return Status::Done();
}

Status WrongShardCount(const Config& config, uint32_t installed) {
  return Status::Never("the installation has shard_count \"" + std::to_string(installed) +
                       "\", this program was given " + std::to_string(ShardCount(config)) +
                       " shards");
}

// What the row of one shard says, unless the status is another than done.
Status ReadInstalled(ShardConnections& connections, Shard shard,
                     std::optional<Installation>* found) {
  std::optional<InstallationRow> row;
  if (Status status = ReadRow(connections, shard, &row); !status.done()) return status;
  const Config& config = connections.config();
  if (!row) return NoRow(config, shard);
  std::string why;
  auto installation = InstallationOf(*row, &why);
  if (!installation) return NeverOf(config, shard, why);
  const uint32_t shards = installation->shard_map.shards();
  if (shards != ShardCount(config)) return WrongShardCount(config, shards);
  *found = std::move(installation);
  return Status::Done();
}

// Replaces kAnyGeneration; any other generation stays.
Status ChooseGeneration(ShardConnections& connections, Installation& installation) {
  for (Shard shard = 0; shard < ShardCount(connections.config()); ++shard) {
    if (installation.generation != kAnyGeneration) return Status::Done();
    std::optional<InstallationRow> row;
    if (Status status = ReadRow(connections, shard, &row); !status.done()) return status;
    std::string why;
    const auto found = row ? InstallationOf(*row, &why) : std::nullopt;
    if (found) installation.generation = found->generation;
  }
  if (installation.generation != kAnyGeneration) return Status::Done();
  // The upper bound is the largest integer of JSON. 0 and 1 are never drawn.
  std::random_device random;
  installation.generation = std::uniform_int_distribution<uint64_t>(2, uint64_t{1} << 53)(random);
  return Status::Done();
}

// The command that makes tables.
enum class For { kMigrate, kInit };

// Why this program must not make tables and procedures on the shard; "": it may. If its procedures
// met another program's tables, every change of the programs that run there would fail.
std::string WhyNot(Connection& connection, Shard shards, For whom, const Migrations& ours) {
  const auto schema = SchemaOf(connection);
  if (!schema && whom == For::kInit) return "";
  if (!schema) return "it has no row in table installation: run feedctl init";
  if (!IsKnown(*schema)) return "another installation is there: " + SchemaDiffers(*schema);
  Shard count = 0, index = 0;
  connection.Query("SELECT shard_count, shard_index FROM installation", [&](const Row& row) {
    count = static_cast<Shard>(row.UInt64(1));
    index = static_cast<Shard>(row.UInt64(2));
  });
  const char* const all = "; name all the installation's shards, in the order of feedctl init";
  if (count != shards) {
    return "its shard_count is " + std::to_string(count) + ", this program was given " +
           std::to_string(shards) + " shards" + all;
  }
  if (index != connection.shard()) return "its shard_index is " + std::to_string(index) + all;
  const auto newer = FindNewer(connection, ours);
  if (!newer || whom == For::kInit) return "";  // older programs run on these tables
  return "it has had migration " + std::to_string(*newer) + ", this program knows those up to " +
         std::to_string(ours.back().number) + "; take the feedctl of the newer version";
}

// Never if a shard refuses; nothing has been made on any shard by then.
Status CheckShards(ShardConnections& connections, For whom, const Migrations& ours) {
  const Shard shards = ShardCount(connections.config());
  for (Shard shard = 0; shard < shards; ++shard) {
    std::string why;
    Status status = connections.Run(
        shard, [&](Connection& connection) { why = WhyNot(connection, shards, whom, ours); });
    if (!status.done()) return status;
    if (!why.empty()) return NeverOf(connections.config(), shard, why);
  }
  return Status::Done();
}

// For statements that take long on large tables.
ShardConnections Patient(const Config& config) {
  return ShardConnections(config, {.read_timeout = config.migration_timeout});
}

Status MakeTablesFor(For whom, const Config& config, const Migrations& ours) {
  ShardConnections asking(config);
  if (Status status = CheckShards(asking, whom, ours); !status.done()) return status;
  ShardConnections making = Patient(config);
  for (Shard shard = 0; shard < ShardCount(config); ++shard) {
    bool missing = false;
    Status status = asking.Run(
        shard, [&](Connection& connection) { missing = !FindMissing(connection, ours).empty(); });
    // If nothing is missing, a shard that hangs delays nobody for long.
    if (status.done())
      status = (missing ? making : asking).Run(shard, [&](Connection& connection) {
        MigrateShard(connection, ours);
      });
    if (status.later() && missing && status.cause != Cause::kSetting) {
      status.message +=
          "; a statement of ours may still be at work there (SHOW FULL PROCESSLIST), or another"
          " keeps the table: wait for its end and type this again; --migration-timeout gives more"
          " time";
    }
    if (!status.done()) return status;
  }
  return Status::Done();
}

}  // namespace

Status ReadMissing(const Config& config, std::vector<MissingMigrations>* out,
                   const Migrations& ours) {
  ShardConnections connections(config);
  if (Status status = CheckShards(connections, For::kMigrate, ours); !status.done()) return status;
  out->assign(config.shards.size(), {});
  for (Shard shard = 0; shard < ShardCount(config); ++shard) {
    Status status = connections.Run(
        shard, [&](Connection& connection) { (*out)[shard] = FindMissing(connection, ours); });
    if (!status.done()) return status;
  }
  return Status::Done();
}

Status Migrate(const Config& config, const Migrations& ours) {
  return MakeTablesFor(For::kMigrate, config, ours);
}

Status MakeTables(const Config& config, const Migrations& ours) {
  return MakeTablesFor(For::kInit, config, ours);
}

Status CreateInstallation(const Config& config, Installation installation) {
  if (installation.shard_map.shards() != ShardCount(config)) {
    return WrongShardCount(config, installation.shard_map.shards());
  }
  ShardConnections connections(config);
  if (Status status = ChooseGeneration(connections, installation); !status.done()) return status;
  // Compares before anything is written: a shard that disagrees must not leave the others half
  // converted.
  if (Status status = CompareRows(connections, installation, MissingRow::kIsFine); !status.done()) {
    return status;
  }
  for (Shard shard = 0; shard < ShardCount(config); ++shard) {
    Status status = connections.Run(
        shard, [&](Connection& connection) { WriteRow(connection, RowOf(installation, shard)); });
    if (!status.done()) return status;
  }
  return CompareRows(connections, installation, MissingRow::kIsAwaited);
}

Status ReadInstallation(const Config& config, Installation* out) {
  ShardConnections connections(config);
  std::optional<Installation> found;
  if (Status status = ReadInstalled(connections, 0, &found); !status.done()) return status;
  Status status = CompareRows(connections, *found, MissingRow::kIsAwaited);
  if (IsRefused(status)) {
    status.message +=
        "; all shards must hold the same row: name them in the order of feedctl init, or set the "
        "row right there (UPDATE installation)";
  }
  if (!status.done()) return status;
  *out = *std::move(found);
  return Status::Done();
}

Status ReadInstallationAround(ShardConnections& connections, Installation* out,
                              std::vector<Status>* shards) {
  const Config& config = connections.config();
  shards->assign(ShardCount(config), Status::Done());
  std::optional<Installation> found;
  Status first_failure;
  for (Shard shard = 0; shard < ShardCount(config); ++shard) {
    Status& status = (*shards)[shard];
    if (!found) status = ReadInstalled(connections, shard, &found);
    if (found) status = CompareRow(connections, shard, *found, MissingRow::kIsAwaited);
    if (first_failure.done()) first_failure = status;
  }
  if (!found) return first_failure;
  *out = *std::move(found);
  return Status::Done();
}

TablesFound FindTables(Connection& connection) {
  size_t binlog = 0;  // a server that knows no other format has no such variable
  connection.Query(
      "SHOW GLOBAL VARIABLES WHERE variable_name = 'log_bin' AND value = 'ON'"
      " OR variable_name = 'binlog_format' AND value = 'STATEMENT'",
      [&](const Row&) { ++binlog; });
  return {SchemaOf(connection).has_value(),       FindMissing(connection, OurMigrations()),
          FindNewer(connection, OurMigrations()), FindMissingProcedures(connection),
          FindOtherProcedures(connection),        binlog == 2};
}

Status CheckUnchanged(ShardConnections& connections, const Installation& installation) {
  for (Shard shard = 0; shard < ShardCount(connections.config()); ++shard) {
    std::optional<InstallationRow> row;
    // Whatever the reason: also a server that came back as one that is not supported.
    if (!ReadRow(connections, shard, &row).done()) continue;
    Status status =
        row ? JudgeRow(connections.config(), shard, row, installation, MissingRow::kIsAwaited)
            : NeverOf(connections.config(), shard, "table installation is empty");
    if (status.done()) continue;
    status.message +=
        "; it was so when this program started: stop all programs, set the row right on every "
        "shard (UPDATE installation) and start them again";
    return status;
  }
  return Status::Done();
}

}  // namespace fanline::mysql
