// The options of a producer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "backends/kafka/client_options.h"
#include "fanline/wire/relation_log.h"

namespace fanline::kafka {

inline constexpr int32_t kAnyPartition = -1;  // by the key's murmur2 hash, as Java clients do

struct ProducerOptions {
  ClientOptions client;
  std::string hint_topic = "fanout-tasks";
  std::string feed_topic = "feed-events";
  std::string relation_topic = kRelationLogTopic;
  // How long a record waits for others of its partition; 0: not at all. Records that arrive while a
  // request is under way still travel together, so batches form by themselves under load.
  std::chrono::milliseconds linger{0};
  std::chrono::milliseconds delivery_timeout{30'000};
  // Told every five seconds whether a broker answers, by the producer's own thread; while nothing
  // is appended, too. Only the events' producer needs it: consumers know by themselves.
  std::function<void(bool)> on_brokers = {};
  size_t queued_records = 200'000;  // not yet acknowledged; more are refused
  size_t queued_kbytes = 64 * 1024;
  // A dead letter is up to 64 KB larger than its record.
  size_t max_record_bytes = 1024 * 1024 + 64 * 1024 + 4096;
};

}  // namespace fanline::kafka
