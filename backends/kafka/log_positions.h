// The port fanline/ports/log_positions.h over Kafka: where one topic ends and where one group
// stands in it. It joins no group. Its own thread asks, since a broker that is away holds a call
// for seconds. Replies come from that thread, exactly one per request: kLater when the brokers did
// not answer. The destructor answers waiting requests kLater.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
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
  std::string group;  // for ReadGroupOffsets
};

class KafkaLogPositions final : public ServesAll<KafkaLogPositions, ReadLogEnd, ReadGroupOffsets> {
 public:
  // Throws like Consumer; brokers need not be there yet.
  KafkaLogPositions(LogPositionsOptions options, LogSink log);
  ~KafkaLogPositions() override;

  // Any thread.
  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(
        [this, request = std::move(request), to](bool ask) { to(Answer(request, ask)); });
    changed_.notify_one();
  }

 private:
  void Run();
  LogEndRead Answer(const ReadLogEnd& request, bool ask);
  GroupOffsetsRead Answer(const ReadGroupOffsets& request, bool ask);

  const LogPositionsOptions options_;
  const std::unique_ptr<Client> client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(bool ask)>> waiting_;  // guarded by mutex_, as is the next
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fanline::kafka
