#include "feedctl/doctor/scrape.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "daemon/clock.h"

namespace fanline::feedctl {
namespace {

constexpr size_t kMostBytes = 16 * 1024 * 1024;
constexpr std::string_view kScheme = "http://";
constexpr std::string_view kPath = "/metrics";

Status Failed(const std::string& what) { return Status::Later("metrics", what); }
Status FailedCall() { return Failed(std::strerror(errno)); }

// name{label="value",...} value
std::optional<Sample> ParseSample(std::string_view line) {
  Sample sample;
  const size_t name = line.find_first_of("{ ");
  if (name == 0 || name == line.npos || line.front() == '#') return std::nullopt;
  sample.name = line.substr(0, name);
  line.remove_prefix(name);
  if (line.front() == '{') {
    line.remove_prefix(1);
    while (!line.empty() && line.front() != '}') {
      const size_t equals = line.find("=\"");
      if (equals == line.npos) return std::nullopt;
      std::string value;
      size_t at = equals + 2;
      for (; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\' && at + 1 < line.size()) ++at;
        value += line[at];
      }
      if (at >= line.size()) return std::nullopt;
      sample.labels[std::string(line.substr(0, equals))] = value;
      line.remove_prefix(at + 1);
      if (line.starts_with(',')) line.remove_prefix(1);
    }
    if (line.empty()) return std::nullopt;
    line.remove_prefix(1);
  }
  const std::string number(line);
  char* end = nullptr;
  sample.value = std::strtod(number.c_str(), &end);
  if (end == number.c_str()) return std::nullopt;
  return sample;
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }
  // False: `until` has come.
  bool Wait(short events, Time until) const {
    while (true) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - daemon::SystemNow().mono);
      if (left.count() <= 0) return false;
      pollfd waiting{fd_, events, 0};
      const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return true;  // the next call says what is wrong
    }
  }

 private:
  const int fd_;
};

Status Connect(const Socket& socket, const addrinfo& address, Time until) {
  if (connect(socket.fd(), address.ai_addr, address.ai_addrlen) == 0) return Status::Done();
  if (errno != EINPROGRESS) return FailedCall();
  if (!socket.Wait(POLLOUT, until)) return Failed("no answer in time");
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? Status::Done() : Failed(std::strerror(error));
}

Status Send(const Socket& socket, std::string_view text, Time until) {
  while (!text.empty()) {
    const ssize_t sent = send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      text.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return FailedCall();
    } else if (!socket.Wait(POLLOUT, until)) {
      return Failed("no answer in time");
    }
  }
  return Status::Done();
}

// Until the server closes the connection.
Status Receive(const Socket& socket, Time until, std::string* text) {
  char buffer[16 * 1024];
  while (true) {
    const ssize_t got = recv(socket.fd(), buffer, sizeof buffer, 0);
    if (got == 0) return Status::Done();
    if (got > 0) {
      text->append(buffer, static_cast<size_t>(got));
      if (text->size() > kMostBytes) return Failed("its answer has no end");
    } else if (errno != EAGAIN && errno != EINTR) {
      return FailedCall();
    } else if (!socket.Wait(POLLIN, until)) {
      return Failed("no answer in time");
    }
  }
}

Status BodyOf(const std::string& answer, std::string* body) {
  const size_t end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.") || end == answer.npos) return Failed("it speaks no HTTP");
  const std::string status = answer.substr(9, 3);
  if (status != "200") return Failed("it answers " + status);
  *body = answer.substr(end + 4);
  return Status::Done();
}

}  // namespace

Metrics Metrics::Parse(std::string_view text) {
  Metrics metrics;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      if (auto sample = ParseSample(text.substr(0, end))) {
        metrics.samples_.push_back(*std::move(sample));
      }
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return metrics;
}

std::vector<const Sample*> Metrics::Of(std::string_view name) const {
  std::vector<const Sample*> found;
  for (const Sample& sample : samples_) {
    if (sample.name == name) found.push_back(&sample);
  }
  return found;
}

double Metrics::Sum(std::string_view name) const {
  double sum = 0;
  for (const Sample* sample : Of(name)) {
    if (!std::isnan(sample->value)) sum += sample->value;
  }
  return sum;
}

std::optional<Endpoint> ParseTarget(std::string_view text) {
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.ends_with(kPath)) text.remove_suffix(kPath.size());
  auto target = ParseEndpoint(text);
  if (target && target->port == 0) return std::nullopt;
  return target;
}

Status HttpGet(const Endpoint& server, const std::string& path, Duration timeout,
               std::string* body) {
  const Time until = daemon::SystemNow().mono + timeout;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found);
  if (error != 0) return Failed(gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  Status status = Failed("it has no address");
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const Socket socket(::socket(address->ai_family,
                                 address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                 address->ai_protocol));
    if (socket.fd() < 0) continue;
    status = Connect(socket, *address, until);
    if (!status.done()) continue;
    // HTTP/1.0: the answer comes in one piece, and its end is that of the connection.
    status = Send(
        socket,
        "GET " + path + " HTTP/1.0\r\nHost: " + ToString(server) + "\r\nConnection: close\r\n\r\n",
        until);
    std::string answer;
    if (status.done()) status = Receive(socket, until, &answer);
    return status.done() ? BodyOf(answer, body) : status;
  }
  return status;
}

}  // namespace fanline::feedctl
