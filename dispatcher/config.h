// All options of the dispatcher.
#pragma once

#include <string>

#include "backends/options/kafka_settings.h"
#include "backends/options/mysql_settings.h"
#include "daemon/run/daemon_options.h"
#include "dispatcher/limits.h"

namespace fanline::dispatcher {

struct Config {
  daemon::DaemonOptions daemon;
  options::KafkaSettings kafka;
  std::string group = "fanline-dispatcher";
  options::MysqlSettings mysql;
  Limits limits;
};

void AddOptions(daemon::OptionTable& table, Config& config);

}  // namespace fanline::dispatcher
