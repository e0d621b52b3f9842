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

inline void AddOptions(daemon::OptionTable& table, Config& config) {
  config.daemon.admin.listen.port = 9401;
  daemon::AddOptions(table, config.daemon);
  options::AddOptions(table, config.kafka);
  table.Add("group", &config.group, "consumer group on the feed topic");
  options::AddOptions(table, config.mysql);
  Limits& limits = config.limits;
  table.Add("events-per-transaction", &limits.events_per_transaction, "events stored at once")
      .Range(1, 5'000);
  table.Add("events-open", &limits.events_open, "events under way before consuming is paused")
      .Range(16, 1'000'000);
  options::AddGather(table, &limits.gather);
  table
      .Add("sample-rate", &limits.sample_rate,
           "share of publishes measured from publish to delivery")
      .Range(0, 1);
  ModeRule& modes = limits.modes;
  table
      .Add("pull-above", &modes.pull_above,
           "authors are merged at read whose posts cost that much: live followers, times up to 10 "
           "while posts are late; 0: nobody, unless set by hand")
      .Range(0, 1'000'000'000);
  table
      .Add("push-below", &modes.push_below,
           "and are pushed again when they cost less than that; 0: half of --pull-above")
      .Range(0, 1'000'000'000);
  table.Add("pull-hold", &modes.hold, "how long an author is merged at read before pushed again")
      .Range(std::chrono::milliseconds(1), std::chrono::hours(24));
  table
      .Add("pull-lag", &modes.lag_step,
           "a post as late as that still costs what its live followers are; as late twice, twice")
      .Range(std::chrono::milliseconds(1), std::chrono::hours(24));
  table
      .Add("weigh-every", &modes.weigh_every,
           "how often the live followers of an author with enough followers are counted")
      .Range(std::chrono::milliseconds(1), std::chrono::hours(1));
  table.Check([&modes]() -> std::string {
    if (!modes.on() || modes.lower() < modes.pull_above) return {};
    return "--push-below must be less than --pull-above: an author between them stays as he is";
  });
  table.Add("oldest-record", &limits.oldest_record,
            "records older than this are refused: rows may have been collected since");
}

}  // namespace fanline::dispatcher
