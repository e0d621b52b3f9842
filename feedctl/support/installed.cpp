#include "feedctl/support/installed.h"

#include "backends/kafka/admin.h"
#include "backends/redis/installation_mark.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {

mysql::Installation ReadInstalled(const Settings& settings) {
  mysql::Installation installation;
  const Status status = mysql::ReadInstallation(options::ToConfig(settings.mysql), &installation);
  if (status.never() && status.cause != Cause::kSetting) {
    throw Failure(kExitConfig, status.message + " (feedctl init creates and checks it)");
  }
  Require(status, settings);
  return installation;
}

void UseTopicsOf(const mysql::Installation& installation, Settings& settings) {
  settings.topics.feed = installation.feed_topic;
  settings.topics.tasks = installation.tasks_topic;
}

redis::Options RequireRedis(const Settings& settings, const mysql::Installation& installation) {
  const auto options = options::ToOptions(settings.redis, settings.timelines, installation);
  const Status whose = redis::CheckMark(options);
  if (whose.never()) throw Failure(kExitConfig, whose.message);
  return options;
}

int32_t RequireTopic(const Settings& settings, const std::string& topic, uint32_t partitions) {
  kafka::Admin admin(options::ToOptions(settings.kafka, kClientId), kKafkaTimeout);
  int32_t found = 0;
  Require(admin.CountPartitions(topic, &found), settings);
  if (found == 0) {
    throw Failure(kExitConfig, "there is no topic " + topic + " on Kafka at " +
                                   settings.kafka.brokers +
                                   "; create it with feedctl topics create");
  }
  if (partitions != 0 && found != static_cast<int32_t>(partitions)) {
    throw Failure(kExitConfig, "topic " + topic + " has " + std::to_string(found) +
                                   " partitions, but the installation has " +
                                   std::to_string(partitions) +
                                   " ranges; it needs a topic of as many partitions");
  }
  return found;
}

}  // namespace fanline::feedctl
