// One instance of the idempotent producer, which lives until its first fatal error.
// One thread at a time may call Send; another may call Serve meanwhile.
#pragma once

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
  ProducerSession(const ProducerOptions& options, const LogSink& log);

  // Queues a copy. `delivery` gets the result later, unless this returns an error.
  rd_kafka_resp_err_t Send(const std::string& topic, const Outgoing& record, Delivery* delivery);

  // Passes results to their deliveries. Waits at most `wait` for a result.
  void Serve(Duration wait);

  // Gives up all records that are not acknowledged; Serve passes on the results.
  void GiveUp();

  [[nodiscard]] bool fatal() const { return client_.fatal(); }
  [[nodiscard]] size_t in_flight() const;  // including results not passed on yet
  [[nodiscard]] LogLimiter& log() const { return client_.log(); }

 private:
  [[nodiscard]] rd_kafka_topic_t* TopicOf(const std::string& name);
  std::function<void(bool)> on_brokers_;  // for the client's statistics
  Client client_;
  std::map<std::string, TopicHandle, std::less<>> topics_;  // destroyed before the client
};

HeadersHandle ToHandle(const Headers& headers, size_t more);

}  // namespace fanline::kafka
