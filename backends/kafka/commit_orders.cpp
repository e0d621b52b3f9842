#include "backends/kafka/commit_orders.h"

#include <cstring>
#include <utility>

#include "backends/kafka/errors.h"

namespace fanline::kafka {
namespace {

constexpr Duration kRetryAfter = std::chrono::milliseconds(500);

}  // namespace

CommitOrders::CommitOrders(Client& client, std::string topic)
    : client_(client), topic_(std::move(topic)) {}

void CommitOrders::Order(int32_t partition, int64_t offset, std::optional<UnixMs> read_until) {
  Progress& progress = orders_[partition];
  progress.ordered = offset;
  progress.read_until = read_until;
}

void CommitOrders::Forget(int32_t partition) { orders_.erase(partition); }

void CommitOrders::ForgetAll() { orders_.clear(); }

Duration CommitOrders::SendDue(Time now) {
  if (under_way_) return Duration::zero();  // the answer's poll sends the rest
  const PartitionList due = Uncommitted();
  if (due->cnt == 0) return Duration::zero();
  if (now < retry_at_) return retry_at_ - now;
  const rd_kafka_resp_err_t error = rd_kafka_commit(client_.get(), due.get(), 1 /* async */);
  under_way_ = error == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (under_way_) return Duration::zero();
  client_.log().Log(LogLevel::kWarn, "commit", "kafka: commit: " + Describe(error));
  retry_at_ = now + kRetryAfter;
  return kRetryAfter;
}

void CommitOrders::OnAnswer(rd_kafka_resp_err_t error,
                            const rd_kafka_topic_partition_list_t& offsets, Time now) {
  under_way_ = false;
  const rd_kafka_resp_err_t first = Note(error, offsets);
  if (first == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  retry_at_ = now + kRetryAfter;
  client_.log().Log(LogLevel::kWarn, "commit",
                    "kafka: " + topic_ + ": commit: " + Describe(first) + "; will try again");
}

void CommitOrders::CommitNow(Duration limit) {
  const PartitionList due = Uncommitted();
  if (due->cnt == 0) return;
  // A queue of our own bounds the wait: librdkafka drops an answer that comes after it is gone.
  const QueueHandle queue(rd_kafka_queue_new(client_.get()));
  struct Answer {
    CommitOrders* orders;
    bool arrived = false;
  } answer{this};
  rd_kafka_commit_queue(
      client_.get(), due.get(), queue.get(),
      [](rd_kafka_t*, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* offsets,
         void* opaque) {
        auto* to = static_cast<Answer*>(opaque);
        to->arrived = true;
        const rd_kafka_resp_err_t first = to->orders->Note(error, *offsets);
        if (first != RD_KAFKA_RESP_ERR_NO_ERROR)
          to->orders->client_.log().Log(LogLevel::kWarn, "commit",
                                        "kafka: last commit: " + Describe(first));
      },
      &answer);
  const auto until = Clock::now() + limit;
  while (!answer.arrived && Clock::now() < until) rd_kafka_queue_poll_callback(queue.get(), 20);
  if (!answer.arrived)
    client_.log().Log(LogLevel::kWarn, "commit", "kafka: last commit: no answer in time");
}

PartitionList CommitOrders::Uncommitted() const {
  PartitionList list = NewPartitionList(orders_.size());
  for (const auto& [partition, progress] : orders_) {
    if (progress.ordered == progress.committed) continue;
    auto* due = rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition);
    due->offset = progress.ordered;
    if (!progress.read_until) continue;
    const std::string text = std::to_string(*progress.read_until);
    due->metadata = strdup(text.c_str());  // freed with the list
    due->metadata_size = text.size();
  }
  return list;
}

// Remembers what is committed; answers with the first error.
rd_kafka_resp_err_t CommitOrders::Note(rd_kafka_resp_err_t error,
                                       const rd_kafka_topic_partition_list_t& offsets) {
  rd_kafka_resp_err_t first = error;
  for (int i = 0; i < offsets.cnt; ++i) {
    const rd_kafka_topic_partition_t& offset = offsets.elems[i];
    const rd_kafka_resp_err_t own = offset.err != RD_KAFKA_RESP_ERR_NO_ERROR ? offset.err : error;
    const auto found = orders_.find(offset.partition);
    if (own == RD_KAFKA_RESP_ERR_NO_ERROR && found != orders_.end())
      found->second.committed = offset.offset;
    if (first == RD_KAFKA_RESP_ERR_NO_ERROR) first = own;
  }
  return first;
}

}  // namespace fanline::kafka
