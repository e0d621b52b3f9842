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

void AddOptions(daemon::OptionTable& table, Config& config);

}  // namespace fanline::mirror
