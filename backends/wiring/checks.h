// The checks of a daemon before it consumes anything: all agree on shards, ranges and topics, and
// Redis can hold timelines. A check waits for a service that is away (not ready, one warning every
// ten seconds). A disagreement ends the process with 78 and says what to change. When a stop is
// requested meanwhile, a check returns at once and has made sure of nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/kafka/client_options.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/repairs/app_edges.h"
#include "backends/options/agreed_settings.h"
#include "backends/redis/client/options.h"
#include "daemon/run/process.h"

namespace fanline::wiring {

// What options told a program. None: the option was not given, or the program has none such.
struct Told {
  std::optional<std::string> feed_topic = std::nullopt;
  std::optional<std::string> tasks_topic = std::nullopt;
  options::AgreedSettings agreed = {};
};

// The row all shards agree on. Options that were given must say what it says.
mysql::Installation AwaitInstallation(const mysql::Config& config, const Told& told,
                                      daemon::Process& process);

// The application's own tables have the columns that `tables` names, on all their shards.
void AwaitAppTables(const mysql::AppTables& tables, daemon::Process& process);

// The topic exists and has `partitions` partitions (0: any number).
void AwaitTopic(const kafka::ClientOptions& client, const std::string& topic, uint32_t partitions,
                daemon::Process& process);

// relation-log exists and stamps its records at the append: the age of a change is measured by
// that. Returns its number of partitions; 0: a stop was requested.
uint32_t AwaitRelationLog(const kafka::ClientOptions& client, daemon::Process& process);

void AwaitRedis(const redis::Options& options, daemon::Process& process);

// For jitter; not secret.
uint64_t RandomSeed();

}  // namespace fanline::wiring
