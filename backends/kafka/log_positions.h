// The port fanline/ports/log_positions.h over Kafka: where one group stands in one topic. It joins
// no group. Its own thread asks, since a broker that is away holds a call for seconds. Replies come
// from that thread, exactly one per request: kLater when the brokers did not answer. The destructor
// answers waiting requests kLater.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "backends/kafka/client.h"
#include "backends/kafka/errors.h"
#include "fanline/base/log_sink.h"
#include "fanline/ports/log_positions.h"
#include "fanline/ports/port.h"

namespace fanline::kafka {

struct LogPositionsOptions {
  ClientOptions client;
  std::string topic;
  std::string group;
};

class KafkaLogPositions final : public Serves<ReadGroupOffsets> {
 public:
  // Throws like Consumer; brokers need not be there yet.
  KafkaLogPositions(LogPositionsOptions options, LogSink log)
      : options_(std::move(options)),
        client_(RD_KAFKA_CONSUMER, ConfigOf(options_), std::move(log), nullptr),
        thread_([this] { Run(); }) {}
  ~KafkaLogPositions() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }

  // Any thread.
  void Submit(ReadGroupOffsets request, ReplyTo<GroupOffsetsRead> to) override {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::move(request), to);
    changed_.notify_one();
  }

 private:
  // The limit of one call. A broker that is away holds up this thread only.
  static constexpr int kCallTimeoutMs = 3000;

  // The client never joins its group, so membership settings do not matter.
  static ClientConfig ConfigOf(const LogPositionsOptions& options) {
    return ClientConfig(options.client, {},
                        {{"group.id", options.group}, {"enable.auto.commit", "false"}});
  }
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const auto [request, to] = std::move(waiting_.front());
      waiting_.pop_front();
      const bool ask = !stopping_;
      lock.unlock();
      to(Answer(request, ask));
      lock.lock();
    }
  }
  GroupOffsetsRead Answer(const ReadGroupOffsets& request, bool ask) {
    GroupOffsetsRead reply{request.id, {}, {}};
    const PartitionList list = ListOf(options_.topic, request.partitions, RD_KAFKA_OFFSET_INVALID);
    const auto error = ask ? rd_kafka_committed(client_.get(), list.get(), kCallTimeoutMs)
                           : RD_KAFKA_RESP_ERR__DESTROY;
    reply.status = StatusOf(error, "looking up where " + options_.group + " stands");
    for (int i = 0; i < list->cnt && reply.status.done(); ++i) {
      const rd_kafka_topic_partition_t& each = list->elems[i];
      reply.status = StatusOf(each.err, "looking up where " + options_.group + " stands");
      reply.committed.push_back({each.partition, each.offset < 0 ? -1 : each.offset});
    }
    return reply;
  }

  const LogPositionsOptions options_;
  Client client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<ReadGroupOffsets, ReplyTo<GroupOffsetsRead>>> waiting_;  // under mutex_
  bool stopping_ = false;                                                       // likewise
  std::thread thread_;
};

}  // namespace fanline::kafka
