// What a daemon makes sure of before it consumes anything: that everybody agrees on shards, ranges
// and topics, and that Redis can hold timelines. A service that is away is waited for (not ready,
// one warning every ten seconds); a disagreement ends the process with 78, saying what to change.
// Each returns at once, with nothing sure, when a stop is requested meanwhile.
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

// What a program was told by its options; none: it was not, or has no such option.
struct Told {
  std::optional<std::string> feed_topic = std::nullopt;
  std::optional<std::string> tasks_topic = std::nullopt;
  options::AgreedSettings agreed = {};
};

// The row all shards agree on. What was told must be the row's.
mysql::Installation AwaitInstallation(const mysql::Config& config, const Told& told,
                                      daemon::Process& process);

// The application's own tables have the columns that are told, on all their shards.
void AwaitAppTables(const mysql::AppTables& tables, daemon::Process& process);

// The topic exists; with so many partitions, unless 0.
void AwaitTopic(const kafka::ClientOptions& client, const std::string& topic, uint32_t partitions,
                daemon::Process& process);

// relation-log exists and stamps its records when they are appended, which is what the age of a
// change is measured by. Answers its number of partitions; 0: a stop was requested.
uint32_t AwaitRelationLog(const kafka::ClientOptions& client, daemon::Process& process);

void AwaitRedis(const redis::Options& options, daemon::Process& process);

// Of jitter; not secret.
uint64_t RandomSeed();

}  // namespace fanline::wiring
