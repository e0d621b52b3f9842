#include "backends/mysql/shard_probe.h"

#include <utility>
#include <vector>

#include "backends/mysql/shard_pool.h"

namespace fanline::mysql {
namespace {

std::vector<ShardPinged> Ping(Connection& connection, const std::vector<PingShard>& batch) {
  connection.Query("SELECT 1", [](const Row&) {});
  return {{batch.front().id, batch.front().shard, Status::Done()}};
}

ShardPinged Failed(const PingShard& request, Status status) {
  return {request.id, request.shard, std::move(status)};
}

}  // namespace

class MysqlShardProbe::Impl {
 public:
  Impl(const Config& config, std::function<void(ShardPinged)> reply, LogSink log, HealthSink health)
      : pool_(config, "probe", {.threads_per_shard = 1, .batch = 1, .queue = 16},
              {.serve = Ping,
               .fail = Failed,
               .reply = std::move(reply),
               .health = std::move(health),
               .log = std::move(log)}) {}

  void Submit(const PingShard& request) { pool_.Submit(request.shard, request); }

 private:
  ShardPool<PingShard, ShardPinged> pool_;
};

MysqlShardProbe::MysqlShardProbe(const Config& config, std::function<void(ShardPinged)> reply,
                                 LogSink log, HealthSink health)
    : impl_(std::make_unique<Impl>(config, std::move(reply), std::move(log), std::move(health))) {}

MysqlShardProbe::~MysqlShardProbe() = default;

void MysqlShardProbe::Submit(PingShard request) { impl_->Submit(request); }

}  // namespace fanline::mysql
