#include "backends/mysql/repairs/repair_store.h"

#include "backends/mysql/edges/reverse_edges.h"
#include "backends/mysql/installation/settings.h"
#include "backends/mysql/repairs/edge_repair.h"
#include "backends/mysql/repairs/removals.h"
#include "backends/mysql/repairs/repair_log.h"
#include "fanline/base/check.h"

namespace fanline::mysql {
namespace {

class OwnEdges final : public RepairWorker {
 public:
  OwnEdges(const Config& config, const ShardMap& map)
      : RepairWorker(config, map, "follower"), repair_(connections_, map_) {}

  void ReadReverse(const ReadEdges& request, EdgesRead& reply) override {
    repair_.ReadReverse(request.edges, &reply.rows);
  }

  void ReadForward(const ReadEdges& request, EdgesRead& reply) override {
    repair_.ReadForward(request.edges, &reply.rows);
  }

  EdgesApplied Do(const ApplyEdges& request) override {
    EdgesApplied reply;
    ReverseResult result;
    for (const Edge& edge : request.edges) {
      FANLINE_CHECK(map_.ShardOf(edge.dst) == request.shard, "edges of the shard that is asked");
    }
    reply.status = connections_.Run(request.shard, [&](Connection& connection) {
      result = ApplyReverse(connection, request.edges);
    });
    for (const ReverseApplied& each : result.applied) {
      reply.applied.push_back({each.ver, each.written});
    }
    reply.below_zero = result.below_zero.size();
    return reply;
  }

  EdgeAdopted Do(const AdoptEdge& request) override {
    ForwardChanged forward;
    Status status = repair_.Adopt(request.edge, &forward);
    return {.status = std::move(status), .adopted = forward.changed, .edge = forward.edge};
  }

 private:
  EdgeRepair repair_;
};

class ApplicationsEdges final : public RepairWorker {
 public:
  ApplicationsEdges(const Config& config, const ShardMap& map, const AppTables& tables)
      : RepairWorker(config, map, "app." + tables.reverse.table), edges_(tables) {}

  void ReadReverse(const ReadEdges& request, EdgesRead& reply) override {
    edges_.ReadReverse(request.edges, &reply.rows);
  }

  void ReadForward(const ReadEdges& request, EdgesRead& reply) override {
    edges_.ReadForward(request.edges, &reply.rows);
  }

  EdgesApplied Do(const ApplyEdges& request) override {
    EdgesApplied reply;
    for (const Edge& edge : request.edges) {
      bool written = false;
      Edge now;
      reply.status = edges_.WriteReverse(edge, &written, &now);
      if (!reply.status.done()) return reply;
      reply.applied.push_back({now.ver, written});
    }
    return reply;
  }

  EdgeAdopted Do(const AdoptEdge& request) override {
    EdgeAdopted reply;
    reply.status = edges_.WriteForward(request.edge, &reply.adopted, &reply.edge);
    return reply;
  }

 private:
  AppEdges edges_;
};

std::unique_ptr<RepairWorker> MakeWorker(const Config& config, const ShardMap& map,
                                         const std::optional<AppTables>& app) {
  if (app) return std::make_unique<ApplicationsEdges>(config, map, *app);
  return std::make_unique<OwnEdges>(config, map);
}

ShardMap MapOf(const EdgeTable& table) {
  return ShardMap::Even(static_cast<uint32_t>(table.config.shards.size()));
}

}  // namespace

RepairLogged RepairWorker::Do(const LogRepair& request) {
  const std::string sql = RepairSql({request.net, request.cause, request.edge.src, request.edge.dst,
                                     request.before, request.after, request.ver});
  return {.status = connections_.Run(map_.ShardOf(request.edge.src),
                                     [&](Connection& connection) { connection.Execute(sql); })};
}

RemovalsTaken RepairWorker::Do(const TakeRemovals& request) {
  RemovalsTaken reply;
  reply.status = connections_.Run(request.shard % map_.shards(), [&](Connection& connection) {
    reply.granted = TakeFromAllowance(connection, reverse_rows_, request);
  });
  return reply;
}

ReconcilerModeRead RepairWorker::Do(const ReadReconcilerMode&) {
  ReconcilerModeRead reply;
  reply.status = connections_.Run(kSettingsShard, [&](Connection& connection) {
    reply.mode = GetReconcilerMode(connection);
    reply.closings = GetBreakerClosings(connection);
  });
  return reply;
}

RepairsPurged RepairWorker::Do(const PurgeRepairs& request) {
  RepairsPurged reply{.shard = request.shard, .status = {}};
  reply.status = connections_.Run(request.shard, [&](Connection& connection) {
    reply.deleted = PurgeRepairLog(connection, request.keep, request.most);
  });
  return reply;
}

MysqlRepairStore::MysqlRepairStore(const Config& config, const ShardMap& map, size_t threads,
                                   const std::optional<AppTables>& app)
    : map_(map),
      reverse_(app ? MapOf(app->reverse) : map),
      forward_(app ? MapOf(app->forward) : map),
      reverse_lane_(app ? map.shards() : 0),
      forward_lane_(app ? map.shards() + reverse_.shards() : 0) {
  const size_t setting = app ? forward_lane_ + forward_.shards() : map.shards();
  for (size_t i = 0; i <= setting; ++i) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>());
    for (size_t thread = 0; thread < (i == setting ? 1 : threads); ++thread) {
      threads_.emplace_back(
          [&lane, worker = MakeWorker(config, map, app)] { Work(lane, *worker); });
    }
  }
}

MysqlRepairStore::~MysqlRepairStore() {
  for (const auto& lane : lanes_) {
    const std::lock_guard lock(lane->mutex);
    lane->stopping = true;
    lane->changed.notify_all();
  }
  for (auto& thread : threads_) thread.join();
}

void MysqlRepairStore::Serve(ReadEdges request, ReplyTo<EdgesRead> to) {
  const EdgeKey first = request.edges.front();
  const size_t forward = OfForward(first.src);
  Add(OfReverse(reverse_.ShardOf(first.dst)),
      [this, request = std::move(request), to, forward](RepairWorker& worker) {
        EdgesRead reply{request.id, {}};
        worker.ReadReverse(request, reply);
        if (!reply.rows.front().status.done()) return to(std::move(reply));
        Add(forward, [request, to, reply](RepairWorker& next) {
          EdgesRead whole = reply;
          next.ReadForward(request, whole);
          to(std::move(whole));
        });
      });
}

void MysqlRepairStore::Add(size_t number, Task task) {
  Lane& lane = *lanes_[number];
  const std::lock_guard lock(lane.mutex);
  lane.waiting.push_back(std::move(task));
  lane.changed.notify_one();
}

void MysqlRepairStore::Work(Lane& lane, RepairWorker& worker) {
  while (true) {
    std::unique_lock lock(lane.mutex);
    lane.changed.wait(lock, [&lane] { return lane.stopping || !lane.waiting.empty(); });
    if (lane.stopping) return;
    const Task task = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    lock.unlock();
    task(worker);
  }
}

}  // namespace fanline::mysql
