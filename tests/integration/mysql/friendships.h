// Changes of friendships from the first step to the last, with a caller that waits: asks real
// shards what a FriendshipRun wants to know. Several threads may use one.
#pragma once

#include "backends/mysql/edges/relation_store.h"
#include "fanline/ports/friendship_run.h"
#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {

using FriendshipStep = FriendshipRun::Result;

// Makes the requests, and all that follow from their replies; `ask` returns the reply.
template <class AskOne>
void AskAll(FriendshipRun& run, const FriendshipRun::Requests& requests, const AskOne& ask) {
  for (const FriendshipRun::Request& request : requests) {
    std::visit([&](const auto& each) { AskAll(run, run.On(ask(each)), ask); }, request);
  }
}

class Friendships {
 public:
  Friendships(const Config& config, const ShardMap& map, uint32_t most_followed = kMostFollowed)
      : map_(map), shards_(config, HealthSink(), kNoLog, {map, most_followed}) {}

  Status Change(FriendAction action, UserId who, UserId whom, uint64_t unix_us,
                FriendshipStep* out) {
    FriendshipRun run(action, who, whom, unix_us);
    AskAll(run, run.Begin(), [this](const auto& request) { return Ask(shards_, request); });
    *out = run.result();
    return out->status;
  }

  Status Read(UserId one, UserId other, Friendship* out) {
    const FriendshipRead read = Ask(shards_, ReadFriendship{0, one, other});
    *out = read.now;
    return read.status;
  }

  Shard PairShard(UserId one, UserId other) const { return mysql::PairShard(map_, one, other); }

 private:
  const ShardMap map_;
  MysqlRelations shards_;
};

}  // namespace fanline::mysql
