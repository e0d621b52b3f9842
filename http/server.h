// HTTP/1.1 (and 1.0) in front of a service; the only file that knows the network library.
//
// One thread at a time waits for all connections. It lets another one wait before it serves a
// request, so no client holds a thread. A connection carries one request after the other. Requests
// sent ahead wait in its buffer, then in the kernel, and are answered in order. An idle connection
// has no buffer. Everything a client can make long is bounded (limits.h). Every refusal is answered
// before the connection is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "http/limits.h"
#include "http/service.h"

namespace fanline::http {

class Server {
 public:
  // Binds and serves before it returns. Throws std::runtime_error if it cannot, for instance
  // because another process listens there. Port 0: a free one. `service` outlives it.
  Server(const std::string& host, uint16_t port, const Limits& limits, Service& service);
  // Stops and waits until all are gone, bounded by the service's answers and the limits.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;

  // Takes no new connection and closes the idle ones. Requests that have begun to arrive are
  // answered, within stop_time, and their connections closed. Returns at once; stopped() says when
  // all are gone. Any thread.
  void Stop();
  bool stopped() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::http
