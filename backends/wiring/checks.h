// The checks of a daemon before it consumes anything: all programs agree on shards, ranges and
// topics, the topics exist, and Redis can hold timelines. A check waits for a service that is away
// (not ready, one warning every ten seconds). A disagreement ends the process with 78 and says what
// to do. If a stop is requested during a check, the check returns at once without a result.
//
// All checks except those of the application's tables and of the Redis servers' settings are
// repeated while the daemon runs (standing_checks.h). A service that is away then does not count as
// a disagreement.
#pragma once

#include <prometheus/registry.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backends/kafka/admin.h"
#include "backends/kafka/client_options.h"
#include "backends/mysql/installation/installation.h"
#include "backends/mysql/repairs/app_edges.h"
#include "backends/mysql/sql/config.h"
#include "backends/redis/client/options.h"
#include "backends/wiring/standing_checks.h"
#include "daemon/observe/health.h"
#include "daemon/run/process.h"

namespace fanline::redis {
class Masters;
}

namespace fanline::wiring {

// A Redis that the program can do without. It is not used until a first check has found it fit to
// hold timelines: its settings, and that no other installation owns it. From then on only the owner
// is checked. A Redis that is away later need not be awaited, but one of another installation is
// always refused. Ask: one thread at a time. fit: any thread.
class AwaitedRedis {
 public:
  struct Questions {
    std::function<Status()> all;    // later: it does not answer
    std::function<Status()> whose;  // also done when it does not answer
  };
  explicit AwaitedRedis(Questions questions) : questions_(std::move(questions)) {}

  // Never: the reason to refuse. Later: not found fit yet.
  [[nodiscard]] Status Ask() {
    if (fit_) return questions_.whose();
    Status status = questions_.all();
    fit_ = status.done();
    return status;
  }
  bool fit() const { return fit_; }

 private:
  const Questions questions_;
  std::atomic<bool> fit_ = false;
};

class Checks {
 public:
  // As often as consumers ask for the ends of their logs. A round costs a row of each shard and the
  // metadata of a few topics.
  static constexpr Duration kEvery = std::chrono::seconds(5);

  // The kind, in the readiness, of stores that each are enough to serve somebody.
  static constexpr const char* kAnyStore = "store";

  explicit Checks(daemon::Process& process) : process_(process), standing_(process, kEvery) {}

  // Returns the row that all shards agree on.
  mysql::Installation AwaitInstallation(const mysql::Config& config);

  // The application's own tables have the columns that `tables` names, on all their shards.
  void AwaitAppTables(const mysql::AppTables& tables);

  // The topic exists and has `partitions` partitions (0: any number).
  void AwaitTopic(const kafka::ClientOptions& client, const std::string& topic,
                  uint32_t partitions);

  // The topic exists, and so does the topic of its dead letters. Without the latter, the first
  // unusable record would block its partition. Also shows how long the topic keeps its records.
  void AwaitTopicAndLetters(const kafka::ClientOptions& client, const std::string& topic,
                            uint32_t partitions);

  // The same of a topic whose number of partitions must stay as it is: who mirrors a shard, or
  // where the messages of an edge meet, follows from it. Returns that number; 0: a stop was
  // requested.
  uint32_t AwaitPartitions(const kafka::ClientOptions& client, const std::string& topic);

  // The same of relation-log, which stamps its records at the append: the age of a change is
  // measured by that.
  uint32_t AwaitRelationLog(const kafka::ClientOptions& client);

  // Redis can hold timelines, and no other installation owns it.
  void AwaitRedis(const redis::Options& options);

  // The same for a program that can do without Redis. Asks once, and keeps asking while the program
  // runs. Redis is a resource of kind kAnyStore. fit() of the result says when Redis may be used.
  std::shared_ptr<const AwaitedRedis> AskRedis(const redis::Options& options);

  // From now on the checks are repeated. Call it once; no Await may follow.
  void Stand() { standing_.Begin(); }

 private:
  using Ask = StandingChecks::Ask;

  // Tries until it is done. Returns false if a stop was requested.
  bool Await(const std::string& what, const Ask& ask);
  // Awaits it now, and repeats the check while the daemon runs.
  void AwaitAndStand(const std::string& what, const Ask& ask);
  Status CheckRedis(const redis::Options& options);
  void StateReach(redis::Masters& masters);
  kafka::Admin& AdminOf(const kafka::ClientOptions& client);
  daemon::Process& process_;
  std::optional<kafka::Admin> admin_;  // for the caller until Stand, then for standing_
  StandingChecks standing_;
};

// fanline_log_retention_seconds{topic}: how long a log keeps its records. A consumer that lags for
// longer loses records that it has not read. `value`: of retention.ms; -1, without limit, is shown
// as infinity. A value that is not a number is ignored and the last one stays, because only this
// metric depends on it.
void ShowRetention(prometheus::Registry& registry, const std::string& topic,
                   const std::string& value);

// Shows a shard that is away on /readyz: "mysql_1", with the reason. A daemon is ready while any
// shard answers, because it serves the users of that shard. For an adapter of the shards; `health`
// outlives it. One resource of each `kind` is enough. `shards`: what they are called.
mysql::HealthSink ShardHealth(daemon::Health& health, std::string_view kind = "mysql",
                              const char* shards = "mysql");

// For jitter; not for secrets.
uint64_t RandomSeed();

}  // namespace fanline::wiring
