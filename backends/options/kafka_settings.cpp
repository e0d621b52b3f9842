#include "backends/options/kafka_settings.h"

namespace fanline::options {
namespace {

// The value never appears: it may be a password.
std::string Problem(const KafkaSettings& settings) {
  if (settings.brokers.empty()) return "--kafka-brokers: is empty; send host:port,host:port";
  for (const std::string& property : settings.properties) {
    const size_t equals = property.find('=');
    if (equals == std::string::npos || equals == 0) {
      return "--kafka-properties: each must be name=value, such as security.protocol=SSL";
    }
  }
  return {};
}

std::string Difference(const char* flag, const std::string& set, const std::string& installed) {
  if (set == installed) return {};
  return std::string(flag) + ": \"" + set + "\" is not the installation's, which is \"" +
         installed + "\"; set " + flag + " to that";
}

}  // namespace

void AddOptions(daemon::OptionTable& table, KafkaSettings& settings) {
  table.Add("kafka-brokers", &settings.brokers, "where to find the Kafka cluster")
      .Unit("HOST:PORT,...");
  table
      .Add("kafka-properties", &settings.properties,
           "name=value of librdkafka for every client, such as security.protocol=SASL_SSL")
      .Secret();
  table.Check([&settings] { return Problem(settings); });
}

void AddFeedTopic(daemon::OptionTable& table, TopicSettings& settings) {
  table.Add("feed-topic", &settings.feed, "where applications say what happened to posts")
      .Unit("TOPIC");
}

void AddTasksTopic(daemon::OptionTable& table, TopicSettings& settings) {
  table.Add("tasks-topic", &settings.tasks, "where the hints for the pushers are").Unit("TOPIC");
}

void AddRelationEventsTopic(daemon::OptionTable& table, TopicSettings& settings) {
  table
      .Add("relation-events-topic", &settings.relation_events,
           "where applications that keep their own follow graph say what changed")
      .Unit("TOPIC");
}

void AddOptions(daemon::OptionTable& table, TopicSettings& settings) {
  AddFeedTopic(table, settings);
  AddTasksTopic(table, settings);
}

kafka::ClientOptions ToOptions(const KafkaSettings& settings, const std::string& client_id) {
  kafka::ClientOptions options;
  options.brokers = settings.brokers;
  options.client_id = client_id;
  for (const std::string& property : settings.properties) {
    const size_t equals = property.find('=');
    options.properties[property.substr(0, equals)] = property.substr(equals + 1);
  }
  return options;
}

std::string TopicMismatch(const TopicSettings& settings, const mysql::Installation& installation) {
  std::string feed = Difference("--feed-topic", settings.feed, installation.feed_topic);
  if (!feed.empty()) return feed;
  return Difference("--tasks-topic", settings.tasks, installation.tasks_topic);
}

}  // namespace fanline::options
