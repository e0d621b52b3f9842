// How far an application's own mirror is behind. That mirror is the group that applies relation-log
// to the application's tables. Its lag is the time since this process consumed the oldest message
// that the group has not finished. Only this process's clock counts, so clocks that differ do no
// harm. After a start the lag grows from 0. Arrivals are remembered at most once per kResolution
// and partition. Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "fanline/base/time.h"

namespace fanline {

class MirrorLagMeter {
 public:
  void Assigned(int32_t partition, int64_t start) { partitions_[partition] = {start, 0, {}}; }
  void Revoked(int32_t partition) { partitions_.erase(partition); }

  void Consumed(int32_t partition, int64_t offset, Time now) {
    const auto found = partitions_.find(partition);
    if (found == partitions_.end()) return;
    Partition& of = found->second;
    of.next = std::max(of.next, offset + 1);
    if (of.arrivals.empty() || now >= of.arrivals.back().at + kResolution) {
      of.arrivals.push_back({offset, now});
    }
  }
  // The offsets that the mirror's group has committed. They may be ahead of what was consumed here.
  void Committed(int32_t partition, int64_t offset) {
    const auto found = partitions_.find(partition);
    if (found == partitions_.end()) return;
    Partition& of = found->second;
    of.committed = std::max(of.committed, offset);
    // The last arrival at or below the offset stays. It stands for all arrivals up to the next one.
    while (of.arrivals.size() > 1 && of.arrivals[1].offset <= of.committed) of.arrivals.pop_front();
    if (of.committed >= of.next) of.arrivals.clear();
  }

  Duration Lag(Time now) const {
    Duration most{};
    for (const auto& [number, of] : partitions_) {
      if (!of.arrivals.empty()) most = std::max(most, now - of.arrivals.front().at);
    }
    return most;
  }

  std::vector<int32_t> partitions() const {
    std::vector<int32_t> numbers;
    for (const auto& [number, of] : partitions_) numbers.push_back(number);
    return numbers;
  }

 private:
  static constexpr Duration kResolution = std::chrono::milliseconds(100);

  struct Arrival {
    int64_t offset = 0;
    Time at{};
  };
  struct Partition {
    int64_t next = 0;  // to be consumed
    int64_t committed = 0;
    std::deque<Arrival> arrivals;
  };

  std::map<int32_t, Partition> partitions_;
};

}  // namespace fanline
