// The mirror's options, all of them.
#pragma once

#include <string>

#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "daemon/run/daemon_options.h"
#include "mirror/limits.h"

namespace fanline::mirror {

struct Config {
  daemon::DaemonOptions daemon;
  options::KafkaSettings kafka;
  options::TopicSettings topics;
  std::string group = "fanline-mirror";  // <group>-events, on the relation events
  options::MysqlSettings mysql;
  Duration gather = std::chrono::milliseconds(100);  // how long a change waits for others
  Limits limits;
};

inline void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9403;
  daemon::AddOptions(table, config.daemon);
  options::AddOptions(table, config.kafka);
  options::AddRelationEventsTopic(table, config.topics);
  table.Add("group", &config.group, "its consumer group on the relation events is <group>-events");
  options::AddOptions(table, config.mysql);
  Limits& limits = config.limits;
  table.Add("edges-per-transaction", &limits.edges_per_transaction, "reverse rows written at once")
      .Range(1, 5'000);
  table
      .Add("records-open", &limits.records_open,
           "relation events under way before consuming them is paused")
      .Range(16, 1'000'000);
  options::AddGather(table, &config.gather);
  table.Add("oldest-record", &limits.oldest_record,
            "events older than this are refused: tombstones may have been collected since");
}

}  // namespace fanline::mirror
