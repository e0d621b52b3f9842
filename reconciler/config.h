// The reconciler's options, all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/mysql/repairs/app_edges.h"
#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "daemon/run/daemon_options.h"
#include "reconciler/counter_reconciler.h"
#include "reconciler/edge_comparer.h"
#include "reconciler/full_scanner.h"
#include "reconciler/later_reconciler.h"
#include "reconciler/limits.h"
#include "reconciler/repair_gate.h"
#include "reconciler/retry_reconciler.h"
#include "reconciler/tombstone_collector.h"

namespace fanline::reconciler {

struct Config {
  daemon::DaemonOptions daemon;
  options::KafkaSettings kafka;
  // On relation-log; <group>-later on it once more, <group>-retry on the retries.
  std::string group = "fanline-reconciler";
  options::MysqlSettings mysql;
  // An application that keeps its own tables sets all four of these, else none is set.
  std::string forward_shards, reverse_shards;
  std::string forward_table, reverse_table;
  std::vector<std::string> edge_columns = {"src", "dst", "ver", "state", "pos"};
  std::string mirror_group;    // the application's mirror; empty: there is none that could lag
  uint32_t store_threads = 2;  // of each shard
  Limits limits;
  RetryLimits retries;
  GateLimits gate;
  EdgeComparer::Limits comparing;
  LaterLimits later;
  FullScanLimits full_scan;
  std::string full_scan_shards;  // replicas; empty: pages are read on the primaries
  CounterLimits counters;
  TombstoneLimits tombstones;
};

void AddOptions(daemon::OptionTable& table, Config& config);

// The application's tables, if it keeps its own. `config` was accepted by an option table.
std::optional<mysql::AppTables> AppTablesOf(const Config& config);
// In the order of the shards: ours, or the application's forward and then its reverse ones. None:
// the full scan reads on primaries.
std::vector<mysql::ShardAddress> FullScanReplicasOf(const Config& config);

}  // namespace fanline::reconciler
