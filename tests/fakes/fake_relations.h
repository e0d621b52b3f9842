// Relations of schemas/sql as a small in-memory model: what the shards answer to each request of
// forward_edges.h, reverse_edges.h, change_log.h and mirror_mode.h, at once, and to the adoption
// of a reconciler.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/model/friendship.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/mirror_mode.h"
#include "fanline/ports/repair_store.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::fakes {

class FakeRelations {
 public:
  using Edges = std::map<EdgeKey, EdgeState>;

  explicit FakeRelations(const ShardMap& shards) : shards_(shards), log_(shards.shards()) {}

  uint64_t most_followed = 5'000;
  MirrorMode mode = MirrorMode::kAsync;
  UnixMs now = 1'700'000'000'000;  // stamps rows of log1

  EdgesApplied Do(const ApplyEdges& request);
  EdgeChanged Do(const ChangeEdge& request);
  PendingRead Do(const ReadPending& request) const;
  MarkedDone Do(const MarkDone& request);
  PurgedDone Do(const PurgeDone& request);
  EdgeAdopted Do(const AdoptEdge& request);
  MirrorModeRead Do(const ReadMirrorMode& request) const { return {request.id, {}, mode}; }

  // The rows of log1 with these ids, by whoever knows them.
  void Finish(Shard shard, const std::vector<uint64_t>& ids);
  // A failover that lost the last rows of log1: their ids are given out once more.
  void LoseRows(Shard shard, uint64_t last);

  // What a user does: follow or unfollow. The row as it is then.
  Edge Change(UserId src, UserId dst, bool live, Origin origin = Origin::kUser,
              uint64_t origin_version = 0);
  // Two users become friends, or no longer are: announced to both edges, then its row of log1. The
  // pair's row is the caller's: which version it has now, `version` or higher.
  uint64_t Befriend(UserId low, UserId high, bool friends, uint64_t version);
  // The same one call after the other, as whoever serves a user makes them: an edge learns that
  // `version` of its pair may come, and answers the highest that was written to it or settled; the
  // pair's row; that row written, `logs`: with a row of log1, for both edges change.
  uint64_t Announce(const EdgeKey& key, uint64_t version);
  Friendship Pair(UserId low, UserId high) const;
  void WritePair(UserId low, UserId high, const Friendship& row, UnixMs agreed_at, bool logs);
  // Something was announced to the edge that has neither come nor been settled.
  bool AwaitsFriendship(const EdgeKey& key) const;
  // Off, each the mutation: what was announced is written also when a user said something since;
  // an application's older change is written after a newer one.
  bool changes_settle = true, application_versions = true;
  // A row of log1 that has its id before others and is committed after them: reserved now, and
  // used by the change that is made while it is `next_row`.
  uint64_t ReserveRow(Shard shard) { return ++log_[shard].ids; }
  uint64_t next_row = 0;  // 0: the next free one

  const Edges& forward() const { return forward_; }
  const Edges& reverse() const { return reverse_; }
  const std::map<UserId, int64_t>& fans() const { return fans_; }
  size_t pending() const;

  // The reverse row as a mirror without versions would leave it.
  void Overwrite(const Edge& edge) { reverse_[edge.key()] = edge.state(); }

 private:
  struct Origins {
    uint64_t application = 0;
    uint64_t friendship = 0;  // written, or settled by another change
    uint64_t announced = 0;
  };
  struct Row {
    LoggedChange change;
    bool done = false;
  };
  struct Table {
    uint64_t ids = 0;
    std::map<uint64_t, Row> rows;
  };

  uint64_t Followed(UserId src) const;
  void Log(Shard shard, LoggedChange change);

  const ShardMap shards_;
  Edges forward_, reverse_;
  std::map<EdgeKey, Origins> origins_;
  std::map<EdgeKey, Friendship> pairs_;  // smaller id first
  std::map<UserId, int64_t> fans_;
  std::vector<Table> log_;  // by shard
};

}  // namespace fanline::fakes
