#include "daemon/observe/admin.h"

#include <prometheus/text_serializer.h>

#include <stdexcept>

#include "daemon/observe/process_metrics.h"
#include "daemon/options/options.h"
#include "http/server.h"

namespace fanline::daemon {
namespace {

http::Limits AdminLimits() {
  using std::chrono::milliseconds;
  return {.body = 0,
          .head_time = milliseconds(5'000),
          .idle_time = milliseconds(5'000),
          .stop_time = milliseconds(1'000),
          .keep_alive = false};
}

http::Response Text(int status, std::string text) {
  return {status, "text/plain", std::move(text) + "\n", {}};
}

http::Response ToResponse(const Health::Report& report) {
  return {report.ok ? 200 : 503, "application/json", report.json + "\n", {}};
}

// The statements of /readyz as metrics, so that an alert can name one and wait until it lasts.
prometheus::MetricFamily FamilyOf(const char* name, const char* help, const char* label,
                                  const std::map<std::string, bool>& values) {
  prometheus::MetricFamily family{name, help, prometheus::MetricType::Gauge, {}};
  for (const auto& [text, holds] : values) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{label, text}};
    metric.gauge.value = holds ? 1 : 0;
  }
  return family;
}

}  // namespace

class Admin::Server : public http::Service {
 public:
  Server(const AdminOptions& options, const prometheus::Registry& registry, const Health& health,
         std::function<Now()> clock)
      : registry_(registry), health_(health), clock_(std::move(clock)) {
    const Endpoint& listen = options.listen;
    try {
      server_.emplace(listen.host, listen.port, AdminLimits(), *this);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string("admin server ") + error.what() +
                               "; each daemon needs an --admin-listen of its own");
    }
  }

  uint16_t port() const { return server_->port(); }

  void Serve(http::Request request, Answer answer) override { answer(ResponseTo(request)); }
  http::Response Refuse(int status, const std::string& detail) override {
    return Text(status, detail);
  }

 private:
  http::Response ResponseTo(const http::Request& request) const {
    const bool known =
        request.path == "/healthz" || request.path == "/readyz" || request.path == "/metrics";
    if (!known) return Text(404, "there are /metrics, /healthz and /readyz");
    if (request.method != "GET" && request.method != "HEAD") {
      return {405, "text/plain", "GET it\n", {{"Allow", "GET, HEAD"}}};
    }
    if (request.path == "/healthz") return ToResponse(health_.Alive(clock_().mono));
    if (request.path == "/readyz") return ToResponse(health_.Ready());
    return {200, "text/plain; version=0.0.4; charset=utf-8", Metrics(), {}};
  }

  std::string Metrics() const {
    auto families = registry_.Collect();
    auto process = ProcessMetrics(started_);
    families.insert(families.end(), std::make_move_iterator(process.begin()),
                    std::make_move_iterator(process.end()));
    families.push_back(FamilyOf("fanline_ready", "1: this condition of readiness holds",
                                "condition", health_.Conditions()));
    families.push_back(
        FamilyOf("fanline_reachable", "1: this resource answers", "resource", health_.Resources()));
    return prometheus::TextSerializer().Serialize(families);
  }

  const prometheus::Registry& registry_;
  const Health& health_;
  const std::function<Now()> clock_;
  // Seconds since 1970. It stays when the clock is set, since alerts count starts.
  const double started_ = static_cast<double>(UnixNow()) / 1'000;
  std::optional<http::Server> server_;  // last: it serves the others
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
