// Port LogPositions over the brokers: where one topic ends and where one group stands in it. A
// thread of its own asks, since a broker that is away holds a call for seconds; it is a member of
// no group. Replies come from that thread, exactly one per request, kLater when the brokers did not
// answer; what waits at the end is answered kLater.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backends/kafka/client_options.h"
#include "fanline/log_positions.h"
#include "fanline/log_sink.h"

namespace fanline::kafka {

struct LogPositionsOptions {
  ClientOptions client;
  std::string topic;
  std::string group;  // whose commits are asked for, if any are
};

class KafkaLogPositions final : public LogPositions {
 public:
  using Reply = std::function<void(PositionReply)>;

  // Throws like Consumer; brokers need not be there yet.
  KafkaLogPositions(LogPositionsOptions options, Reply reply, LogSink log);
  ~KafkaLogPositions() override;

  void Submit(PositionRequest request) override;  // any thread

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::kafka
