// The partitions that cannot be read any further, why, and when each is tried again. The back-off
// grows while a partition is stuck at one position.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/kafka/errors.h"
#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

class ParkedPartitions {
 public:
  struct Entry {
    Reading why = Reading::kCorrupt;
    int64_t position = 0;  // of the first record that was not read
    std::string reason;    // one line
    uint32_t attempts = 0;
    std::optional<Time> retry_at;  // none: being tried
  };

  // Returns how long to wait before the next try.
  Duration Park(int32_t partition, Reading why, int64_t position, std::string reason, Time now,
                uint64_t random) {
    Entry& entry = entries_[partition];
    if (entry.position != position) entry.attempts = 0;
    const Duration wait = kBackoff.Delay(++entry.attempts, random);
    entry = {why, position, std::move(reason), entry.attempts, now + wait};
    return wait;
  }
  // A record was read, or the partition is not ours any more.
  void Forget(int32_t partition) { entries_.erase(partition); }
  void ForgetAll() { entries_.clear(); }

  // The partitions to try now. Each is returned once until it is parked again.
  std::vector<int32_t> Due(Time now) {
    std::vector<int32_t> due;
    for (auto& [partition, entry] : entries_) {
      if (!entry.retry_at || *entry.retry_at > now) continue;
      entry.retry_at.reset();
      due.push_back(partition);
    }
    return due;
  }

  [[nodiscard]] const Entry* Find(int32_t partition) const {
    const auto found = entries_.find(partition);
    return found == entries_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const std::map<int32_t, Entry>& entries() const { return entries_; }

 private:
  static constexpr Backoff kBackoff{std::chrono::milliseconds(500), std::chrono::minutes(1)};

  std::map<int32_t, Entry> entries_;
};

}  // namespace fanline::kafka
