// Serves a reconciler's requests about the two tables of edges, repair_log, removal_allowance and
// its setting (fanline/ports/repair_store.h). Each shard has threads of its own, and so has the
// setting: a shard that hangs, or on which somebody has locked a row, holds up what needs it and
// nothing else. A read of both rows of edges goes from the threads of the one shard to those of the
// other. A shard that is away holds a thread of its own for a connect timeout now and then; in
// between its requests are answered kLater at once (shard_connections.h).
//
// Replies come from those threads. The destructor waits for requests being served; waiting ones are
// not answered.
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

  // The two halves of ReadEdges.
  virtual void ReadReverse(const ReadEdges& request, EdgesRead& reply) = 0;
  virtual void ReadForward(const ReadEdges& request, EdgesRead& reply) = 0;
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
  // our shard N mod the number of ours. `threads`: of each shard.
  MysqlRepairStore(const Config& config, const ShardMap& map, size_t threads = 2,
                   const std::optional<AppTables>& app = std::nullopt);
  ~MysqlRepairStore() override;

  void Serve(ReadEdges request, ReplyTo<EdgesRead> to);
  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    const size_t lane = LaneOf(request);
    Add(lane, [request = std::move(request), to](RepairWorker& worker) {
      typename R::Reply reply = worker.Do(request);
      reply.id = request.id;
      to(std::move(reply));
    });
  }

 private:
  using Task = std::function<void(RepairWorker&)>;

  // The tasks of a shard, or of the setting.
  struct Lane {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> waiting;  // guarded by mutex, like stopping
    bool stopping = false;
  };

  // Fanline's own shards come first, then an application's with reverse rows and those with forward
  // rows, and last the setting. Without an application Fanline's own are all of these.
  size_t OfReverse(Shard shard) const { return reverse_lane_ + shard; }
  size_t OfForward(UserId src) const { return forward_lane_ + forward_.ShardOf(src); }
  size_t LaneOf(const ApplyEdges& request) const { return OfReverse(request.shard); }
  size_t LaneOf(const AdoptEdge& request) const { return OfForward(request.edge.src); }
  size_t LaneOf(const LogRepair& request) const { return map_.ShardOf(request.edge.src); }
  size_t LaneOf(const TakeRemovals& request) const { return request.shard % map_.shards(); }
  size_t LaneOf(const PurgeRepairs& request) const { return request.shard; }
  size_t LaneOf(const ReadReconcilerMode&) const { return lanes_.size() - 1; }

  void Add(size_t lane, Task task);
  static void Work(Lane& lane, RepairWorker& worker);

  const ShardMap map_, reverse_, forward_;
  const size_t reverse_lane_, forward_lane_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace fanline::mysql
