#include "api/http_server.h"

#include <httplib.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "api/framing.h"
#include "api/problem.h"
#include "api/worker_threads.h"

namespace fanline::api {
namespace {

constexpr size_t kRequestsPerConnection = 1'000;
constexpr time_t kIdleSec = 5;      // a connection between two requests
constexpr time_t kPatienceSec = 5;  // for a client that sends or reads nothing
// Connections that wait to be accepted; one too many waits a second for its second SYN.
constexpr int kBacklog = 128;
// Of a body that is too large so much is read, for a client that is cut off while it sends may
// never see the answer.
constexpr size_t kMostBytesRead = 1024 * 1024;

using HttpRequest = httplib::Request;
using HttpResponse = httplib::Response;

class ConnectionThreads final : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t count) : threads_(count) {}
  void enqueue(std::function<void()> work) override { threads_.Give(std::move(work)); }
  void shutdown() override { threads_.Finish(); }

 private:
  WorkerThreads threads_;
};

std::vector<std::string> HeaderValues(const HttpRequest& request, const char* name) {
  std::vector<std::string> values;
  const auto [begin, end] = request.headers.equal_range(name);
  for (auto header = begin; header != end; ++header) values.push_back(header->second);
  return values;
}

Framing FramingIn(const HttpRequest& request) {
  return FramingOf(request.method, HeaderValues(request, "Content-Length"),
                   HeaderValues(request, "Transfer-Encoding"));
}

Request RequestOf(const HttpRequest& from, std::string body) {
  Request request;
  request.method = from.method;
  request.path = from.path;
  for (const auto& [name, value] : from.params) request.params.emplace_back(name, value);
  request.content_type = from.get_header_value("Content-Type");
  request.body = std::move(body);
  return request;
}

void Send(const Response& response, HttpResponse& to) {
  to.status = response.status;
  for (const auto& [name, value] : response.headers) to.set_header(name, value);
  to.set_content(response.body, response.content_type);
}

// For when nobody knows where the next request begins. The library closes a connection when an
// answer could not be written whole: this one is written whole and then said to have failed.
void SendAndClose(const Response& response, HttpResponse& to) {
  Send({response.status, response.content_type, {}, response.headers}, to);
  to.set_header("Connection", "close");
  to.set_content_provider(response.body.size(), response.content_type,
                          [body = response.body](size_t, size_t, httplib::DataSink& sink) {
                            sink.write(body.data(), body.size());
                            return false;
                          });
}

struct Body {
  std::string text;
  size_t bytes = 0;  // that came; more than text when it is too large
};

// False: it ended early, or so much came that the rest was not read. Counted as it arrives,
// unpacked: a chunked or compressed one does not say before how large it is.
bool ReadBody(const httplib::ContentReader& reader, Body* body) {
  return reader([body](const char* data, size_t size) {
    body->bytes += size;
    if (body->bytes <= kMostBodyBytes) body->text.append(data, size);
    return body->bytes <= kMostBytesRead;
  });
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const std::string& host, uint16_t port, const Limits& limits, Handler& handler)
      : handler_(handler), limits_(limits) {
    Configure();
    Route();
    Bind(host, port);
    thread_ = std::thread([this] {
      http_.listen_after_bind();
      stopped_ = true;
    });
    // stop() has no effect before the server runs.
    while (!http_.is_running() && !stopped_) std::this_thread::yield();
  }

  ~Impl() {
    Stop();
    thread_.join();
  }

  uint16_t port() const { return port_; }
  bool stopped() const { return stopped_; }

  void Stop() {
    if (!stopping_.exchange(true)) http_.stop();  // a second time it would find its socket closed
  }

 private:
  using Routed = httplib::Server::HandlerResponse;

  void Configure() {
    http_.new_task_queue = [this] { return new ConnectionThreads(limits_.connections); };
    http_.set_socket_options([this](int socket) { SetSocketOptions(socket); });
    http_.set_tcp_nodelay(true);  // without it every answer waits for the client's delayed ACK
    http_.set_keep_alive_max_count(kRequestsPerConnection);
    http_.set_keep_alive_timeout(kIdleSec);
    http_.set_read_timeout(kPatienceSec);
    http_.set_write_timeout(kPatienceSec);
    http_.set_payload_max_length(kMostBytesRead);
  }

  // SO_REUSEADDR for a quick restart. Not the library's default SO_REUSEPORT, with which two
  // daemons share one port and each answers half of the requests.
  void SetSocketOptions(int socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    listener_ = socket;  // the last one tried is the one that is bound
  }

  // Everything goes to the handler, which has routes of its own; the library's only say whether a
  // body is read.
  void Route() {
    http_.set_pre_routing_handler([this](const HttpRequest& request, HttpResponse& response) {
      return BeforeBody(request, response);
    });
    const auto serve = [this](const HttpRequest& request, HttpResponse& response,
                              const httplib::ContentReader& reader) {
      ServeWithBody(request, response, reader);
    };
    const char* any = R"([\s\S]*)";
    http_.Put(any, serve).Post(any, serve).Patch(any, serve).Delete(any, serve);
    http_.set_error_handler(
        httplib::Server::HandlerWithResponse([this](const HttpRequest&, HttpResponse& response) {
          SayWhy(response);
          return Routed::Handled;
        }));
    http_.set_exception_handler([](const HttpRequest&, HttpResponse& response, std::exception_ptr) {
      response.status = 500;
    });
  }

  Routed BeforeBody(const HttpRequest& request, HttpResponse& response) {
    // The library would cut every answer to the range a client asks for; they are not files.
    const_cast<HttpRequest&>(request).ranges.clear();
    switch (FramingIn(request)) {
      case Framing::kBody:
        return Routed::Unhandled;
      case Framing::kNoBody:
        Send(handler_.Handle(RequestOf(request, {})), response);
        return Routed::Handled;
      case Framing::kUnsafe:
        break;
    }
    // An answer to HEAD has no body, and what is not written cannot fail (SendAndClose).
    const_cast<HttpRequest&>(request).method = "GET";
    Refuse({Code::kBadRequest,
            "where the body of the request ends is not clear; send one Content-Length, or none "
            "where there is no body"},
           response);
    return Routed::Handled;
  }

  void ServeWithBody(const HttpRequest& request, HttpResponse& response,
                     const httplib::ContentReader& reader) {
    Body body;
    const bool whole = ReadBody(reader, &body);
    const bool too_large = body.bytes > kMostBodyBytes || response.status == 413;
    if (too_large || !whole) return Refuse(ProblemOfStatus(too_large ? 413 : 400), response);
    Send(handler_.Handle(RequestOf(request, std::move(body.text))), response);
  }

  void Refuse(const Problem& problem, HttpResponse& response) {
    const Response said = ToResponse(problem);
    handler_.Refused(said.status);
    SendAndClose(said, response);
  }

  // What the library answers by itself has no body yet. It may not have read the request to its
  // end either.
  void SayWhy(HttpResponse& response) {
    if (response.has_header("Content-Type")) return;
    Refuse(ProblemOfStatus(response.status), response);
  }

  void Bind(const std::string& host, uint16_t port) {
    errno = 0;
    int bound = port;
    if (port == 0) {
      bound = http_.bind_to_any_port(host);
    } else if (!http_.bind_to_port(host, port)) {
      bound = -1;
    }
    if (bound > 0) {
      port_ = static_cast<uint16_t>(bound);
      ::listen(listener_, kBacklog);  // again: the library's backlog is 5
      return;
    }
    const std::string why = errno == 0 ? "no such address" : std::generic_category().message(errno);
    throw std::runtime_error("cannot listen on " + host + ":" + std::to_string(port) + ": " + why);
  }

  Handler& handler_;
  const Limits limits_;
  httplib::Server http_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

HttpServer::HttpServer(const std::string& host, uint16_t port, const Limits& limits,
                       Handler& handler)
    : impl_(std::make_unique<Impl>(host, port, limits, handler)) {}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return impl_->port(); }
void HttpServer::Stop() { impl_->Stop(); }
bool HttpServer::stopped() const { return impl_->stopped(); }

}  // namespace fanline::api
