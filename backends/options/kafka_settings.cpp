#include "backends/options/kafka_settings.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <sstream>
#include <string_view>

#include "fanline/base/check.h"

namespace fanline::options {
namespace {

using Properties = std::map<std::string, std::string>;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

// Returns false if `text` is not name=value.
bool Take(std::string_view text, Properties& properties) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  properties[std::string(Trimmed(text.substr(0, equals)))] = Trimmed(text.substr(equals + 1));
  return true;
}

// No message below holds a value: it may be a password.

// Reads lines of name=value, as Kafka's own tools do; '#' begins a comment.
std::string ReadProperties(const std::string& path, Properties& properties) {
  properties.clear();
  std::string content;
  const std::string wrong = Secret{{}, path}.Read(&content);
  if (!wrong.empty()) return "--kafka-properties-file: " + wrong;
  std::istringstream lines(content);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string_view text = Trimmed(line);
    if (text.empty() || text.front() == '#' || Take(text, properties)) continue;
    return "--kafka-properties-file: " + path + ": line " + std::to_string(number) +
           " is not name=value";
  }
  return {};
}

// Gathers the properties that every client gets. Those of the options win over the file's.
std::string Gather(const KafkaSettings& settings, Properties& properties) {
  properties = settings.properties_read;
  for (const std::string& property : settings.properties) {
    if (Take(property, properties)) continue;
    return "--kafka-properties: each must be name=value, such as security.protocol=SSL";
  }
  return {};
}

bool AsksForUser(const Properties& properties) {
  const auto found = properties.find("security.protocol");
  if (found == properties.end()) return false;
  std::string protocol = found->second;
  std::transform(protocol.begin(), protocol.end(), protocol.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return protocol == "SASL_SSL" || protocol == "SASL_PLAINTEXT";
}

std::string UserProblem(const KafkaSettings& settings, const Properties& properties) {
  if (settings.user.empty() && !settings.password.given()) return {};
  if (settings.user.empty()) return "--kafka-password: whose? Set --kafka-user, too";
  if (!settings.password.given()) {
    return "--kafka-user: has no password; set --kafka-password-file or --kafka-password";
  }
  if (properties.contains("sasl.username") || properties.contains("sasl.password")) {
    return "--kafka-user: --kafka-properties names sasl.username or sasl.password, too; leave "
           "them out there";
  }
  if (AsksForUser(properties)) return {};
  return "--kafka-user: is shown to nobody without security.protocol=SASL_SSL (or SASL_PLAINTEXT) "
         "in --kafka-properties";
}

std::string Problem(KafkaSettings& settings) {
  if (settings.brokers.empty() && !settings.optional) {
    return "--kafka-brokers: is empty; send host:port,host:port";
  }
  if (!settings.properties_file.empty()) {
    std::string wrong = ReadProperties(settings.properties_file, settings.properties_read);
    if (!wrong.empty()) return wrong;
  }
  Properties properties;
  if (std::string wrong = Gather(settings, properties); !wrong.empty()) return wrong;
  return UserProblem(settings, properties);
}

}  // namespace

void AddOptions(daemon::OptionTable& table, KafkaSettings& settings) {
  table
      .Add("kafka-brokers", &settings.brokers,
           settings.optional ? "where to find the Kafka cluster; without it nothing is published"
                             : "where to find the Kafka cluster")
      .Unit("HOST:PORT,...");
  table.Add("kafka-user", &settings.user, "who we are to brokers that ask (SASL PLAIN, SCRAM)");
  table.AddSecret("kafka-password", &settings.password, "the password of that user");
  table
      .Add("kafka-properties", &settings.properties,
           "name=value of librdkafka for every client, such as security.protocol=SASL_SSL")
      .Secret();
  table
      .Add("kafka-properties-file", &settings.properties_file,
           "a file of such lines, read at the start; --kafka-properties wins over it")
      .Unit("PATH");
  table.Check([&settings] { return Problem(settings); });
}

void AddFeedTopic(daemon::OptionTable& table, TopicSettings& settings) {
  table.Add("feed-topic", &settings.feed, "where applications say what happened to posts")
      .Unit("TOPIC");
}

void AddRelationEventsTopic(daemon::OptionTable& table, TopicSettings& settings) {
  table
      .Add("relation-events-topic", &settings.relation_events,
           "where applications that keep their own follow graph say what changed")
      .Unit("TOPIC");
}

void AddOptions(daemon::OptionTable& table, TopicSettings& settings) {
  AddFeedTopic(table, settings);
  table.Add("tasks-topic", &settings.tasks, "where the hints for the pushers are").Unit("TOPIC");
}

void AddGather(daemon::OptionTable& table, Duration* gather) {
  table
      .Add("gather", gather,
           "how long work may wait for more of it: larger batches cost less processor time; after "
           "quiet nothing waits; 0 switches it off")
      .Range(Duration::zero(), std::chrono::seconds(1));
}

kafka::ClientOptions ToOptions(const KafkaSettings& settings, const std::string& client_id) {
  kafka::ClientOptions options{.brokers = settings.brokers,
                               .client_id = client_id,
                               .user = settings.user,
                               .password = settings.password};
  const std::string wrong = Gather(settings, options.properties);
  FANLINE_CHECK(wrong.empty(), "settings that a table has accepted");
  return options;
}

}  // namespace fanline::options
