#include "backends/mysql/repair_store.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/mysql/edge_repair.h"
#include "backends/mysql/removals.h"
#include "backends/mysql/repair_log.h"
#include "backends/mysql/reverse_edges.h"
#include "backends/mysql/settings.h"

namespace fanline::mysql {
namespace {

// What one thread works with.
class Worker {
 public:
  Worker(const Config& config, const ShardMap& map, const std::optional<AppTables>& app)
      : connections_(config),
        shards_(map.shards()),
        repair_(connections_, map),
        reverse_(connections_, map) {
    if (!app) return;
    app_.emplace(*app);
    reverse_rows_ = "app." + app->reverse.table;
  }

  RepairReply Serve(const RepairRequest& request) {
    return std::visit([this](const auto& what) -> RepairReply { return Do(what); }, request);
  }
  RepairsPurged Serve(const PurgeRepairs& request) {
    RepairsPurged reply{request.id, request.shard, {}, 0};
    reply.status = connections_.Run(request.shard, [&](Connection& connection) {
      reply.deleted = PurgeRepairLog(connection, request.keep, request.most);
    });
    return reply;
  }

 private:
  EdgesRead Do(const ReadEdges& request) {
    if (app_) {
      EdgesRead reply{request.id, {}};
      app_->Read(request.edges, &reply.rows);
      return reply;
    }
    std::vector<EdgeRows> found;
    repair_.ReadReverseThenForward(request.edges, &found);
    EdgesRead reply{request.id, {}};
    for (EdgeRows& rows : found) {
      reply.rows.push_back({std::move(rows.status), rows.reverse.state(), rows.forward.state()});
    }
    return reply;
  }

  EdgesApplied Do(const ApplyEdges& request) {
    EdgesApplied reply;
    reply.id = request.id;
    if (app_) {
      for (const Edge& edge : request.edges) {
        bool written = false;
        Edge now;
        reply.status = app_->WriteReverse(edge, &written, &now);
        if (!reply.status.done()) return reply;
        reply.applied.push_back({now.ver, written});
      }
      return reply;
    }
    ReverseResult result;
    reply.status = reverse_.Apply(request.shard, request.edges, &result);
    for (const ReverseApplied& each : result.applied) {
      reply.applied.push_back({each.ver, each.written});
    }
    reply.below_zero = result.below_zero.size();
    return reply;
  }

  EdgeAdopted Do(const AdoptEdge& request) {
    EdgeAdopted reply;
    reply.id = request.id;
    if (app_) {
      reply.status = app_->WriteForward(request.edge, &reply.adopted, &reply.edge);
      return reply;
    }
    ForwardChanged forward;
    reply.status = repair_.Adopt(request.edge, &forward);
    reply.adopted = forward.changed;
    reply.edge = forward.edge;
    return reply;
  }

  RepairLogged Do(const LogRepair& request) {
    return {request.id, repair_.Log({request.net, request.cause, request.edge.src, request.edge.dst,
                                     request.before, request.after, request.ver})};
  }

  RemovalsTaken Do(const TakeRemovals& request) {
    RemovalsTaken reply{request.id, {}, 0};
    reply.status = connections_.Run(request.shard % shards_, [&](Connection& connection) {
      reply.granted = TakeFromAllowance(connection, reverse_rows_, request);
    });
    return reply;
  }

  ReconcilerModeRead Do(const ReadReconcilerMode& request) {
    ReconcilerModeRead reply;
    reply.id = request.id;
    reply.status = connections_.Run(kSettingsShard, [&](Connection& connection) {
      reply.mode = GetReconcilerMode(connection);
      reply.closings = GetBreakerClosings(connection);
    });
    return reply;
  }

  ShardConnections connections_;
  const Shard shards_;
  std::string reverse_rows_ = "follower";  // as removal_allowance names them
  EdgeRepair repair_;
  ReverseEdges reverse_;
  std::optional<AppEdges> app_;
};

}  // namespace

class MysqlRepairStore::Impl {
 public:
  Impl(const Config& config, const ShardMap& map, Replies replies, size_t threads,
       std::optional<AppTables> app)
      : map_(map), app_(std::move(app)), replies_(std::move(replies)) {
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this, config] { Work(config); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (auto& thread : threads_) thread.join();
  }

  void Submit(RepairRequest request) {
    Add([this, request = std::move(request)](Worker& worker) {
      replies_.repair(worker.Serve(request));
    });
  }
  void Submit(PurgeRepairs request) {
    Add([this, request](Worker& worker) { replies_.purged(worker.Serve(request)); });
  }

 private:
  using Task = std::function<void(Worker&)>;

  void Add(Task task) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
    changed_.notify_one();
  }

  void Work(const Config& config) {
    Worker worker(config, map_, app_);
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

  const ShardMap map_;
  const std::optional<AppTables> app_;
  const Replies replies_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;  // guarded by mutex_, as is the next
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

MysqlRepairStore::MysqlRepairStore(const Config& config, const ShardMap& map, Replies replies,
                                   size_t threads, std::optional<AppTables> app)
    : impl_(std::make_unique<Impl>(config, map, std::move(replies), threads, std::move(app))) {}

MysqlRepairStore::~MysqlRepairStore() = default;

void MysqlRepairStore::Submit(RepairRequest request) { impl_->Submit(std::move(request)); }
void MysqlRepairStore::Submit(PurgeRepairs request) { impl_->Submit(request); }

}  // namespace fanline::mysql
