#include "tests/adapters/kafka/raw_log.h"

#include <chrono>

#include "backends/kafka/client.h"

namespace fanline::kafka::test {
namespace {

struct CloseAndDestroy {
  void operator()(rd_kafka_t* client) const {
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
  }
};
using Reader = std::unique_ptr<rd_kafka_t, CloseAndDestroy>;

Reader MakeReader(const std::string& brokers, const std::string& group) {
  ConfigHandle config(rd_kafka_conf_new());
  rd_kafka_conf_set(config.get(), "bootstrap.servers", brokers.c_str(), nullptr, 0);
  rd_kafka_conf_set(config.get(), "group.id", group.c_str(), nullptr, 0);
  rd_kafka_conf_set(config.get(), "enable.auto.commit", "false", nullptr, 0);
  rd_kafka_conf_set(config.get(), "fetch.wait.max.ms", "10", nullptr, 0);
  rd_kafka_conf_set_log_cb(config.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  return Reader(rd_kafka_new(RD_KAFKA_CONSUMER, config.release(), nullptr, 0));
}

PartitionList One(const std::string& topic, int32_t partition, int64_t offset) {
  PartitionList list = NewPartitionList(1);
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}

}  // namespace

std::vector<Record> ReadLog(const std::string& brokers, const std::string& topic, int32_t partition,
                            size_t count, int64_t from) {
  const Reader reader = MakeReader(brokers, "raw-log");
  rd_kafka_poll_set_consumer(reader.get());
  rd_kafka_assign(reader.get(), One(topic, partition, from).get());
  std::vector<Record> records;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (records.size() < count && std::chrono::steady_clock::now() < until) {
    const MessageHandle message(rd_kafka_consumer_poll(reader.get(), 100));
    if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
      records.push_back(RecordOf(*message, topic));
  }
  return records;
}

int64_t CommittedOffset(const std::string& brokers, const std::string& group,
                        const std::string& topic, int32_t partition) {
  const Reader reader = MakeReader(brokers, group);
  const PartitionList list = One(topic, partition, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_committed(reader.get(), list.get(), 5000);
  return list->elems[0].offset < 0 ? -1 : list->elems[0].offset;
}

bool CommitOffset(const std::string& brokers, const std::string& group, const std::string& topic,
                  int32_t partition, int64_t offset) {
  const Reader client = MakeReader(brokers, group);
  return rd_kafka_commit(client.get(), One(topic, partition, offset).get(), 0 /* sync */) ==
         RD_KAFKA_RESP_ERR_NO_ERROR;
}

bool WriteLog(const std::string& brokers, const std::string& topic, int32_t partition, int count,
              UnixMs timestamp) {
  ConfigHandle config(rd_kafka_conf_new());
  rd_kafka_conf_set(config.get(), "bootstrap.servers", brokers.c_str(), nullptr, 0);
  rd_kafka_conf_set(config.get(), "max.in.flight", "1", nullptr, 0);
  const Holder<rd_kafka_t, rd_kafka_destroy> writer(
      rd_kafka_new(RD_KAFKA_PRODUCER, config.release(), nullptr, 0));
  for (int i = 0; i < count; ++i) {
    if (rd_kafka_producev(writer.get(), RD_KAFKA_V_TOPIC(topic.c_str()),
                          RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_VALUE(nullptr, 0),
                          RD_KAFKA_V_TIMESTAMP(timestamp), RD_KAFKA_V_END) != 0)
      return false;
  }
  return rd_kafka_flush(writer.get(), 10'000) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

bool TrimLog(const std::string& brokers, const std::string& topic, int32_t partition,
             int64_t offset) {
  const Reader client = MakeReader(brokers, "raw-log");
  Holder<rd_kafka_DeleteRecords_t, rd_kafka_DeleteRecords_destroy> request(
      rd_kafka_DeleteRecords_new(One(topic, partition, offset).get()));
  const QueueHandle queue(rd_kafka_queue_new(client.get()));
  rd_kafka_DeleteRecords_t* raw = request.get();
  rd_kafka_DeleteRecords(client.get(), &raw, 1, nullptr, queue.get());
  const EventHandle event(rd_kafka_queue_poll(queue.get(), 10'000));
  return event && rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace fanline::kafka::test
