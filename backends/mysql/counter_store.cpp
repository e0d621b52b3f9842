#include "backends/mysql/counter_store.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "backends/mysql/counter_repair.h"
#include "backends/mysql/counter_sweep.h"
#include "backends/mysql/recounts.h"
#include "backends/mysql/shard_pool.h"

namespace fanline::mysql {
namespace {

constexpr std::chrono::seconds kStatementTimeout{60};

Config Patient(Config config) {
  config.read_timeout = std::max(config.read_timeout, kStatementTimeout);
  return config;
}

using Request = std::variant<ReadMarked, RepairCounter, SweepCounters>;
using Reply = std::variant<MarkedRead, CounterRepaired, CountersSwept>;

Reply Do(Connection& connection, const ShardMap&, const ReadMarked& request) {
  return MarkedRead{request.id, {}, MarkedForRecount(connection, request.limit)};
}
Reply Do(Connection& connection, const ShardMap&, const RepairCounter& request) {
  const CounterFound found = RepairOne(connection, request.counter);
  return CounterRepaired{request.id, {}, found.drift(), found.repaired};
}

Reply Do(Connection& connection, const ShardMap& map, const SweepCounters& request) {
  const SweptPage swept = SweepPage(connection, map, request.every);
  return CountersSwept{request.id, {}, swept.users, swept.marked, swept.over};
}

Reply FailedTo(const ReadMarked& request, Status status) {
  return MarkedRead{request.id, std::move(status), {}};
}
Reply FailedTo(const RepairCounter& request, Status status) {
  return CounterRepaired{.id = request.id, .status = std::move(status)};
}
Reply FailedTo(const SweepCounters& request, Status status) {
  return CountersSwept{.id = request.id, .status = std::move(status)};
}

}  // namespace

class MysqlCounterStore::Impl {
 public:
  Impl(const Config& config, const ShardMap& map, Replies replies, HealthSink health, LogSink log)
      : replies_(std::move(replies)),
        pool_(Patient(config), "counters", {},
              {.serve =
                   [map](Connection& connection, const std::vector<Request>& batch) {
                     return std::vector<Reply>{std::visit(
                         [&](const auto& request) { return Do(connection, map, request); },
                         batch.front())};
                   },
               .fail =
                   [](const Request& request, Status status) {
                     return std::visit(
                         [&](const auto& each) { return FailedTo(each, std::move(status)); },
                         request);
                   },
               .reply = [this](Reply reply) { Answer(std::move(reply)); },
               .health = std::move(health),
               .log = std::move(log)}) {}

  template <class Each>
  void Submit(Each request) {
    const Shard shard = request.shard;
    pool_.Submit(shard, Request(std::move(request)));
  }

 private:
  void Answer(Reply reply) {
    if (auto* marked = std::get_if<MarkedRead>(&reply)) {
      replies_.marked(std::move(*marked));
    } else if (auto* swept = std::get_if<CountersSwept>(&reply)) {
      replies_.swept(std::move(*swept));
    } else {
      replies_.repaired(std::move(std::get<CounterRepaired>(reply)));
    }
  }

  const Replies replies_;
  ShardPool<Request, Reply> pool_;  // last: its threads use the others
};

MysqlCounterStore::MysqlCounterStore(const Config& config, const ShardMap& map, Replies replies,
                                     HealthSink health, LogSink log)
    : impl_(std::make_unique<Impl>(config, map, std::move(replies), std::move(health),
                                   std::move(log))) {}

MysqlCounterStore::~MysqlCounterStore() = default;

void MysqlCounterStore::Submit(ReadMarked request) { impl_->Submit(std::move(request)); }
void MysqlCounterStore::Submit(RepairCounter request) { impl_->Submit(std::move(request)); }
void MysqlCounterStore::Submit(SweepCounters request) { impl_->Submit(std::move(request)); }

}  // namespace fanline::mysql
