// One instance of the idempotent producer, which lives until its first fatal error.
// One thread at a time may call Send; another may call Serve meanwhile.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "backends/kafka/client.h"
#include "backends/kafka/producer_options.h"
#include "fanline/model/record.h"

namespace fanline::kafka {

// Gets the result of each record sent, from within Serve: acknowledged (NO_ERROR) or given up.
class Delivery {
 public:
  virtual void OnRecord(rd_kafka_resp_err_t result) = 0;

 protected:
  ~Delivery() = default;
};

struct Outgoing {
  int32_t partition = kAnyPartition;
  std::string_view key;  // empty: none
  std::string_view value;
  const rd_kafka_headers_t* headers = nullptr;  // copied
};

class ProducerSession {
 public:
  ProducerSession(const ProducerOptions& options, const LogSink& log)
      : on_brokers_(options.on_brokers),
        client_(RD_KAFKA_PRODUCER, ConfigOf(options), log, &on_brokers_) {
    // What the client knows of a topic is asked for anew every ten seconds: who hangs is found out.
    if (on_brokers_) (void)TopicOf(options.feed_topic);
  }

  // Queues a copy. `delivery` gets the result later, unless this returns an error.
  rd_kafka_resp_err_t Send(const std::string& topic, const Outgoing& record, Delivery* delivery) {
    rd_kafka_topic_t* handle = TopicOf(topic);
    if (handle == nullptr) return rd_kafka_last_error();
    HeadersHandle headers(record.headers == nullptr ? nullptr
                                                    : rd_kafka_headers_copy(record.headers));
    std::array<rd_kafka_vu_t, 7> fields = {Field(RD_KAFKA_VTYPE_RKT),
                                           Field(RD_KAFKA_VTYPE_PARTITION),
                                           Field(RD_KAFKA_VTYPE_MSGFLAGS),
                                           Field(RD_KAFKA_VTYPE_OPAQUE),
                                           Bytes(RD_KAFKA_VTYPE_VALUE, record.value),
                                           Bytes(RD_KAFKA_VTYPE_KEY, record.key),
                                           Field(RD_KAFKA_VTYPE_HEADERS)};
    fields[0].u.rkt = handle;
    fields[1].u.i32 = record.partition;
    fields[2].u.i = RD_KAFKA_MSG_F_COPY;
    fields[3].u.ptr = delivery;
    fields[6].u.headers = headers.get();
    if (record.key.empty()) fields[5].u.mem.ptr = nullptr;
    const size_t count = headers ? fields.size() : fields.size() - 1;
    const ErrorHandle error(rd_kafka_produceva(client_.get(), fields.data(), count));
    if (error && rd_kafka_error_is_fatal(error.get())) return RD_KAFKA_RESP_ERR__FATAL;
    if (error) return rd_kafka_error_code(error.get());
    (void)headers.release();  // the record's now
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  // Passes results to their deliveries. Waits at most `wait` for a result.
  void Serve(Duration wait) { rd_kafka_poll(client_.get(), ToMs(wait)); }

  // Gives up all records that are not acknowledged; Serve passes on the results.
  void GiveUp() {
    rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  }

  [[nodiscard]] bool fatal() const { return client_.fatal(); }
  // Including results not passed on yet.
  [[nodiscard]] size_t in_flight() const {
    return static_cast<size_t>(rd_kafka_outq_len(client_.get()));
  }

 private:
  // Each record carries a pointer to its Delivery.
  static void OnDelivered(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    static_cast<Delivery*>(message->_private)->OnRecord(message->err);
  }
  static int OnStatistics(rd_kafka_t*, char* json, size_t length, void* opaque) {
    const auto& on_brokers = *static_cast<std::function<void(bool)>*>(ContextOf(opaque).owner);
    on_brokers(std::string_view(json, length).find(R"("state":"UP")") != std::string_view::npos);
    return 0;  // the client frees them
  }
  static ClientConfig ConfigOf(const ProducerOptions& options) {
    ClientConfig config(
        options.client,
        {{"linger.ms", std::to_string(options.linger.count())},
         {"delivery.timeout.ms", std::to_string(options.delivery_timeout.count())},
         {"queue.buffering.max.messages", std::to_string(options.queued_records)},
         {"queue.buffering.max.kbytes", std::to_string(options.queued_kbytes)},
         {"message.max.bytes", std::to_string(options.max_record_bytes)},
         // Well below the topic's limit, which brokers apply to whole batches.
         {"batch.size", "262144"},
         {"statistics.interval.ms", options.on_brokers ? "5000" : "0"},
         {"request.timeout.ms", "10000"}},
        {{"enable.idempotence", "true"}, {"acks", "all"}, {"partitioner", "murmur2_random"}});
    rd_kafka_conf_set_dr_msg_cb(config.get(), OnDelivered);
    rd_kafka_conf_set_stats_cb(config.get(), OnStatistics);
    return config;
  }
  static rd_kafka_vu_t Field(rd_kafka_vtype_t type) { return {.vtype = type}; }
  static rd_kafka_vu_t Bytes(rd_kafka_vtype_t type, std::string_view bytes) {
    rd_kafka_vu_t field = Field(type);
    field.u.mem.ptr = const_cast<char*>(bytes.data());
    field.u.mem.size = bytes.size();
    return field;
  }
  [[nodiscard]] rd_kafka_topic_t* TopicOf(const std::string& name) {
    const auto known = topics_.find(name);
    if (known != topics_.end()) return known->second.get();
    rd_kafka_topic_t* made = rd_kafka_topic_new(client_.get(), name.c_str(), nullptr);
    if (made != nullptr) topics_.emplace(name, TopicHandle(made));
    return made;
  }

  std::function<void(bool)> on_brokers_;  // for the client's statistics
  Client client_;
  std::map<std::string, TopicHandle, std::less<>> topics_;  // destroyed before the client
};

inline HeadersHandle ToHandle(const Headers& headers, size_t more) {
  HeadersHandle handle(rd_kafka_headers_new(headers.size() + more));
  for (const auto& [name, value] : headers)
    rd_kafka_header_add(handle.get(), name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  return handle;
}

}  // namespace fanline::kafka
