// The port fanline/ports/log_positions.h over Kafka: where one topic ends and where one group
// stands in it. It joins no group. Its own thread asks, since a broker that is away holds a call
// for seconds. Replies come from that thread, exactly one per request: kLater when the brokers did
// not answer. The destructor answers waiting requests kLater.
#pragma once

#include <memory>
#include <string>

#include "backends/kafka/client_options.h"
#include "fanline/base/log_sink.h"
#include "fanline/ports/log_positions.h"
#include "fanline/ports/port.h"

namespace fanline::kafka {

struct LogPositionsOptions {
  ClientOptions client;
  std::string topic;
  std::string group;  // for ReadGroupOffsets
};

class KafkaLogPositions final : public Serves<ReadLogEnd>, public Serves<ReadGroupOffsets> {
 public:
  // Throws like Consumer; brokers need not be there yet.
  KafkaLogPositions(LogPositionsOptions options, LogSink log);
  ~KafkaLogPositions() override;

  // Any thread.
  void Submit(ReadLogEnd request, ReplyTo<LogEndRead> to) override;
  void Submit(ReadGroupOffsets request, ReplyTo<GroupOffsetsRead> to) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::kafka
