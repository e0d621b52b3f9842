// Sends commits to the group's coordinator: one request at a time, with the newest order of each
// partition. A failed commit is sent again for as long as the partition is ours. A lost commit
// costs a replay, which changes nothing.
//
// Used from the polling thread only.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "backends/kafka/client.h"
#include "backends/kafka/errors.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

class CommitOrders {
 public:
  CommitOrders(Client& client, std::string topic) : client_(client), topic_(std::move(topic)) {}

  // All records below `offset` are finished. `read_until`: the time of the last of them, if known;
  // it goes into the commit's metadata. `offset` may be lower than the one ordered before.
  void Order(int32_t partition, int64_t offset, std::optional<UnixMs> read_until) {
    Progress& progress = orders_[partition];
    progress.ordered = offset;
    progress.read_until = read_until;
  }
  // Forgets the partition's order: nothing of the partition is committed until the next one.
  void Forget(int32_t partition) { orders_.erase(partition); }
  // Forgets all orders: the partitions are no longer ours. A request under way goes on: its offsets
  // were ordered while the partitions were ours, and brokers refuse them from a member of an
  // earlier generation. If a partition is ours again when the answer comes, the answer counts.
  void ForgetAll() { orders_.clear(); }

  // Sends the orders not committed yet, unless a request is under way or the last one has just
  // failed. Returns after how long to call again; zero: no need to.
  [[nodiscard]] Duration SendDue(Time now) {
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
  // librdkafka's answer, delivered by its poll.
  void OnAnswer(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& offsets,
                Time now) {
    under_way_ = false;
    const rd_kafka_resp_err_t first = Note(error, offsets);
    if (first == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    retry_at_ = now + kRetryAfter;
    client_.log().Log(LogLevel::kWarn, "commit",
                      "kafka: " + topic_ + ": commit: " + Describe(first) + "; will try again");
  }

  // Sends all orders not known to be committed and waits at most `limit` for the answer.
  void CommitNow(Duration limit) {
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

 private:
  static constexpr Duration kRetryAfter = std::chrono::milliseconds(500);

  struct Progress {
    int64_t ordered = -1;
    int64_t committed = -1;
    std::optional<UnixMs> read_until{};  // belongs to `ordered`
  };

  [[nodiscard]] PartitionList Uncommitted() const {
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
  [[nodiscard]] rd_kafka_resp_err_t Note(rd_kafka_resp_err_t error,
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

  Client& client_;
  const std::string topic_;
  std::map<int32_t, Progress> orders_;
  bool under_way_ = false;
  Time retry_at_{};
};

}  // namespace fanline::kafka
