// Owners of librdkafka's C handles. A leaked list makes rd_kafka_destroy hang for ever.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace fanline::kafka {

template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* handle) const {
    Destroy(handle);
  }
};

template <typename T, auto Destroy>
using Holder = std::unique_ptr<T, Destroyer<Destroy>>;

using ConfigHandle = Holder<rd_kafka_conf_t, rd_kafka_conf_destroy>;
using TopicHandle = Holder<rd_kafka_topic_t, rd_kafka_topic_destroy>;
using QueueHandle = Holder<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using MessageHandle = Holder<rd_kafka_message_t, rd_kafka_message_destroy>;
using HeadersHandle = Holder<rd_kafka_headers_t, rd_kafka_headers_destroy>;
using PartitionList =
    Holder<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
using MetadataHandle = Holder<const rd_kafka_metadata_t, rd_kafka_metadata_destroy>;
using EventHandle = Holder<rd_kafka_event_t, rd_kafka_event_destroy>;
using ErrorHandle = Holder<rd_kafka_error_t, rd_kafka_error_destroy>;
using NewTopicHandle = Holder<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy>;
using ConfigResourceHandle = Holder<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy>;
using AdminOptionsHandle = Holder<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>;

inline PartitionList NewPartitionList(size_t size) {
  return PartitionList(rd_kafka_topic_partition_list_new(static_cast<int>(size)));
}

// These partitions of a topic, each with `offset`.
inline PartitionList ListOf(const std::string& topic, const std::vector<int32_t>& partitions,
                            int64_t offset) {
  PartitionList list = NewPartitionList(partitions.size());
  for (const int32_t partition : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  }
  return list;
}
// All partitions of a topic of so many.
inline PartitionList ListOfAll(const std::string& topic, int32_t partitions, int64_t offset) {
  std::vector<int32_t> all(static_cast<size_t>(partitions));
  std::iota(all.begin(), all.end(), 0);
  return ListOf(topic, all, offset);
}

}  // namespace fanline::kafka
