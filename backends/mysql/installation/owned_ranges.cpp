#include "backends/mysql/installation/owned_ranges.h"

namespace fanline::mysql {

Status ReadOwnedRanges(ShardConnections& connections, const RangeLayout& layout,
                       const ShardMap& map, std::vector<bool>* owned) {
  owned->assign(layout.partitions(), false);
  for (Shard shard = 0; shard < map.shards(); ++shard) {
    const Status status = connections.Run(shard, [&](Connection& connection) {
      connection.Query("SELECT range_id FROM range_owner", [&](const Row& row) {
        const uint64_t range = row.UInt64(1);
        if (range < owned->size()) (*owned)[range] = true;
      });
    });
    if (!status.done()) return status;
  }
  return Status::Done();
}

}  // namespace fanline::mysql
