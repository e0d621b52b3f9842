#include "backends/kafka/log_positions.h"

#include "backends/kafka/client.h"
#include "backends/kafka/errors.h"

namespace fanline::kafka {
namespace {

// The limit of one call. A broker that is away holds up this thread only.
constexpr int kCallTimeoutMs = 3000;

// The client never joins its group, so membership settings do not matter.
ClientConfig ConfigOf(const LogPositionsOptions& options) {
  return ClientConfig(options.client, {},
                      {{"group.id", options.group}, {"enable.auto.commit", "false"}});
}

}  // namespace

KafkaLogPositions::KafkaLogPositions(LogPositionsOptions options, LogSink log)
    : options_(std::move(options)),
      client_(
          std::make_unique<Client>(RD_KAFKA_CONSUMER, ConfigOf(options_), std::move(log), nullptr)),
      thread_([this] { Run(); }) {}

KafkaLogPositions::~KafkaLogPositions() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void KafkaLogPositions::Submit(ReadGroupOffsets request, ReplyTo<GroupOffsetsRead> to) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace_back(std::move(request), to);
  changed_.notify_one();
}

void KafkaLogPositions::Run() {
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

GroupOffsetsRead KafkaLogPositions::Answer(const ReadGroupOffsets& request, bool ask) {
  GroupOffsetsRead reply{request.id, {}, {}};
  const PartitionList list = ListOf(options_.topic, request.partitions, RD_KAFKA_OFFSET_INVALID);
  const auto error = ask ? rd_kafka_committed(client_->get(), list.get(), kCallTimeoutMs)
                         : RD_KAFKA_RESP_ERR__DESTROY;
  reply.status = StatusOf(error, "looking up where " + options_.group + " stands");
  for (int i = 0; i < list->cnt && reply.status.done(); ++i) {
    const rd_kafka_topic_partition_t& each = list->elems[i];
    reply.status = StatusOf(each.err, "looking up where " + options_.group + " stands");
    reply.committed.push_back({each.partition, each.offset < 0 ? -1 : each.offset});
  }
  return reply;
}

}  // namespace fanline::kafka
