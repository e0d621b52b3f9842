// Topics, and who consumes them. `feedctl` and the tests create topics; every daemon counts their
// partitions at its start.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "backends/kafka/client_options.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

class Client;

struct TopicSpec {
  std::string name;
  int32_t partitions = 1;
  int32_t replication = -1;  // -1: the cluster's default
  std::map<std::string, std::string> configs;
};

// A member of a consumer group.
struct GroupOwner {
  std::string client;  // its client.id
  std::string host;    // the address it comes from
};
using GroupOwners = std::map<int32_t, GroupOwner>;  // by partition; absent: nobody has it

// Blocking calls that end within `timeout`. Messages are one line. One thread.
class Admin {
 public:
  // Throws Misconfigured like the other clients; brokers need not be there yet.
  Admin(ClientOptions options, Duration timeout, LogSink log = {});
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  // kDone: the topic exists, now or already (its other settings are not compared). kNever: it
  // exists with another number of partitions; the message names both.
  Status CreateTopic(const TopicSpec& topic);

  // *partitions = 0: there is no such topic. Never creates one.
  Status CountPartitions(const std::string& topic, int32_t* partitions);

  // The value of a setting of an existing topic: its own or the brokers' default.
  Status ReadConfig(const std::string& topic, const std::string& name, std::string* value);

  // Asks the group's coordinator which of the topic's partitions its members have. kLater: nobody
  // answers, or the group is rebalancing.
  Status ReadOwners(const std::string& group, const std::string& topic, GroupOwners* owners);

 private:
  Status AwaitTopic(const std::string& topic, int32_t* partitions);

  const Duration timeout_;
  const std::unique_ptr<Client> client_;
};

// A topic's records carry the time at which the broker appended them.
inline constexpr const char* kTimestampType = "message.timestamp.type";
inline constexpr const char* kLogAppendTime = "LogAppendTime";

}  // namespace fanline::kafka
