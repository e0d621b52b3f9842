// Serves a port over the shards. A Service only knows how to carry out one request:
//
//   struct ProbeService {
//     static constexpr const char* kName = "probe";      // in log lines
//     static constexpr PoolLimits kLimits{.queue = 16};  // the default limits
//     ShardPinged Do(Connection& connection, const PingShard& request);
//   };
//   using MysqlShardProbe = ShardPort<ProbeService, PingShard>;
//
// Do may throw MysqlError. Several threads call it at the same time, each with its own connection.
// A service may also have these:
// - std::vector<Reply> DoAll(Connection&, const std::vector<R>&) instead of Do, for a kind of
//   requests that are merged when queued together. It returns the replies in the order of the
//   requests.
// - Shard ShardOf(const R&) const, for a kind whose requests do not name their shard.
// - static Config Tuned(Config), for other timeouts.
// - static constexpr bool kReadsTruth = true, if its replies are acted on as the truth. A server
//   that was demoted during the request then answers none of them. It is asked once for all merged
//   requests that were queued together, of every kind, before they are answered.
// - static constexpr bool kReopens = true, if a request over a connection that turns out to be dead
//   is served once more on a new one, as callers who do not try again by themselves like it.
//
// Requests queued together are served kind by kind, in the order of the kinds. The port sets the
// ids of replies. A failed request is answered with its Status. If one of several merged requests
// holds an unusable value, they are served one by one, so that it fails alone. shard_pool.h says
// the rest.
#pragma once

#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "backends/mysql/sql/shard_pool.h"
#include "fanline/ports/port.h"

namespace fanline::mysql {

template <class Service, class... R>
class ShardPort final : public ServesAll<ShardPort<Service, R...>, R...> {
 public:
  // `health` may be empty. The port's threads call it and `log`. They must not call Submit, and
  // what they refer to outlives the port.
  ShardPort(const Config& config, HealthSink health, LogSink log, Service service = {},
            const PoolLimits& limits = Service::kLimits)
      : service_(std::move(service)),
        pool_(TunedFor(config), limits, *this, std::move(health), std::move(log)) {}

  // As those of ShardPool.
  bool away(Shard shard) const { return pool_.away(shard); }
  void DropLate() { pool_.DropLate(); }
  void Stop() { pool_.Stop(); }
  size_t waiting(size_t first = 0, size_t last = SIZE_MAX) const {
    return pool_.waiting(first, last);
  }

  template <class Each>
  void Serve(Each request, ReplyTo<typename Each::Reply> to, Turn turn = {}) {
    const Shard shard = ShardOf(request);
    pool_.Submit(shard, Submitted<Each>{std::move(request), to}, std::move(turn));
  }

 private:
  using Job = std::variant<Submitted<R>...>;
  using Pool = ShardPool<Job, ShardPort>;
  friend Pool;

  static constexpr const char* kName = Service::kName;
  static constexpr bool kReopens = requires { Service::kReopens; };

  // Merged requests of one kind, and what was read for them.
  template <class Each>
  struct Merged {
    std::vector<Each> requests;
    std::vector<ReplyTo<typename Each::Reply>> to;
    std::vector<typename Each::Reply> replies;

    void Fail(const Status& status) {
      replies.clear();
      for (const Each& request : requests) replies.push_back(FailureOf(request, status));
    }
    void Answer() {
      for (size_t i = 0; i < replies.size(); ++i) {
        replies[i].id = requests[i].id;
        to[i](std::move(replies[i]));
      }
      replies.clear();
    }
  };

  void ServeBatch(Connection& connection, std::vector<Job>& batch) {
    std::tuple<Merged<R>...> kinds;
    (ServeKind(connection, batch, std::get<Merged<R>>(kinds)), ...);
    std::apply([&](auto&... kind) { ProveAndAnswer(connection, kind...); }, kinds);
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
  void ServeKind(Connection& connection, std::vector<Job>& batch, Merged<Each>& kind) {
    for (Job& job : batch) {
      auto* asked = std::get_if<Submitted<Each>>(&job);
      if (asked == nullptr) continue;
      kind.requests.push_back(std::move(asked->request));
      kind.to.push_back(asked->to);
    }
    if constexpr (kMerged<Each>) {
      if (kind.requests.empty() || ReadMerged(connection, kind)) return;
    }
    for (size_t i = 0; i < kind.requests.size(); ++i) {
      ServeOne(connection, kind.requests[i], kind.to[i]);
    }
  }

  static constexpr bool kProves = requires { Service::kReadsTruth; };

  static void ProveRead(Connection& connection) {
    if constexpr (kProves) connection.RequirePrimary();
  }

  // Reads for all of them. They are answered here, unless they have to be proved. Returns false if
  // one of the requests holds an unusable value.
  template <class Each>
  bool ReadMerged(Connection& connection, Merged<Each>& kind) {
    try {
      Pool::OnALiveOne(connection,
                       [&] { kind.replies = service_.DoAll(connection, kind.requests); });
      if constexpr (kProves) return true;
    } catch (const MysqlError& error) {
      if (error.kind() == ErrorKind::kData && kind.requests.size() > 1) return false;
      kind.Fail(pool_.Failed(connection, error));
    }
    kind.Answer();
    return true;
  }

  template <class... Each>
  void ProveAndAnswer(Connection& connection, Merged<Each>&... kinds) {
    if ((kinds.replies.empty() && ...)) return;
    try {
      ProveRead(connection);
    } catch (const MysqlError& error) {
      const Status status = pool_.Failed(connection, error);
      ((kinds.replies.empty() ? void() : kinds.Fail(status)), ...);
    }
    (kinds.Answer(), ...);
  }

  template <class Each>
  void ServeOne(Connection& connection, const Each& request, ReplyTo<typename Each::Reply> to) {
    if constexpr (kMerged<Each>) {
      Merged<Each> alone{{request}, {to}, {}};
      ReadMerged(connection, alone);
      ProveAndAnswer(connection, alone);
    } else {
      typename Each::Reply reply;
      try {
        Pool::OnALiveOne(connection, [&] {
          reply = service_.Do(connection, request);
          ProveRead(connection);
        });
        reply.id = request.id;
      } catch (const MysqlError& error) {
        reply = FailureOf(request, pool_.Failed(connection, error));
      }
      to(std::move(reply));
    }
  }

  Service service_;
  Pool pool_;  // last: its threads use the members above
};

}  // namespace fanline::mysql
