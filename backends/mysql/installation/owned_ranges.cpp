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

std::map<Range, uint64_t> ReadUnsettledStarts(Connection& connection) {
  std::map<Range, uint64_t> starts;
  connection.Query("SELECT range_id FROM range_start",
                   [&](const Row& row) { ++starts[static_cast<Range>(row.UInt64(1))]; });
  return starts;
}

}  // namespace fanline::mysql
