#include "backends/redis/cluster/migration_watch.h"

#include <algorithm>

namespace fanline::redis {

std::vector<OpenSlot> MigrationWatch::Look(const std::vector<OpenSlot>& open, Time now) {
  std::erase_if(seen_, [&](const auto& entry) {
    return std::none_of(open.begin(), open.end(),
                        [&](const OpenSlot& slot) { return slot.slot == entry.first; });
  });
  std::vector<OpenSlot> left;
  for (const OpenSlot& slot : open) {
    Seen& seen = seen_.try_emplace(slot.slot, Seen{now, false}).first->second;
    if (seen.left || now - seen.since < left_after_) continue;
    seen.left = true;
    left.push_back(slot);
  }
  return left;
}

size_t MigrationWatch::left() const {
  return static_cast<size_t>(std::count_if(seen_.begin(), seen_.end(),
                                           [](const auto& entry) { return entry.second.left; }));
}

}  // namespace fanline::redis
