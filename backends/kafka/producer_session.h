// One life of the idempotent producer, from its making to its first fatal error.
//
// Send may be called by one thread at a time, Serve by another at the same time.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "backends/kafka/client.h"
#include "backends/kafka/producer_options.h"
#include "fanline/model/record.h"

namespace fanline::kafka {

// Told about each record sent, from within Serve: acknowledged (NO_ERROR) or given up.
class Delivery {
 public:
  virtual void OnRecord(rd_kafka_resp_err_t result) = 0;

 protected:
  ~Delivery() = default;
};

class ProducerSession {
 public:
  struct Outgoing {
    int32_t partition = kAnyPartition;
    std::string_view key;  // empty: none
    std::string_view value;
    const rd_kafka_headers_t* headers = nullptr;  // copied
  };

  ProducerSession(const ProducerOptions& options, const LogSink& log);

  // Queues a copy; `delivery` hears of it later, unless the answer is an error.
  rd_kafka_resp_err_t Send(const std::string& topic, const Outgoing& record, Delivery* delivery);

  // Tells deliveries what became of their records; waits at most `wait` for something to tell.
  void Serve(Duration wait);

  // Gives up all that is not acknowledged; Serve tells the deliveries.
  void GiveUp();

  [[nodiscard]] bool fatal() const { return client_.fatal(); }
  [[nodiscard]] size_t in_flight() const;  // including deliveries not told yet
  [[nodiscard]] LogLimiter& log() const { return client_.log(); }

 private:
  [[nodiscard]] rd_kafka_topic_t* TopicOf(const std::string& name);

  Client client_;
  std::map<std::string, TopicHandle, std::less<>> topics_;  // destroyed before the client
};

HeadersHandle ToHandle(const Headers& headers, size_t more);

}  // namespace fanline::kafka
