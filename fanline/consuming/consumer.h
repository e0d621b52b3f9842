// What a consumer group tells the logic, and what the logic asks of it. A logic consumes one topic
// in a group; the adapter (backends/kafka) turns librdkafka's callbacks into these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/model/record.h"

namespace fanline {

// The partition is ours and paused: nothing is delivered before a seek. Replaces an earlier
// assignment, even one that was not revoked.
struct PartitionAssigned {
  int32_t partition = 0;
  // The group's committed offset. On the very first start: the log's first offset. After a loss
  // that was found while reading: the position reached.
  int64_t start = 0;
  int64_t low = 0;  // the log's first offset: what is older is gone
  // The offset of the next record to be written, looked up after `start`; int64 max: not known.
  int64_t end = std::numeric_limits<int64_t>::max();
  // False: the group has no committed offset here. It never started before, its offsets expired, or
  // the topic was made anew. What was read before is unknown.
  bool committed = true;
  // Where to read on if the log lost its tail: everything below was read, judged by the time of the
  // last record that was read. None: unknown.
  std::optional<int64_t> reread{};

  // The log ends before `start` (an unclean election, a broker restored from a backup, a topic made
  // anew). Its offsets may now hold other records, and records that were never read may be gone.
  [[nodiscard]] bool tail_lost() const { return start > end; }
  // Where to read on. After a loss: `reread`, or the log's first record, which is safe for
  // everything that may be applied twice.
  [[nodiscard]] int64_t first() const {
    return std::max(tail_lost() ? reread.value_or(low) : start, low);
  }
};
// All records that were in the log at `asked_at` lie below `end`. Comes every few seconds for each
// partition that is ours, while the brokers answer.
struct LogEndSeen {
  int32_t partition = 0;
  int64_t end = 0;
  Time asked_at{};  // monotonic
};
// The partition is no longer ours. Its records that were handed over must not be committed.
struct PartitionRevoked {
  int32_t partition = 0;
};

struct ConsumerOrders {
  struct At {
    int32_t partition = 0;
    int64_t offset = 0;
  };
  std::vector<At> seek;  // deliver from here on (also resumes)
  std::vector<int32_t> pause;
  std::vector<int32_t> resume;
  std::vector<At> commit;  // all below is finished
};

// The result of one step of a consuming logic.
struct Progress {
  ConsumerOrders orders{};
  std::optional<Time> next_timer{};  // Step again by then, even without input

  void StepBy(std::optional<Time> time) { next_timer = Earlier(next_timer, time); }
};

// What every consuming logic reports about itself.
class ConsumerMetrics {
 public:
  virtual ~ConsumerMetrics() = default;

  // A request failed because `resource` (Status::resource) is away. It will be sent again.
  virtual void Parked(const std::string& /*resource*/) {}
  // The log was cut: the records between these offsets are gone and were never read.
  virtual void LogGap(int32_t /*partition*/, int64_t /*from*/, int64_t /*to*/) {}
  // The partition's log ends before the position that was read: it lost its tail, and perhaps
  // records nobody has read. It is read again from PartitionAssigned::first().
  virtual void TailLost(int32_t /*partition*/, int64_t /*position*/, int64_t /*end*/) {}
  // The group has committed nothing, yet it may have missed records: those before `low`, or those
  // of an earlier log in which we saved a position.
  virtual void NothingCommitted(int32_t /*partition*/, int64_t /*low*/) {}
};

}  // namespace fanline
