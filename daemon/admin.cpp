#include "daemon/admin.h"

#include <httplib.h>
#include <prometheus/text_serializer.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "daemon/options.h"
#include "daemon/process_metrics.h"

namespace fanline::daemon {
namespace {

constexpr size_t kThreads = 8;      // connections served at once
constexpr time_t kPatienceSec = 1;  // for a client that sends or reads nothing
// Connections that wait to be accepted; one too many waits a second for its second SYN.
constexpr int kBacklog = 128;

void Answer(const Health::Report& report, httplib::Response& response) {
  response.status = report.ok ? 200 : 503;
  response.set_content(report.json + "\n", "application/json");
}

}  // namespace

class Admin::Server {
 public:
  Server(const AdminOptions& options, const prometheus::Registry& registry, const Health& health,
         std::function<Now()> clock)
      : registry_(registry), health_(health), clock_(std::move(clock)) {
    Configure();
    Route();
    Bind(options.listen);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    // stop() has no effect before the server runs; wait, so that the destructor can rely on it.
    while (!http_.is_running()) std::this_thread::yield();
  }

  ~Server() {
    http_.stop();
    thread_.join();
  }

  uint16_t port() const { return port_; }

 private:
  void Configure() {
    http_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    http_.set_socket_options([this](int socket) { SetSocketOptions(socket); });
    http_.set_tcp_nodelay(true);
    http_.set_keep_alive_max_count(1);  // answers say Connection: close
    http_.set_keep_alive_timeout(kPatienceSec);
    http_.set_read_timeout(kPatienceSec);
    http_.set_write_timeout(kPatienceSec);
    http_.set_payload_max_length(0);
  }

  // SO_REUSEADDR for a quick restart. Not the library's default SO_REUSEPORT, with which two
  // daemons share one port and each answers half of the probes.
  void SetSocketOptions(int socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    listener_ = socket;  // the last one tried is the one that is bound
  }

  void Route() {
    http_.Get("/healthz", [this](const httplib::Request&, httplib::Response& response) {
      Answer(health_.Alive(clock_().mono), response);
    });
    http_.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      Answer(health_.Ready(), response);
    });
    http_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(Metrics(), "text/plain; version=0.0.4; charset=utf-8");
    });
  }

  std::string Metrics() const {
    auto families = registry_.Collect();
    auto process = process_.Collect();
    families.insert(families.end(), std::make_move_iterator(process.begin()),
                    std::make_move_iterator(process.end()));
    return prometheus::TextSerializer().Serialize(families);
  }

  void Bind(const Endpoint& listen) {
    errno = 0;
    const int port = listen.port == 0 ? http_.bind_to_any_port(listen.host)
                     : http_.bind_to_port(listen.host, listen.port) ? listen.port
                                                                    : -1;
    if (port > 0) {
      port_ = static_cast<uint16_t>(port);
      ::listen(listener_, kBacklog);  // again: the library's backlog is 5
      return;
    }
    const std::string why = errno == 0 ? "no such address" : std::generic_category().message(errno);
    throw std::runtime_error("admin server cannot listen on " + ToString(listen) + ": " + why);
  }

  const prometheus::Registry& registry_;
  const Health& health_;
  const std::function<Now()> clock_;
  const ProcessMetrics process_;
  httplib::Server http_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::thread thread_;
};

void AddOptions(OptionTable& table, AdminOptions& options) {
  table.Add("admin-listen", &options.listen,
            "where /metrics, /healthz and /readyz are served; port 0 takes a free one and logs it");
}

Admin::Admin(const AdminOptions& options, const prometheus::Registry& registry,
             const Health& health, const Log& log, std::function<Now()> clock)
    : server_(std::make_unique<Server>(options, registry, health, std::move(clock))) {
  log.Info("admin server listens", {{"host", options.listen.host}, {"port", server_->port()}});
}

Admin::~Admin() = default;

uint16_t Admin::port() const { return server_->port(); }

}  // namespace fanline::daemon
