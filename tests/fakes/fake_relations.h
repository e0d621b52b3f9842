// Relations of schemas/sql as a small in-memory model. Answers each request of forward_edges.h,
// reverse_edges.h, change_log.h and operator_modes.h, the steps of a friendship's change, changes
// of mutes, and a reconciler's adoption, at once, as the shards would. Held against MariaDB in
// tests/integration/mysql/model. Left out: ids that are no user's, how much a user may change
// within an hour, and counters that have drifted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/model/friendship.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/log_scan.h"
#include "fanline/ports/relation_store.h"
#include "fanline/ports/repair_store.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::fakes {

class FakeRelations {
 public:
  using Edges = std::map<EdgeKey, EdgeState>;

  explicit FakeRelations(const ShardMap& shards) : shards_(shards), log_(shards.shards()) {}

  uint64_t most_followed = 5'000;
  UnixMs now = 1'700'000'000'000;  // stamps rows of log1

  EdgesApplied Do(const ApplyEdges& request);
  EdgeChanged Do(const ChangeEdge& request);
  PendingRead Do(const ReadPending& request) const;
  PendingAsked Do(const AskPending& request) const;
  MarkedDone Do(const MarkDone& request);
  PurgedDone Do(const PurgeDone& request);
  EdgeAdopted Do(const AdoptEdge& request);
  FriendshipRead Do(const ReadFriendship& request) const;
  RoomAsked Do(const AskRoom& request) const;
  ChangeUsedUp Do(const UseUpChange& request) const { return {request.id, {}, {}}; }
  PairAnnounced Do(const AnnouncePair& request);
  FriendshipWritten Do(const WriteFriendship& request);
  LoggedRead Do(const ReadLogged& request) const;
  LogScanMoved Do(const MoveLogScan& request);
  FriendVersionsRead Do(const ReadFriendVersions& request) const;
  LoggedAgain Do(const LogAgain& request);
  MutesChanged Do(const ChangeMutes& request);

  // Marks these rows of log1 as done.
  void Finish(Shard shard, const std::vector<uint64_t>& ids);
  // A failover that lost the last rows of log1: their ids are given out once more.
  void LoseRows(Shard shard, uint64_t last);
  // The last `most` changes of edges and friendships that a shard committed; and the failover that
  // loses the last `count`, with their forward rows.
  std::vector<LoggedChange> Last(Shard shard, size_t most) const;
  void LoseChanges(Shard shard, size_t count);
  size_t PendingOf(Shard shard, const EdgeKey& edge) const;
  // The last reverse rows that were written on a shard, newest first; and the failover that loses
  // them.
  std::vector<Edge> LastApplied(Shard shard, size_t most) const;
  void LoseApplied(Shard shard, size_t count);
  // The log scan has not passed all rows of log1.
  bool Unscanned(Shard shard) const;

  // A user chooses what a follow brings. Returns the row as it is then.
  Edge Choose(UserId src, UserId dst, Delivery delivery);
  // A user follows or unfollows. Returns the row as it is then.
  Edge Change(UserId src, UserId dst, bool live, Origin origin = Origin::kUser,
              uint64_t origin_version = 0);
  // Two users become friends, or no longer are: announces it to both edges, then logs it in log1.
  // The pair's row is left to the caller. Returns its version now, `version` or higher.
  uint64_t Befriend(UserId low, UserId high, bool friends, uint64_t version);
  // The answer to AnnouncePair: the highest version that was written to the edge or settled.
  uint64_t Announce(const EdgeKey& key, uint64_t version);
  Friendship Pair(UserId low, UserId high) const;
  // Something was announced to the edge that has neither come nor been settled.
  bool AwaitsFriendship(const EdgeKey& key) const;
  // Each off is a mutation: an announced friendship is written although a user said something
  // since; an application's older change is written after a newer one; an unfollow leaves what the
  // follow brought; an accepted friendship resets it; a choice settles a friendship; a reverse row
  // is written without it.
  bool changes_settle = true, application_versions = true, unfollows_reset = true,
       friendships_keep = true, choices_settle_nothing = true, choices_mirrored = true;
  // Reserves the id of a row of log1 that is committed after rows with higher ids. The change made
  // while it is `next_row` uses it.
  uint64_t ReserveRow(Shard shard) { return ++log_[shard].ids; }
  uint64_t next_row = 0;  // 0: the next free one

  // A row of log1 alone, with the next id, as a change leaves it, or somebody by hand.
  void Log(Shard shard, LoggedChange change);
  // Both rows of an edge that has none, without a row of log1.
  void Import(const EdgeKey& key);

  bool Live(const EdgeKey& edge) const {
    const auto row = forward_.find(edge);
    return row != forward_.end() && row->second.live;
  }
  const Edges& forward() const { return forward_; }
  const Edges& reverse() const { return reverse_; }
  const std::map<UserId, int64_t>& fans() const { return fans_; }
  const Mutes& mutes(UserId reader) const;
  void PutMutes(UserId reader, Mutes row) { mutes_[reader] = std::move(row); }  // by hand
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
    // Of an edge's change: what was there before, and the how manieth commit it is.
    EdgeState before = {};
    Origins origins = {};
    uint64_t commit = 0;
  };
  struct Table {
    uint64_t ids = 0;
    std::map<uint64_t, Row> rows;
    std::optional<uint64_t> scanned;  // the log scan's place, once it has begun
  };
  struct Applied {  // a reverse row that was written
    Edge edge;
    EdgeState before;
  };

  Delivery DeliveryAfter(const EdgeChange& change, const EdgeState& before, bool live) const;
  uint64_t Followed(UserId src) const;
  Row& Add(Shard shard, LoggedChange change);
  void LogEdge(const Edge& edge, const EdgeState& before, const Origins& origins);

  const ShardMap shards_;
  Edges forward_, reverse_;
  std::map<EdgeKey, Origins> origins_;
  std::map<EdgeKey, Friendship> pairs_;  // smaller id first
  std::map<UserId, int64_t> fans_;
  std::map<UserId, Mutes> mutes_;
  std::vector<Table> log_;  // by shard
  uint64_t commits_ = 0;
  std::vector<Applied> applied_;
};

}  // namespace fanline::fakes
