#include "feedctl/doctor/oldest_record.h"

#include <algorithm>

namespace fanline::feedctl {

OldestRecord FindOldest(std::vector<kafka::PartitionLag> lags, const ReadTime& read,
                        const std::function<bool()>& in_time) {
  std::stable_sort(lags.begin(), lags.end(),
                   [](const auto& a, const auto& b) { return a.records() > b.records(); });
  OldestRecord oldest;
  for (const kafka::PartitionLag& lag : lags) {
    if (lag.records() == 0) break;
    UnixMs written_at = 0;
    const kafka::LogSpan first{lag.partition, lag.from(), lag.from() + 1};
    const FirstRecord found = in_time() ? read(first, &written_at) : FirstRecord::kNotRead;
    if (found == FirstRecord::kNotRead) {
      ++oldest.unread;
    } else if (found == FirstRecord::kCorrupt) {
      oldest.corrupt.push_back(first);
    } else if (written_at > 0) {
      oldest.written_at = std::min(oldest.written_at.value_or(written_at), written_at);
    }
  }
  return oldest;
}

}  // namespace fanline::feedctl
