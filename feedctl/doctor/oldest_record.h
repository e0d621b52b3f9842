// The age of the oldest record that waits for a consumer group. Passive: reading and the clock are
// passed in; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "backends/kafka/tools/group_lag.h"
#include "backends/kafka/tools/log_reader.h"
#include "fanline/base/time.h"

namespace fanline::feedctl {

struct OldestRecord {
  std::optional<UnixMs> written_at = {};     // none: no record that was read tells
  size_t unread = 0;                         // partitions with waiting records, none of them read
  std::vector<kafka::LogSpan> corrupt = {};  // first records that are corrupt
};

enum class FirstRecord { kRead, kNotRead, kCorrupt };
// Reads a span of one record, and tells when it was written: 0 when it is gone or has no time.
using ReadTime = std::function<FirstRecord(const kafka::LogSpan&, UnixMs*)>;

// Reads the first waiting record of every partition that has one, since any partition may be stuck
// with few records. Starts with the partitions where most records wait, the likeliest to be old.
// Begins no read once `in_time` returns false.
[[nodiscard]] OldestRecord FindOldest(std::vector<kafka::PartitionLag> lags, const ReadTime& read,
                                      const std::function<bool()>& in_time);

}  // namespace fanline::feedctl
