// feedctl topics create: creates the topics and those of their dead letters.
#include <cstdio>

#include "backends/kafka/admin.h"
#include "fanline/wire/dead_letter.h"
#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"
#include "feedctl/commands/command.h"
#include "feedctl/support/explain.h"
#include "feedctl/support/installed.h"

namespace fanline::feedctl {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr Duration kTimeout = 15s;
constexpr int64_t kMaxRecordBytes = 1024 * 1024 + 12;  // Kafka's own default
// A dead letter is the record plus text headers with the reason.
constexpr int64_t kDeadLetterExtraBytes = 64 * 1024;
constexpr Duration kLongest = 366 * 24h;

class TopicsCreate : public Command {
 public:
  TopicsCreate(daemon::OptionTable& table, Settings& settings) : Command(settings) {
    table
        .Add("feed-partitions", &feed_partitions_,
             "partitions of the feed topic, which an application may also have made itself")
        .Range(1, 10'000);
    table
        .Add("relation-partitions", &relation_partitions_,
             "partitions of relation-log and of the relation events: as many mirrors can share the "
             "work")
        .Range(1, 10'000);
    table
        .Add("replication", &replication_,
             "copies of every record; -1 is the cluster's default, from 3 on 2 must be in sync")
        .Range(-1, 100);
    table.Add("feed-retention", &feed_retention_, "how long events are kept").Range(1h, kLongest);
    table
        .Add("tasks-retention", &tasks_retention_,
             "how long hints and relation-log are kept: a Redis that lost more than that rebuilds "
             "its "
             "timelines")
        .Range(1h, kLongest);
    table
        .Add("dlq-retention", &dlq_retention_,
             "how long dead letters are kept; events older than 14 days are not accepted again")
        .Range(1h, kLongest);
    options::AddRelationEventsTopic(table, settings.topics);
    options::AddOptions(table, settings.kafka);
    options::AddOptions(table, settings.mysql);
  }

  int Run(Interrupt& interrupt) override {
    interrupt.Advise("run it again to finish it");
    const mysql::Installation installation = ReadInstalled(settings_);
    kafka::Admin admin(options::ToOptions(settings_.kafka, kClientId), kTimeout);
    const auto tasks_partitions = static_cast<int32_t>(installation.partitions);
    // Nothing depends on the number of the feed topic's partitions, so an existing one is kept.
    Create(admin, Spec(installation.feed_topic, feed_partitions_, feed_retention_), true);
    Create(admin, DeadLetterSpec(installation.feed_topic, feed_partitions_), true);
    Create(admin, Spec(installation.tasks_topic, tasks_partitions, tasks_retention_), false);
    Create(admin, DeadLetterSpec(installation.tasks_topic, tasks_partitions), true);
    CreateRelationTopics(admin);
    return 0;
  }

 private:
  kafka::TopicSpec Spec(const std::string& name, int32_t partitions, milliseconds retention) const {
    kafka::TopicSpec spec{name, partitions, replication_, {}};
    spec.configs["cleanup.policy"] = "delete";
    spec.configs["retention.ms"] = std::to_string(retention.count());
    spec.configs["max.message.bytes"] = std::to_string(kMaxRecordBytes);
    if (replication_ >= 3) spec.configs["min.insync.replicas"] = "2";
    return spec;
  }

  kafka::TopicSpec DeadLetterSpec(const std::string& topic, int32_t partitions) const {
    auto spec = Spec(DeadLetterTopic(topic), partitions, dlq_retention_);
    spec.configs["max.message.bytes"] = std::to_string(kMaxRecordBytes + kDeadLetterExtraBytes);
    return spec;
  }

  void CreateRelationTopics(kafka::Admin& admin) {
    const std::string& events = settings_.topics.relation_events;
    Create(admin, Spec(events, relation_partitions_, feed_retention_), true);
    Create(admin, DeadLetterSpec(events, relation_partitions_), true);
    for (const std::string topic : {kRelationLogTopic, kRelationRetryTopic}) {
      auto spec = Spec(topic, relation_partitions_, tasks_retention_);
      spec.configs[kafka::kTimestampType] = kafka::kLogAppendTime;
      Create(admin, spec, true);
      RequireLogAppendTime(admin, topic);
      Create(admin, DeadLetterSpec(topic, relation_partitions_), true);
    }
  }

  // Ages are measured by log-append time, so an existing topic must have it, too.
  void RequireLogAppendTime(kafka::Admin& admin, const std::string& topic) {
    std::string stamped;
    Require(admin.ReadConfig(topic, kafka::kTimestampType, &stamped), settings_);
    if (stamped == kafka::kLogAppendTime) return;
    throw Failure(kExitConfig, "topic " + topic + " exists with " + kafka::kTimestampType + "=" +
                                   stamped + "; set it to " + kafka::kLogAppendTime);
  }

  void Create(kafka::Admin& admin, const kafka::TopicSpec& spec, bool any_partitions) {
    int32_t found = 0;
    Require(admin.CountPartitions(spec.name, &found), settings_);
    if (found == 0) Require(admin.CreateTopic(spec), settings_);
    if (found != 0 && found != spec.partitions && !any_partitions) {
      throw Failure(kExitConfig, "topic " + spec.name + " exists with " + std::to_string(found) +
                                     " partitions, but the installation has " +
                                     std::to_string(spec.partitions) +
                                     " ranges; delete that topic while nothing runs, or install "
                                     "with another --tasks-topic");
    }
    const int32_t partitions = found == 0 ? spec.partitions : found;
    std::printf("%s: %s, %d partitions\n", spec.name.c_str(), found == 0 ? "created" : "exists",
                partitions);
  }

  int32_t feed_partitions_ = 8;
  int32_t relation_partitions_ = 8;
  int32_t replication_ = -1;
  milliseconds feed_retention_ = 168h;
  milliseconds tasks_retention_ = 168h;
  milliseconds dlq_retention_ = 336h;
};

}  // namespace

extern const Row kTopicsCreate =
    RowOf<TopicsCreate>("topics create", "creates the topics and their dead letters");

}  // namespace fanline::feedctl
