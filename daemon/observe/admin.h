// An HTTP server for operators and their tools:
//   /metrics   Prometheus text of the registry and of the process
//   /healthz   200 alive, 503 the loop stands still        (restart it)
//   /readyz    200 ready, 503 with the reasons as JSON     (send it no work); names what is away
#pragma once

#include <prometheus/registry.h>

#include <cstdint>
#include <memory>

#include "daemon/observe/health.h"
#include "daemon/observe/log.h"
#include "fanline/base/endpoint.h"
#include "fanline/base/mono_now.h"

namespace fanline::daemon {

struct AdminOptions {
  Endpoint listen{"127.0.0.1", 0};  // port 0: a free one, see port()
};

// --admin-listen
void AddOptions(OptionTable& table, AdminOptions& options);

// Serves from construction to destruction, on a thread of its own that waits for nothing else of
// the process. Each connection carries one request; a slow client holds up nobody.
class Admin {
 public:
  // Binds and serves before it returns, and logs where. Throws std::runtime_error if it cannot, for
  // instance because another process listens there. `registry` and `health` must outlive it.
  Admin(const AdminOptions& options, const prometheus::Registry& registry, const Health& health,
        const Log& log, std::function<Now()> clock = SystemNow);
  // Waits for the requests in progress, for a second or two at most.
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  [[nodiscard]] uint16_t port() const;

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace fanline::daemon
