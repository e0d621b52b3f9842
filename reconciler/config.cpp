#include "reconciler/config.h"

#include <utility>

#include "backends/mysql/sql/sql_text.h"

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;

size_t ShardsOf(const std::string& list) {
  std::string why;
  return mysql::ParseShards(list, &why).size();
}

std::string ProblemOfReplicas(const Config& config) {
  if (config.full_scan_shards.empty()) return "";
  std::string why;
  const size_t named = mysql::ParseShards(config.full_scan_shards, &why).size();
  if (named == 0) return "--full-scan-shards: " + why;
  const size_t shards = config.forward_shards.empty()
                            ? ShardsOf(config.mysql.shards)
                            : ShardsOf(config.forward_shards) + ShardsOf(config.reverse_shards);
  if (named == shards) return "";
  return "--full-scan-shards: found " + std::to_string(named) + ", a replica of each of " +
         std::to_string(shards) + " shards is needed";
}

std::string ProblemOfTables(const Config& config) {
  const std::string rule = ": letters, digits and underscores, at most 64";
  if (config.edge_columns.size() != 5 && config.edge_columns.size() != 6) {
    return "--edge-columns: five names, of source, destination, version, state and position, and "
           "perhaps a sixth, of the delivery";
  }
  for (const std::string& column : config.edge_columns) {
    if (!mysql::IsIdentifier(column)) return "--edge-columns" + rule;
  }
  const bool any = !config.forward_shards.empty() || !config.reverse_shards.empty() ||
                   !config.forward_table.empty() || !config.reverse_table.empty();
  if (!any) {
    return !config.mirror_group.empty()
               ? "--mirror-group: only of an application with tables of its own"
               : "";
  }
  std::string why;
  if (mysql::ParseShards(config.forward_shards, &why).empty()) return "--forward-shards: " + why;
  if (mysql::ParseShards(config.reverse_shards, &why).empty()) return "--reverse-shards: " + why;
  if (!mysql::IsIdentifier(config.forward_table)) return "--forward-table" + rule;
  if (!mysql::IsIdentifier(config.reverse_table)) return "--reverse-table" + rule;
  return {};
}

std::string Problem(const Config& config) {
  const std::string of_tables = ProblemOfTables(config);
  return of_tables.empty() ? ProblemOfReplicas(config) : of_tables;
}

mysql::EdgeTable TableOf(const Config& config, const std::string& shards,
                         const std::string& table) {
  options::MysqlSettings settings = config.mysql;
  settings.shards = shards;
  mysql::Config theirs = options::ToConfig(settings);
  theirs.holds_ours = false;
  const auto& columns = config.edge_columns;
  return {std::move(theirs), table,      columns[0], columns[1],
          columns[2],        columns[3], columns[4], columns.size() > 5 ? columns[5] : ""};
}

void AddTombstoneOptions(daemon::OptionTable& table, TombstoneLimits& limits) {
  table
      .Add("tombstone-keep", &limits.keep,
           "how long rows of unfollows are kept: longer than any log, dead letter, binary log or "
           "backup from which a change may come back, and 7 days; of several reconcilers the "
           "shortest holds")
      .Range(24h, 3650 * 24h);
  table
      .Add("tombstone-rate", &limits.rows_per_second,
           "forward rows that this reconciler looks at for old unfollows, per second and shard")
      .Range(1, 1'000'000);
}

void AddScans(daemon::OptionTable& table, Config& config) {
  table
      .Add("log-scan-after", &config.later.after,
           "how old a change is when the log scan compares it with its rows; longer than any "
           "replica that may take over lags behind, and than any transaction stays open")
      .Range(1s, 24h);
  table
      .Add("log-scan-rate", &config.comparing.edges_per_second,
           "edges that the log scan compares per second and shard of followers, from each of its "
           "two logs")
      .Range(1, 1'000'000);
  table
      .Add("full-scan-rate", &config.full_scan.rows_per_second,
           "rows that the full scan compares per second, of each table of edges and shard; 0: it "
           "does not run")
      .Range(0, 1'000'000);
  table
      .Add(
          "full-scan-shards", &config.full_scan_shards,
          "replicas where the full scan reads instead of primaries, in the order of the shards: of "
          "--mysql-shards, or of --forward-shards and then of --reverse-shards")
      .Unit("URI,...");
}

}  // namespace

void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9404;
  daemon::AddOptions(table, config.daemon);
  options::AddOptions(table, config.kafka);
  table.Add("group", &config.group,
            "consumer group on relation-log; those of the log scan and on the retries are "
            "<group>-later and <group>-retry");
  options::AddOptions(table, config.mysql);
  table
      .Add("forward-shards", &config.forward_shards,
           "of an application that keeps its own tables: where the rows by source are")
      .Unit("URI,...");
  table.Add("reverse-shards", &config.reverse_shards, "and where the rows by destination are")
      .Unit("URI,...");
  table.Add("forward-table", &config.forward_table, "the table of rows by source");
  table.Add("reverse-table", &config.reverse_table, "the table of rows by destination");
  table.Add("edge-columns", &config.edge_columns,
            "their columns: source, destination, version, state (1 follows), position (ms), and if "
            "they have one, delivery (0 all, 1 no reposts, 2 nothing)");
  table.Add("mirror-group", &config.mirror_group,
            "the group on relation-log that writes the rows by destination, if there is one: while "
            "it lags "
            "no pair is checked");
  table.Check([&config] { return Problem(config); });
  table.Add("store-threads", &config.store_threads, "threads of each shard that read and repair")
      .Range(1, 64);
  table.Add("grace", &config.limits.grace, "how long the second half of a change may take")
      .Range(100ms, 10min);
  table
      .Add("checks-per-second", &config.gate.checks_per_second,
           "edges checked per second and shard of followers")
      .Range(1, 100'000);
  table
      .Add("removals-per-minute", &config.gate.removals_per_minute,
           "followers that repairs of all reconcilers together may take from one shard; beyond, "
           "they stop until the setting reconciler goes from dry_run or pause to run")
      .Range(1, 1'000'000);
  AddScans(table, config);
  table
      .Add("counter-sweep-every", &config.counters.sweep_every,
           "how often everybody's counters are compared with their rows, and marked for a repair")
      .Range(1s, 30 * 24h);
  table
      .Add("counter-sweep-rate", &config.counters.swept_per_second,
           "users whose counters this reconciler compares per second and shard; of N reconcilers a "
           "shard may bear N times as much, so divide it by how many there are")
      .Range(1, 1'000'000);
  AddTombstoneOptions(table, config.tombstones);
  table
      .Add("repair-log-keep", &config.counters.keep_repairs,
           "how long rows of repair_log are kept; of several reconcilers the shortest holds")
      .Range(1min, 3650 * 24h);
}

std::optional<mysql::AppTables> AppTablesOf(const Config& config) {
  if (config.forward_table.empty()) return std::nullopt;
  return mysql::AppTables{TableOf(config, config.forward_shards, config.forward_table),
                          TableOf(config, config.reverse_shards, config.reverse_table)};
}

std::vector<mysql::ShardAddress> FullScanReplicasOf(const Config& config) {
  std::string why;
  if (config.full_scan_shards.empty()) return {};
  return mysql::ParseShards(config.full_scan_shards, &why);
}

}  // namespace fanline::reconciler
