#include "backends/redis/client/blocking_connection.h"

#include <sys/time.h>

#include <cerrno>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/sign_in.h"
#include "backends/redis/client/silent_nodes.h"

namespace fanline::redis {
namespace {

constexpr size_t kReadBytes = 16 * 1024;

timeval Timeval(std::chrono::milliseconds time) {
  return {static_cast<time_t>(time.count() / 1000),
          static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

}  // namespace

BlockingConnection::BlockingConnection(const Options& options)
    : options_(options), context_(nullptr, redisFree) {}
BlockingConnection::~BlockingConnection() = default;

void BlockingConnection::Close() {
  stream_.reset();
  context_.reset();
}

// `silent`: a wait for it timed out.
Status BlockingConnection::Broken(const std::string& why, bool silent) {
  Close();
  if (options_.silent_nodes) {
    silent ? options_.silent_nodes->Silent(options_.address)
           : options_.silent_nodes->Answered(options_.address);
  }
  asks_ = ErrorAction::kLeaveNode;
  return Lost(options_.address, why, options_.tls.on());
}

Status BlockingConnection::BrokenStream() {
  const bool silent = errno == EAGAIN;
  return Broken(stream_->failure(), silent);
}

bool BlockingConnection::MayAsk() const {
  const auto patience = options_.connect_timeout + options_.command_timeout;
  return !options_.silent_nodes || options_.silent_nodes->MayAsk(options_.address, patience);
}

Status BlockingConnection::Open() {
  if (context_) return Status::Done();
  const Endpoint& address = options_.address;
  context_.reset(redisConnectWithTimeout(address.host.c_str(), address.port,
                                         Timeval(options_.connect_timeout)));
  if (!context_) return Broken("out of memory");
  if (context_->err != 0) return Broken(context_->errstr, errno == ETIMEDOUT);
  if (redisSetTimeout(context_.get(), Timeval(options_.command_timeout)) != REDIS_OK) {
    return Broken("no timeout can be set");
  }
  stream_.emplace(options_, context_->fd);
  if (stream_->Greet() != Stream::Greeting::kDone) return BrokenStream();
  return SignIn();
}

Status BlockingConnection::SignIn() {
  CommandBuffer auth;
  const std::string wrong = EncodeSignIn(options_, auth);
  if (!wrong.empty()) return Broken(wrong);
  if (auth.empty()) return Status::Done();
  Status status = Send(auth);
  if (!status.done()) return status;
  status = Receive(
      [this](const redisReply& reply) { return IsError(reply) ? Judged(reply) : Status::Done(); });
  if (!status.done()) Close();
  return status;
}

Status BlockingConnection::Send(const CommandBuffer& commands) {
  std::string_view rest = commands.bytes();
  while (!rest.empty()) {
    const ssize_t wrote = stream_->Send(rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return BrokenStream();
    rest.remove_prefix(static_cast<size_t>(wrote));
  }
  return Status::Done();
}

// Waits for the next bytes of a reply.
Status BlockingConnection::Fill() {
  char bytes[kReadBytes];
  ssize_t got = 0;
  do {
    got = stream_->Receive(bytes, sizeof bytes);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return BrokenStream();
  if (got == 0) return Broken(kClosed);
  redisReaderFeed(context_->reader, bytes, static_cast<size_t>(got));
  return Status::Done();
}

Status BlockingConnection::Receive(const OnReply& on_reply) {
  void* raw = nullptr;
  while (raw == nullptr) {
    if (redisReaderGetReply(context_->reader, &raw) != REDIS_OK) {
      return Broken(context_->reader->errstr);
    }
    if (raw != nullptr) break;
    if (Status status = Fill(); !status.done()) return status;
  }
  const std::unique_ptr<void, void (*)(void*)> guard(raw, freeReplyObject);
  if (options_.silent_nodes) options_.silent_nodes->Answered(options_.address);
  return on_reply(*static_cast<const redisReply*>(raw));
}

Status BlockingConnection::Judged(const redisReply& error) {
  const ErrorMeaning meaning = MeaningOf(Text(error));
  asks_ = meaning.action;
  if (meaning.action == ErrorAction::kLeaveNode) Close();
  return StatusOf(meaning, Text(error));
}

Status BlockingConnection::Call(const CommandBuffer& command, const OnReply& on_reply) {
  return Pipeline(command, 1, on_reply);
}

Status BlockingConnection::Pipeline(const CommandBuffer& commands, size_t count,
                                    const OnReply& on_reply) {
  return PipelineRaw(commands, count, [&](const redisReply& reply) {
    return IsError(reply) ? Judged(reply) : on_reply(reply);
  });
}

Status BlockingConnection::PipelineRaw(const CommandBuffer& commands, size_t count,
                                       const OnReply& on_reply) {
  if (!MayAsk()) {
    Close();
    asks_ = ErrorAction::kLeaveNode;
    return Away("redis " + ToString(options_.address) +
                " does not answer, and is left alone a while");
  }
  asks_ = ErrorAction::kNone;
  Status status = Open();
  if (!status.done()) return status;
  status = Send(commands);
  if (!status.done()) return status;
  for (size_t i = 0; i < count; ++i) {
    status = Receive(on_reply);
    if (status.done()) continue;
    if (i + 1 < count) Close();
    return status;
  }
  return Status::Done();
}

Status BlockingConnection::Load(Script script) {
  CommandBuffer command;
  command.Command("SCRIPT", "LOAD", TextOf(script));
  return Call(command, [&](const redisReply& reply) {
    digests_.Set(script, std::string(Text(reply)));
    return Status::Done();
  });
}

Status BlockingConnection::Eval(Script script, const CommandChannel::Encode& encode,
                                const OnReply& on_reply, bool asking) {
  Status status;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt > 0 || digests_.Of(script).empty()) status = Load(script);
    if (!status.done()) return status;
    CommandBuffer command;
    if (asking) command.Command("ASKING");
    encode(command, digests_);
    size_t replies = asking ? 2 : 1;
    status = Pipeline(command, replies, [&](const redisReply& reply) {
      return --replies == 0 ? on_reply(reply) : Status::Done();
    });
    if (asks_ != ErrorAction::kLoadScripts) return status;
  }
  return status;
}

}  // namespace fanline::redis
