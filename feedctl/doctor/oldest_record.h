// How old the oldest record is that waits for a consumer group. Passive: reading and the clock come
// in; any thread.
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
  std::optional<UnixMs> written_at = {};     // none: no record that was read says when
  size_t unread = 0;                         // partitions where records wait and none could be read
  std::vector<kafka::LogSpan> corrupt = {};  // the first records of those that nobody can read
};

enum class FirstRecord { kRead, kNotRead, kCorrupt };
// Reads a span of one record, and says when that was written: 0 when it is gone or does not say.
using ReadTime = std::function<FirstRecord(const kafka::LogSpan&, UnixMs*)>;

// Reads the first record that waits of every partition where one does: a partition that is stuck
// may be any of them, and few may wait there. Where most wait is read first, as these are the
// likeliest to be old; none is begun when `in_time` says no.
[[nodiscard]] OldestRecord FindOldest(std::vector<kafka::PartitionLag> lags, const ReadTime& read,
                                      const std::function<bool()>& in_time);

}  // namespace fanline::feedctl
