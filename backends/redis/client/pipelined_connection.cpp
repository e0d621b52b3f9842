#include "backends/redis/client/pipelined_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "fanline/base/mono_now.h"

namespace fanline::redis {
namespace {

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kKeepSentBytes = 1024 * 1024;  // beyond, sent bytes are dropped

Time Later(Time from, std::chrono::milliseconds by) { return from + Duration(by); }

}  // namespace

PipelinedConnection::PipelinedConnection(const Options& options)
    : options_(options),
      context_(redisConnectNonBlock(options.address.host.c_str(), options.address.port), redisFree),
      started_(MonoNow()) {
  if (!context_) {
    failure_ = "out of memory";
  } else if (context_->err != 0) {
    failure_ = context_->errstr;
  } else {
    SignIn();
  }
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
  if (!connected_) return Later(started_, options_.connect_timeout);
  if (expected_.empty()) return Time::max();
  return Later(expected_.front().sent, options_.command_timeout);
}

void PipelinedConnection::Expect(OnReply on_reply, Time now) {
  expected_.push_back({std::move(on_reply), now});
}

bool PipelinedConnection::Fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
  return false;
}

bool PipelinedConnection::Pump(Time now, bool patient) {
  if (!failure_.empty()) return false;
  if (!connected_) {
    if (!FinishConnecting()) return false;
    // The commands that wait travel from now on.
    if (connected_) {
      for (Expected& each : expected_) each.sent = now;
    }
  }
  received_ = false;
  if (connected_ && (!Send() || !Receive())) return false;
  if (patient && received_ && !expected_.empty()) expected_.front().sent = now;
  timed_out_ = now >= deadline();
  // A node that takes the connection and then hangs lets TLS wait.
  return !timed_out_ || Fail(stream_ ? kNoAnswer : "no connection in time");
}

bool PipelinedConnection::FinishConnecting() {
  if (stream_) return Greet();
  pollfd ready{fd(), POLLOUT, 0};
  if (poll(&ready, 1, 0) <= 0) return true;  // not yet
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return Fail(std::strerror(error));
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
