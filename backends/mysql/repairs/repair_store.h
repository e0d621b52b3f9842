// Serves a reconciler's requests about the two tables of edges, repair_log and removal_allowance
// (fanline/ports/repair_store.h). Each shard has threads of its own (shard_port.h): a shard that
// hangs, or on which somebody has locked a row, holds up what needs it and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/mysql/repairs/app_edges.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/port.h"
#include "fanline/ports/removal_allowance.h"
#include "fanline/ports/repair_store.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::mysql {

// One half of ReadEdges: the rows of one table on one shard.
struct ReadRows {
  using Reply = struct RowsRead;
  uint64_t id = 0;
  bool reverse = false;  // else the forward rows
  std::vector<EdgeKey> edges;
};
struct RowsRead {
  uint64_t id = 0;
  Status status;
  std::vector<EdgeState> rows;  // one per edge, in the request's order
  UnixMs horizon = 0;           // of our own forward rows
};

// On Fanline's own shards, or on those of a table of an application.
struct RepairService {
  static constexpr const char* kName = "repairs";
  static constexpr PoolLimits kLimits{.threads_per_shard = 2};
  static constexpr bool kReopens = true;

  RowsRead Do(Connection& connection, const ReadRows& request) const;
  EdgesApplied Do(Connection& connection, const ApplyEdges& request) const;
  EdgeAdopted Do(Connection& connection, const AdoptEdge& request) const;
  RepairLogged Do(Connection& connection, const LogRepair& request) const;
  RemovalsTaken Do(Connection& connection, const TakeRemovals& request) const;

  Shard ShardOf(const ReadRows& request) const {
    const EdgeKey& first = request.edges.front();
    return map.ShardOf(request.reverse ? first.dst : first.src);
  }
  Shard ShardOf(const AdoptEdge& request) const { return map.ShardOf(request.edge.src); }
  Shard ShardOf(const LogRepair& request) const { return map.ShardOf(request.edge.src); }
  Shard ShardOf(const TakeRemovals& request) const { return request.shard % map.shards(); }

  ShardMap map;
  std::optional<EdgeTable> table = {};    // none: our own two
  std::string reverse_rows = "follower";  // their name in removal_allowance
};

struct AppHealth {
  HealthSink forward, reverse;
};

class MysqlRepairStore final : public ServesAll<MysqlRepairStore, ReadEdges, ApplyEdges, AdoptEdge,
                                                LogRepair, TakeRemovals> {
 public:
  // `app`: edges are read and written there instead of in Fanline's own tables. repair_log and
  // removal_allowance stay in Fanline's; the application's reverse shard N belongs to our shard N
  // mod the number of ours. Its shards are probed, so that one that is away shows even while
  // nothing is checked. `threads`: of each shard.
  MysqlRepairStore(const Config& config, const ShardMap& map, const LogSink& log,
                   size_t threads = RepairService::kLimits.threads_per_shard,
                   const std::optional<AppTables>& app = std::nullopt,
                   const AppHealth& app_health = {});

  void Serve(ReadEdges request, ReplyTo<EdgesRead> to) { ReadNext({std::move(request), to, {}}); }
  void Serve(ApplyEdges request, ReplyTo<EdgesApplied> to) {
    reverse().Submit(std::move(request), to);
  }
  void Serve(const AdoptEdge& request, ReplyTo<EdgeAdopted> to) { forward().Submit(request, to); }
  void Serve(LogRepair request, ReplyTo<RepairLogged> to) { own_.Submit(std::move(request), to); }
  void Serve(const TakeRemovals& request, ReplyTo<RemovalsTaken> to) { own_.Submit(request, to); }

  void Push(RowsRead read);  // for the ports

 private:
  using Rows = ShardPort<RepairService, ReadRows, ApplyEdges, AdoptEdge, LogRepair, TakeRemovals>;

  struct Reading {
    ReadEdges request;
    ReplyTo<EdgesRead> to;
    std::vector<EdgeState> reverse;  // empty: they are read first
  };

  Rows& reverse() { return app_reverse_ ? *app_reverse_ : own_; }
  Rows& forward() { return app_forward_ ? *app_forward_ : own_; }
  void ReadNext(Reading reading);

  std::mutex mutex_;
  uint64_t last_id_ = 0;                  // guarded by mutex_, like readings_
  std::map<uint64_t, Reading> readings_;  // by the id of the half under way
  Rows own_;
  std::unique_ptr<Rows> app_forward_;
  std::unique_ptr<Rows> app_reverse_;  // last: its threads submit to the one above
};

}  // namespace fanline::mysql
