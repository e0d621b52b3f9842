// Sends commits to the group's coordinator: one request at a time, with the newest order of each
// partition. A failed commit is sent again for as long as the partition is ours. A lost commit
// costs a replay, which changes nothing.
//
// Used from the polling thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "backends/kafka/client.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

class CommitOrders {
 public:
  CommitOrders(Client& client, std::string topic);

  // All records below `offset` are finished. `read_until`: the time of the last of them, if known;
  // it goes into the commit's metadata. `offset` may be lower than the one ordered before.
  void Order(int32_t partition, int64_t offset, std::optional<UnixMs> read_until);
  // Forgets the partition's order: nothing of the partition is committed until the next one.
  void Forget(int32_t partition);
  // Forgets all orders: the partitions are no longer ours. A request under way goes on: its offsets
  // were ordered while the partitions were ours, and brokers refuse them from a member of an
  // earlier generation. If a partition is ours again when the answer comes, the answer counts.
  void ForgetAll();

  // Sends the orders not committed yet, unless a request is under way or the last one has just
  // failed. Returns after how long to call again; zero: no need to.
  [[nodiscard]] Duration SendDue(Time now);
  // librdkafka's answer, delivered by its poll.
  void OnAnswer(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& offsets,
                Time now);

  // Sends all orders not known to be committed and waits at most `limit` for the answer.
  void CommitNow(Duration limit);

 private:
  struct Progress {
    int64_t ordered = -1;
    int64_t committed = -1;
    std::optional<UnixMs> read_until{};  // belongs to `ordered`
  };

  [[nodiscard]] PartitionList Uncommitted() const;
  [[nodiscard]] rd_kafka_resp_err_t Note(rd_kafka_resp_err_t error,
                                         const rd_kafka_topic_partition_list_t& offsets);

  Client& client_;
  const std::string topic_;
  std::map<int32_t, Progress> orders_;
  bool under_way_ = false;
  Time retry_at_{};
};

}  // namespace fanline::kafka
