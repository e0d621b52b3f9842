// The options that tell every program of ours where Kafka is. ToOptions converts them for the
// adapter.
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
  bool optional = false;                   // it may be empty: the program then uses no Kafka
  std::string user = {};                   // for brokers that require one
  Secret password = {};
  // name=value of librdkafka (security.protocol, sasl.*, ssl.* ...). They may hold credentials.
  std::vector<std::string> properties = {};
  // A file of such lines. It is read once, when a table accepts the settings.
  std::string properties_file = {};
  std::map<std::string, std::string> properties_read = {};
};

// The topics. A program that reads the installation takes the first two from its row. One that does
// not (feedctl publish) uses these.
struct TopicSettings {
  std::string feed = "feed-events";
  std::string tasks = "fanout-tasks";
  std::string relation_events = "relation-events";  // only the mirror knows it
};

// --kafka-brokers, --kafka-user, --kafka-password[-file], --kafka-properties[-file]. Here and
// below, `settings` outlives the table.
void AddOptions(daemon::OptionTable& table, KafkaSettings& settings);

// --feed-topic, --tasks-topic
void AddOptions(daemon::OptionTable& table, TopicSettings& settings);
void AddFeedTopic(daemon::OptionTable& table, TopicSettings& settings);
// --relation-events-topic
void AddRelationEventsTopic(daemon::OptionTable& table, TopicSettings& settings);

// --gather: how long a consuming daemon lets work gather into batches (fanline/base/gather.h)
void AddGather(daemon::OptionTable& table, Duration* gather);

// `settings` must have been accepted by a table. `client_id` is the program's name for the brokers.
[[nodiscard]] kafka::ClientOptions ToOptions(const KafkaSettings& settings,
                                             const std::string& client_id);

}  // namespace fanline::options
