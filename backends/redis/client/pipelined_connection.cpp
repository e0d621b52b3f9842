#include "backends/redis/client/pipelined_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kKeepSentBytes = 1024 * 1024;  // beyond, sent bytes are dropped

// However many addresses follow, one has a third of the time that is left to connect.
constexpr size_t kLeastPart = 3;

Time Later(Time from, std::chrono::milliseconds by) { return from + Duration(by); }

// Connections that failed, whatever their names. After each, names are begun at another address.
std::atomic<size_t> connections_failed = 0;

// As hiredis looks names up: those of version 6 only if there are none of version 4.
std::vector<Endpoint> AddressesOf(const Endpoint& node, std::string* wrong) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int error = 0;
  for (const int family : {AF_INET, AF_INET6}) {
    hints.ai_family = family;
    error = getaddrinfo(node.host.c_str(), std::to_string(node.port).c_str(), &hints, &found);
    if (error == 0) break;
  }
  if (error != 0) return *wrong = gai_strerror(error), std::vector<Endpoint>();
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> guard(found, freeaddrinfo);
  std::vector<Endpoint> all;
  for (; found != nullptr; found = found->ai_next) {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    error = getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, port, sizeof port,
                        NI_NUMERICHOST | NI_NUMERICSERV);
    if (error == 0) all.push_back({host, ParseNumber<uint16_t>(port).value_or(node.port)});
  }
  if (all.empty()) return *wrong = gai_strerror(error), all;
  std::rotate(all.begin(),
              all.begin() + static_cast<std::ptrdiff_t>(connections_failed % all.size()),
              all.end());
  return all;
}

}  // namespace

PipelinedConnection::PipelinedConnection(const Options& options)
    : options_(options),
      addresses_(AddressesOf(options.address, &failure_)),
      context_(nullptr, redisFree),
      started_(MonoNow()) {
  if (failure_.empty() && TryNext(started_, "")) SignIn();
}

// `why`: what became of the address before.
bool PipelinedConnection::TryNext(Time now, std::string why) {
  while (tried_ < addresses_.size()) {
    const size_t left = addresses_.size() - tried_;
    const Endpoint& address = addresses_[tried_++];
    context_.reset(redisConnectNonBlock(address.host.c_str(), address.port));
    if (!context_) return Fail("out of memory");
    if (context_->err == 0) {
      const Duration time = Later(started_, options_.connect_timeout) - now;
      next_address_ = now + time / static_cast<int64_t>(std::min(left, kLeastPart));
      return true;
    }
    why = context_->errstr;
  }
  return Fail(std::move(why));
}

// With the current password, or not at all if there is none.
void PipelinedConnection::SignIn() {
  std::string password;
  if (const std::string wrong = options_.password.Read(&password); !wrong.empty()) {
    failure_ = "the password's file " + wrong;
  }
  if (password.empty()) return;
  out_ = options_.username.empty() ? CommandOf("AUTH", password)
                                   : CommandOf("AUTH", options_.username, password);
  Expect(
      [this](const redisReply& reply) {
        if (IsError(reply)) Fail("not let in: " + std::string(Text(reply)));
      },
      started_);
}

int PipelinedConnection::fd() const { return context_ ? context_->fd : -1; }

short PipelinedConnection::events() const {
  if (!connected_) return stream_ ? stream_->wants() : POLLOUT;
  return static_cast<short>(POLLIN | (sent_ < out_.size() ? POLLOUT : 0));
}

Time PipelinedConnection::deadline() const {
  if (!stream_) return next_address_;
  if (!connected_) return Later(started_, options_.connect_timeout);
  if (expected_.empty()) return Time::max();
  return Later(expected_.front().sent, options_.command_timeout);
}

void PipelinedConnection::Expect(OnReply on_reply, Time now) {
  expected_.push_back({std::move(on_reply), now});
}

bool PipelinedConnection::Fail(std::string why) {
  if (!failure_.empty()) return false;
  failure_ = std::move(why);
  ++connections_failed;
  return false;
}

bool PipelinedConnection::Pump(Time now, bool patient) {
  if (!failure_.empty()) return false;
  if (!connected_) {
    if (!FinishConnecting(now)) return false;
    // The commands that wait travel from now on.
    if (connected_) {
      for (Expected& each : expected_) each.sent = now;
    }
  }
  received_ = false;
  if (connected_ && (!Send() || !Receive())) return false;
  if (patient && received_ && !expected_.empty()) expected_.front().sent = now;
  if (now < deadline()) return true;
  timed_out_ = true;
  // A node that takes the connection and then hangs lets TLS wait.
  return stream_ ? Fail(kNoAnswer) : TryNext(now, "no connection in time");
}

bool PipelinedConnection::FinishConnecting(Time now) {
  if (stream_) return Greet();
  pollfd ready{fd(), POLLOUT, 0};
  if (poll(&ready, 1, 0) <= 0) return true;  // not yet
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return TryNext(now, std::strerror(error));
  timed_out_ = false;
  const int on = 1;  // hiredis 1.x sets it only for connections that block
  setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  stream_.emplace(options_, fd());
  return Greet();
}

bool PipelinedConnection::Greet() {
  const Stream::Greeting greeting = stream_->Greet();
  if (greeting == Stream::Greeting::kFailed) return Fail(stream_->failure());
  connected_ = greeting == Stream::Greeting::kDone;
  return true;
}

bool PipelinedConnection::Send() {
  while (sent_ < out_.size()) {
    const auto rest = out_.bytes().substr(sent_);
    const ssize_t wrote = stream_->Send(rest.data(), rest.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      return Fail(stream_->failure());
    }
    sent_ += static_cast<size_t>(wrote);
  }
  if (sent_ == out_.size() || sent_ >= kKeepSentBytes) {
    out_.DropFront(sent_);
    sent_ = 0;
  }
  return true;
}

bool PipelinedConnection::Receive() {
  char bytes[kReadBytes];
  while (true) {
    const ssize_t got = stream_->Receive(bytes, sizeof bytes);
    if (got == 0) return Fail(kClosed);
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      return Fail(stream_->failure());
    }
    received_ = true;
    redisReaderFeed(context_->reader, bytes, static_cast<size_t>(got));
    void* reply = nullptr;
    while (redisReaderGetReply(context_->reader, &reply) == REDIS_OK && reply != nullptr) {
      const std::unique_ptr<void, void (*)(void*)> guard(reply, freeReplyObject);
      if (expected_.empty()) return Fail("a reply nobody asked for");
      const OnReply on_reply = std::move(expected_.front().on_reply);
      expected_.pop_front();
      on_reply(*static_cast<redisReply*>(reply));
      if (!failure_.empty()) return false;
      reply = nullptr;
    }
    if (context_->reader->err != 0) return Fail(context_->reader->errstr);
    // With TLS a read ends at a record, and more may be waiting.
    if (static_cast<size_t>(got) < sizeof bytes && !options_.tls.on()) return true;
  }
}

}  // namespace fanline::redis
