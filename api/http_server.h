// HTTP/1.1 in front of a handler; the only file that knows the HTTP library.
//
// Bounded in every direction: one thread per connection and a fixed number of them (who comes when
// all are taken waits in the kernel's queue of connections, and is refused there when that is full
// too), bytes of a body as they arrive, the request line, how long a client may say nothing, and
// how many requests a connection carries before it is opened anew. The library bounds each header,
// not their number: that is the gateway's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/handler.h"
#include "api/limits.h"

namespace fanline::api {

class HttpServer {
 public:
  // Binds and serves before it returns. Throws std::runtime_error if it cannot, also when another
  // process listens there. `handler` outlives it.
  HttpServer(const std::string& host, uint16_t port, const Limits& limits, Handler& handler);
  // As Stop, and waits for it.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;

  // Takes no new connection; requests under way are finished and their connections closed. Returns
  // at once; stopped() says when all are gone.
  void Stop();
  bool stopped() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::api
