// Serves a reconciler's requests about the two tables of edges, repair_log, removal_allowance and
// its setting (fanline/ports/repair_store.h). A few threads share the requests; each has a
// connection per shard. A shard that is away blocks a thread for a connect timeout now and then. In
// between, its requests are answered kLater at once (shard_connections.h).
//
// Replies come from those threads. The destructor waits for requests being served. Requests still
// waiting are not answered.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/mysql/repairs/app_edges.h"
#include "backends/mysql/sql/config.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/port.h"
#include "fanline/ports/reconciler_mode.h"
#include "fanline/ports/removal_allowance.h"
#include "fanline/ports/repair_store.h"
#include "fanline/ports/reverse_edges.h"

namespace fanline::mysql {

// Carries out the requests. A subclass does those about edges, in the tables it knows. This class
// does the others, on Fanline's own shards. One thread at a time.
class RepairWorker {
 public:
  virtual ~RepairWorker() = default;

  virtual EdgesRead Do(const ReadEdges& request) = 0;
  virtual EdgesApplied Do(const ApplyEdges& request) = 0;
  virtual EdgeAdopted Do(const AdoptEdge& request) = 0;
  RepairLogged Do(const LogRepair& request);
  RemovalsTaken Do(const TakeRemovals& request);
  ReconcilerModeRead Do(const ReadReconcilerMode& request);
  RepairsPurged Do(const PurgeRepairs& request);

 protected:
  // `reverse_rows`: their name in removal_allowance.
  RepairWorker(const Config& config, const ShardMap& map, std::string reverse_rows)
      : connections_(config), map_(map), reverse_rows_(std::move(reverse_rows)) {}

  ShardConnections connections_;
  const ShardMap map_;

 private:
  const std::string reverse_rows_;
};

class MysqlRepairStore final
    : public ServesAll<MysqlRepairStore, ReadEdges, ApplyEdges, AdoptEdge, LogRepair, TakeRemovals,
                       ReadReconcilerMode, PurgeRepairs> {
 public:
  // `app`: edges are read and written there instead of in Fanline's own tables. repair_log, the
  // setting and removal_allowance stay in Fanline's; the application's reverse shard N belongs to
  // our shard N mod the number of ours.
  MysqlRepairStore(const Config& config, const ShardMap& map, size_t threads = 4,
                   const std::optional<AppTables>& app = std::nullopt);
  ~MysqlRepairStore() override;

  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    Add([request = std::move(request), to](RepairWorker& worker) {
      typename R::Reply reply = worker.Do(request);
      reply.id = request.id;
      to(std::move(reply));
    });
  }

 private:
  using Task = std::function<void(RepairWorker&)>;

  void Add(Task task);
  void Work(RepairWorker& worker);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;  // guarded by mutex_, like stopping_
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fanline::mysql
