// The port fanline/ports/log_positions.h over Kafka: where one group stands in one topic. It joins
// no group. Its own thread asks, since a broker that is away holds a call for seconds. Replies come
// from that thread, exactly one per request: kLater when the brokers did not answer. The destructor
// answers waiting requests kLater.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "backends/kafka/client_options.h"
#include "fanline/base/log_sink.h"
#include "fanline/ports/log_positions.h"
#include "fanline/ports/port.h"

namespace fanline::kafka {

class Client;

struct LogPositionsOptions {
  ClientOptions client;
  std::string topic;
  std::string group;
};

class KafkaLogPositions final : public Serves<ReadGroupOffsets> {
 public:
  // Throws like Consumer; brokers need not be there yet.
  KafkaLogPositions(LogPositionsOptions options, LogSink log);
  ~KafkaLogPositions() override;

  // Any thread.
  void Submit(ReadGroupOffsets request, ReplyTo<GroupOffsetsRead> to) override;

 private:
  void Run();
  GroupOffsetsRead Answer(const ReadGroupOffsets& request, bool ask);

  const LogPositionsOptions options_;
  const std::unique_ptr<Client> client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<ReadGroupOffsets, ReplyTo<GroupOffsetsRead>>> waiting_;  // under mutex_
  bool stopping_ = false;                                                       // likewise
  std::thread thread_;
};

}  // namespace fanline::kafka
