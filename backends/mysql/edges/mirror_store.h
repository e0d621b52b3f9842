// A mirror's requests to the shards. Each kind of work has its own threads, so that a slow one does
// not hold up another (shard_port.h). Reverse edges queued for a shard are written in one
// transaction. Rows of log1 are marked done in one statement.
#pragma once

#include <vector>

#include "backends/mysql/installation/settings.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/log_scan.h"
#include "fanline/ports/operator_modes.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::mysql {

struct ReverseService {
  static constexpr const char* kName = "reverse edges";
  static constexpr PoolLimits kLimits{.threads_per_shard = 2, .batch = 8};

  std::vector<EdgesApplied> DoAll(Connection& connection, const std::vector<ApplyEdges>& requests);
};
using MysqlReverseStore = ShardPort<ReverseService, ApplyEdges>;

struct ForwardService {
  static constexpr const char* kName = "forward edges";
  static constexpr PoolLimits kLimits{.threads_per_shard = 4};

  EdgeChanged Do(Connection& connection, const ChangeEdge& request) const;
  Shard ShardOf(const ChangeEdge& request) const { return map.ShardOf(request.change.src); }

  ShardMap map;
  uint32_t most_followed = kMostFollowed;
};
using MysqlForwardStore = ShardPort<ForwardService, ChangeEdge>;

// The log and the modes share threads, because their requests are small.
struct ChangeLogService {
  static constexpr const char* kName = "log1";
  static constexpr PoolLimits kLimits{.threads_per_shard = 2, .batch = 8};

  std::vector<MarkedDone> DoAll(Connection& connection, const std::vector<MarkDone>& requests);
  PendingRead Do(Connection& connection, const ReadPending& request);
  PendingAsked Do(Connection& connection, const AskPending& request);
  PurgedDone Do(Connection& connection, const PurgeDone& request);
  ReconcilerModeRead Do(Connection& connection, const ReadReconcilerMode& request);
  MirrorModeRead Do(Connection& connection, const ReadMirrorMode& request);
  LoggedRead Do(Connection& connection, const ReadLogged& request);
  LogScanMoved Do(Connection& connection, const MoveLogScan& request);
  FriendVersionsRead Do(Connection& connection, const ReadFriendVersions& request);
  LoggedAgain Do(Connection& connection, const LogAgain& request);
  Shard ShardOf(const ReadReconcilerMode&) const { return kSettingsShard; }
  Shard ShardOf(const ReadMirrorMode&) const { return kSettingsShard; }
};
using MysqlChangeStore =
    ShardPort<ChangeLogService, MarkDone, ReadPending, AskPending, PurgeDone, ReadReconcilerMode,
              ReadMirrorMode, ReadLogged, MoveLogScan, ReadFriendVersions, LogAgain>;

}  // namespace fanline::mysql
