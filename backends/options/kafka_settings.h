// The options that tell every program of ours where Kafka is. ToOptions makes the adapter's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/kafka/client_options.h"
#include "daemon/options/options.h"
#include "fanline/base/secret.h"
#include "fanline/base/time.h"

namespace fanline::options {

struct KafkaSettings {
  std::string brokers = "127.0.0.1:9092";  // host:port,host:port
  bool optional = false;  // whether it may be empty: the program then uses no Kafka
  std::string user = {};  // for brokers that ask for one
  Secret password = {};
  // name=value of librdkafka (security.protocol, sasl.*, ssl.* ...); may carry credentials.
  std::vector<std::string> properties = {};
  // A file of such lines, read once, when a table accepts the settings.
  std::string properties_file = {};
  std::map<std::string, std::string> properties_read = {};
};

// The topics. A program that reads the installation takes the first two from its row; one that does
// not (feedctl publish) goes by these.
struct TopicSettings {
  std::string feed = "feed-events";
  std::string tasks = "fanout-tasks";
  std::string relation_events = "relation-events";  // known to the mirror alone
};

// --kafka-brokers, --kafka-user, --kafka-password[-file], --kafka-properties[-file]. `settings`
// outlives the table, here and below.
void AddOptions(daemon::OptionTable& table, KafkaSettings& settings);

// --feed-topic, --tasks-topic
void AddOptions(daemon::OptionTable& table, TopicSettings& settings);
void AddFeedTopic(daemon::OptionTable& table, TopicSettings& settings);
// --relation-events-topic
void AddRelationEventsTopic(daemon::OptionTable& table, TopicSettings& settings);

// --gather: how long a daemon that consumes lets its work gather into batches
// (fanline/base/gather.h)
void AddGather(daemon::OptionTable& table, Duration* gather);

// `settings` must have been accepted by a table. `client_id` names the program to the brokers.
[[nodiscard]] kafka::ClientOptions ToOptions(const KafkaSettings& settings,
                                             const std::string& client_id);

}  // namespace fanline::options
