#include "backends/mysql/repairs/repair_store.h"

#include "backends/mysql/edges/reverse_edges.h"
#include "backends/mysql/installation/settings.h"
#include "backends/mysql/repairs/edge_repair.h"
#include "backends/mysql/repairs/removals.h"
#include "backends/mysql/repairs/repair_log.h"

namespace fanline::mysql {
namespace {

class OwnEdges final : public RepairWorker {
 public:
  OwnEdges(const Config& config, const ShardMap& map)
      : RepairWorker(config, map, "follower"),
        repair_(connections_, map_),
        reverse_(connections_, map_) {}

  EdgesRead Do(const ReadEdges& request) override {
    std::vector<EdgeRows> found;
    repair_.ReadReverseThenForward(request.edges, &found);
    EdgesRead reply;
    for (EdgeRows& rows : found) {
      reply.rows.push_back({std::move(rows.status), rows.reverse.state(), rows.forward.state()});
    }
    return reply;
  }

  EdgesApplied Do(const ApplyEdges& request) override {
    EdgesApplied reply;
    ReverseResult result;
    reply.status = reverse_.Apply(request.shard, request.edges, &result);
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
  ReverseEdges reverse_;
};

class ApplicationsEdges final : public RepairWorker {
 public:
  ApplicationsEdges(const Config& config, const ShardMap& map, const AppTables& tables)
      : RepairWorker(config, map, "app." + tables.reverse.table), edges_(tables) {}

  EdgesRead Do(const ReadEdges& request) override {
    EdgesRead reply;
    edges_.Read(request.edges, &reply.rows);
    return reply;
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
                                   const std::optional<AppTables>& app) {
  for (size_t i = 0; i < threads; ++i) {
    std::unique_ptr<RepairWorker> worker;
    if (app) {
      worker = std::make_unique<ApplicationsEdges>(config, map, *app);
    } else {
      worker = std::make_unique<OwnEdges>(config, map);
    }
    threads_.emplace_back([this, worker = std::move(worker)] { Work(*worker); });
  }
}

MysqlRepairStore::~MysqlRepairStore() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (auto& thread : threads_) thread.join();
}

void MysqlRepairStore::Add(Task task) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(task));
  changed_.notify_one();
}

void MysqlRepairStore::Work(RepairWorker& worker) {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task(worker);
  }
}

}  // namespace fanline::mysql
