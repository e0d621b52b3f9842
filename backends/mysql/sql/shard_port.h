// Serves a port over the shards by a Service that only knows how to carry out one request:
//
//   struct ProbeService {
//     static constexpr const char* kName = "probe";      // in log lines
//     static constexpr PoolLimits kLimits{.queue = 16};  // unless others are given
//     ShardPinged Do(Connection& connection, const PingShard& request);
//   };
//   using MysqlShardProbe = ShardPort<ProbeService, PingShard>;
//
// Do may throw MysqlError. Several threads call it at a time, each with a connection of its own. A
// kind of requests that are merged when queued together has, instead of Do,
//   std::vector<Reply> DoAll(Connection&, const std::vector<R>&): replies in their order.
// A kind whose requests do not name their shard has Shard ShardOf(const R&) const. A service that
// needs other timeouts has static Config Tuned(Config). One whose replies are read, and acted on as
// the truth, has static constexpr bool kReadsTruth = true: a server that was demoted meanwhile
// answers none of them. Requests queued together are served kind by
// kind, in the order of the kinds.
//
// The port fills in the ids of replies. A failed request is answered with its Status. When one of
// merged requests cannot be used, they are served one by one: it spoils none of the others. The
// rest is said in shard_pool.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/mysql/sql/shard_pool.h"
#include "fanline/ports/port.h"

namespace fanline::mysql {

// The reply to a request that failed.
template <class R>
typename R::Reply FailureOf(const R& request, const Status& status) {
  typename R::Reply reply;
  reply.id = request.id;
  if constexpr (requires { reply.shard; }) reply.shard = request.shard;
  reply.status = status;
  return reply;
}

template <class Service, class... R>
class ShardPort final : public ServesAll<ShardPort<Service, R...>, R...> {
 public:
  // `health` may be empty. The port's threads call it and `log`, which must not call Submit; what
  // they refer to outlives the port.
  ShardPort(const Config& config, HealthSink health, LogSink log, Service service = {},
            const PoolLimits& limits = Service::kLimits)
      : service_(std::move(service)),
        pool_(TunedFor(config), limits, *this, std::move(health), std::move(log)) {}

  // Submit, for an asker whose work has a class, a deadline or somebody who may give up.
  template <class Each>
  void Serve(Each request, ReplyTo<typename Each::Reply> to, Turn turn = {}) {
    const Shard shard = ShardOf(request);
    pool_.Submit(shard, Asked<Each>{std::move(request), to}, std::move(turn));
  }

 private:
  template <class Each>
  struct Asked {
    Each request;
    ReplyTo<typename Each::Reply> to;
  };
  using Job = std::variant<Asked<R>...>;
  using Pool = ShardPool<Job, ShardPort>;
  friend Pool;

  static constexpr const char* kName = Service::kName;

  void ServeBatch(Connection& connection, std::vector<Job>& batch) {
    (ServeKind<R>(connection, batch), ...);
  }
  static void FailJob(const Job& job, const Status& status) {
    std::visit([&](const auto& asked) { asked.to(FailureOf(asked.request, status)); }, job);
  }

  template <class Each>
  static constexpr bool kMerged = requires(Service service, Connection& connection,
                                           const std::vector<Each>& requests) {
    service.DoAll(connection, requests);
  };

  static Config TunedFor(const Config& config) {
    if constexpr (requires { Service::Tuned(config); }) return Service::Tuned(config);
    return config;
  }

  template <class Each>
  Shard ShardOf(const Each& request) const {
    if constexpr (requires { service_.ShardOf(request); }) {
      return service_.ShardOf(request);
    } else {
      return request.shard;
    }
  }

  template <class Each>
  void ServeKind(Connection& connection, std::vector<Job>& batch) {
    std::vector<Each> requests;
    std::vector<ReplyTo<typename Each::Reply>> to;
    for (Job& job : batch) {
      auto* asked = std::get_if<Asked<Each>>(&job);
      if (asked == nullptr) continue;
      requests.push_back(std::move(asked->request));
      to.push_back(asked->to);
    }
    if constexpr (kMerged<Each>) {
      if (!requests.empty() && ServeMerged(connection, requests, to)) return;
    }
    for (size_t i = 0; i < requests.size(); ++i) ServeOne(connection, requests[i], to[i]);
  }

  static void ProveRead(Connection& connection) {
    if constexpr (requires { Service::kReadsTruth; }) connection.RequirePrimary();
  }

  // False: one of them cannot be used.
  template <class Each>
  bool ServeMerged(Connection& connection, const std::vector<Each>& requests,
                   const std::vector<ReplyTo<typename Each::Reply>>& to) {
    std::vector<typename Each::Reply> replies;
    try {
      replies = service_.DoAll(connection, requests);
      ProveRead(connection);
    } catch (const MysqlError& error) {
      if (error.kind() == ErrorKind::kData && requests.size() > 1) return false;
      const Status status = pool_.Failed(connection, error);
      replies.clear();  // read, but not proved
      for (const Each& request : requests) replies.push_back(FailureOf(request, status));
    }
    for (size_t i = 0; i < replies.size(); ++i) {
      replies[i].id = requests[i].id;
      to[i](std::move(replies[i]));
    }
    return true;
  }

  template <class Each>
  void ServeOne(Connection& connection, const Each& request, ReplyTo<typename Each::Reply> to) {
    if constexpr (kMerged<Each>) {
      ServeMerged<Each>(connection, {request}, {to});
    } else {
      typename Each::Reply reply;
      try {
        reply = service_.Do(connection, request);
        ProveRead(connection);
        reply.id = request.id;
      } catch (const MysqlError& error) {
        reply = FailureOf(request, pool_.Failed(connection, error));
      }
      to(std::move(reply));
    }
  }

  Service service_;
  Pool pool_;  // last: its threads use the others
};

}  // namespace fanline::mysql
