// What a daemon makes sure of before it consumes anything: all agree on shards, ranges and topics,
// the topics are there, and Redis can hold timelines. A check waits for a service that is away (not
// ready, one warning every ten seconds). A disagreement ends the process with 78 and says what to
// type. When a stop is requested meanwhile, a check returns at once and has made sure of nothing.
//
// All but the application's tables and the settings of the Redis servers is asked again while the
// daemon runs (standing_checks.h). A service that is away then says nothing about what is agreed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/kafka/admin.h"
#include "backends/kafka/client_options.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/repairs/app_edges.h"
#include "backends/options/agreed_settings.h"
#include "backends/redis/client/options.h"
#include "backends/wiring/awaited_redis.h"
#include "backends/wiring/standing_checks.h"
#include "daemon/run/process.h"

namespace fanline::redis {
class Masters;
}

namespace fanline::wiring {

// What options told a program. None: the option was not given, or the program has none such.
struct Told {
  std::optional<std::string> feed_topic = std::nullopt;
  std::optional<std::string> tasks_topic = std::nullopt;
  options::AgreedSettings agreed = {};
};

class Checks {
 public:
  // As often as consumers ask where their logs end. Costs a row of each shard and the metadata of
  // a few topics.
  static constexpr Duration kEvery = std::chrono::seconds(5);

  // The kind, in the readiness, of stores each of which serves somebody by itself.
  static constexpr const char* kAnyStore = "store";

  explicit Checks(daemon::Process& process) : process_(process), standing_(process, kEvery) {}

  // The row all shards agree on. Options that were given must say what it says.
  mysql::Installation AwaitInstallation(const mysql::Config& config, const Told& told);

  // The application's own tables have the columns that `tables` names, on all their shards.
  void AwaitAppTables(const mysql::AppTables& tables);

  // The topic exists and has `partitions` partitions (0: any number).
  void AwaitTopic(const kafka::ClientOptions& client, const std::string& topic,
                  uint32_t partitions);

  // The topic exists, and so does the one of its dead letters: without that, the first record that
  // cannot be used would hold up its partition. Shows how long the topic keeps its records.
  void AwaitTopicAndLetters(const kafka::ClientOptions& client, const std::string& topic,
                            uint32_t partitions);

  // The same of a topic whose number of partitions must stay as it is: who mirrors a shard, or
  // where the messages of an edge meet, follows from it. Returns that number; 0: a stop was
  // requested.
  uint32_t AwaitPartitions(const kafka::ClientOptions& client, const std::string& topic);

  // The same of relation-log, which stamps its records at the append: the age of a change is
  // measured by that.
  void AwaitRelationLog(const kafka::ClientOptions& client);

  // One that can hold timelines, and holds no other installation's.
  void AwaitRedis(const redis::Options& options);

  // The same for a program that is of use without: asks once, and goes on asking while the program
  // runs. Redis is a resource of kind kAnyStore. The answer's fit() says when it may be used.
  std::shared_ptr<const AwaitedRedis> AskRedis(const redis::Options& options);

  // From now on all of it is asked again. Once, and nothing is awaited afterwards.
  void Stand() { standing_.Begin(); }

 private:
  using Ask = StandingChecks::Ask;

  // Tries until it is done; false: a stop was requested.
  bool Await(const std::string& what, const Ask& ask);
  // Now until it is done, and again while the daemon runs.
  void AwaitAndStand(const std::string& what, const Ask& ask);
  Status CheckRedis(const redis::Options& options);
  void StateReach(redis::Masters& masters);
  kafka::Admin& AdminOf(const kafka::ClientOptions& client);
  daemon::Process& process_;
  std::optional<kafka::Admin> admin_;  // used by the caller until Stand, then by standing_
  StandingChecks standing_;
};

// For jitter; not secret.
uint64_t RandomSeed();

}  // namespace fanline::wiring
