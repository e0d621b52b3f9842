#include "backends/mysql/relations.h"

namespace fanline::mysql {

Relations::Relations(const Config& config, const ShardMap& map, uint32_t most_followed)
    : connections_(config), map_(map), forward_(connections_, map_, most_followed) {}

Status Relations::Follow(UserId src, UserId dst, uint64_t unix_us, Result* result) {
  return Change({.src = src, .dst = dst, .live = true, .unix_us = unix_us}, result);
}

Status Relations::Unfollow(UserId src, UserId dst, uint64_t unix_us, Result* result) {
  return Change({.src = src, .dst = dst, .live = false, .unix_us = unix_us}, result);
}

Status Relations::Change(const EdgeChange& change, Result* result) {
  *result = {};
  ForwardChanged forward;
  uint64_t log_id = 0;
  const Status status = forward_.Change(change, &forward, &log_id);
  result->over_limit = forward.over_limit;
  if (!status.done()) return status;
  result->version = forward.edge.ver;
  result->changed = forward.changed;
  if (log_id != 0) {
    const Edge& edge = forward.edge;
    result->logged = {map_.ShardOf(change.src), {log_id, ChangeKind::kEdge, edge.key(), edge.ver}};
  }
  if (forward.edge.ver == 0) return Status::Done();
  ReverseResult reverse;
  return reverse_.Apply(map_.ShardOf(change.dst), {&forward.edge, 1}, &reverse);
}

Status Relations::MarkDone(const std::vector<LoggedRow>& rows) {
  std::vector<std::vector<LogRow>> by_shard(map_.shards());
  for (const LoggedRow& row : rows) by_shard[row.shard].push_back(row.row);
  for (Shard shard = 0; shard < by_shard.size(); ++shard) {
    if (Status status = log_.MarkDone(shard, by_shard[shard]); !status.done()) return status;
  }
  return Status::Done();
}

}  // namespace fanline::mysql
