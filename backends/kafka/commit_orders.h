// The last commit ordered for each partition, on its way to the group's coordinator: one request
// at a time, the newest order wins, and what failed is sent again for as long as the partition is
// ours. A commit that is lost costs a replay, which changes nothing.
//
// Used from the polling thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/kafka/client.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

class CommitOrders {
 public:
  CommitOrders(Client& client, std::string topic);

  // All below `offset` is finished; an offset lower than the last one is an order like any other.
  void Order(int32_t partition, int64_t offset);
  // Until the next order there is nothing to commit.
  void Forget(int32_t partition);
  // The partitions are not ours any more: their orders are forgotten.
  void ForgetAll();

  // Sends what is ordered and not committed, unless a request is under way or the last one failed
  // a moment ago. Nothing: all is sent; otherwise call again after that time.
  [[nodiscard]] Duration SendDue(Time now);
  // librdkafka's answer, delivered by its poll.
  void OnAnswer(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t& offsets,
                Time now);

  // Sends all that is not known to be committed and waits for the answer, at most `limit`.
  void CommitNow(Duration limit);

 private:
  struct Progress {
    int64_t ordered = -1;
    int64_t committed = -1;
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
