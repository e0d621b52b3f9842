// Ports RepairStore and RepairPurge over the shards: any of a few threads, each with a connection
// per shard, serves the next request. A shard that is away holds a thread for a connect timeout now
// and then, and is answered kLater at once in between (shard_connections.h).
//
// Replies come from those threads, one per request. Destruction waits for what is being served;
// what waits is not answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "backends/mysql/app_edges.h"
#include "backends/mysql/config.h"
#include "fanline/bucket.h"
#include "fanline/repair_store.h"

namespace fanline::mysql {

class MysqlRepairStore final : public RepairStore, public RepairPurge {
 public:
  struct Replies {
    std::function<void(RepairReply)> repair;
    std::function<void(RepairsPurged)> purged;
  };

  // `app`: edges are read and written there instead of in Fanline's own tables; repair_log, the
  // setting and what may be removed (of its reverse shard N on our shard N mod ours) stay in these.
  MysqlRepairStore(const Config& config, const ShardMap& map, Replies replies, size_t threads = 4,
                   std::optional<AppTables> app = std::nullopt);
  ~MysqlRepairStore() override;

  void Submit(RepairRequest request) override;
  void Submit(PurgeRepairs request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::mysql
