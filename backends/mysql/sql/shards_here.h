// Serves a port over the shards on the caller's thread, with connections of its own: for programs
// that wait for each reply anyway. A Service is as in shard_port.h; its Do may be called twice for
// one request. The reply comes within Submit. One thread at a time.
#pragma once

#include <utility>

#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/shard_port.h"

namespace fanline::mysql {

template <class Service, class... R>
class ShardsHere final : public ServesAll<ShardsHere<Service, R...>, R...> {
 public:
  ShardsHere(const Config& config, Service service = {})
      : connections_(config), service_(std::move(service)) {}

  template <class Each>
  void Serve(const Each& request, ReplyTo<typename Each::Reply> to) {
    typename Each::Reply reply;
    const Status status = connections_.Run(
        request.shard, [&](Connection& connection) { reply = service_.Do(connection, request); });
    if (!status.done()) reply = FailureOf(request, status);
    reply.id = request.id;
    to(std::move(reply));
  }

 private:
  ShardConnections connections_;
  const Service service_;
};

}  // namespace fanline::mysql
