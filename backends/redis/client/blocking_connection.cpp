#include "backends/redis/client/blocking_connection.h"

#include <sys/time.h>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"

namespace fanline::redis {
namespace {

timeval Timeval(std::chrono::milliseconds time) {
  return {static_cast<time_t>(time.count() / 1000),
          static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

}  // namespace

BlockingConnection::BlockingConnection(const Options& options)
    : options_(options), context_(nullptr, redisFree) {}
BlockingConnection::~BlockingConnection() = default;

Status BlockingConnection::Broken(const std::string& why) {
  context_.reset();
  return Away("redis " + ToString(options_.address) + ": " + why);
}

Status BlockingConnection::Open() {
  if (context_) return Status::Done();
  const Endpoint& address = options_.address;
  context_.reset(redisConnectWithTimeout(address.host.c_str(), address.port,
                                         Timeval(options_.connect_timeout)));
  if (!context_) return Broken("out of memory");
  if (context_->err != 0) return Broken(context_->errstr);
  if (redisSetTimeout(context_.get(), Timeval(options_.command_timeout)) != REDIS_OK) {
    return Broken("no timeout can be set");
  }
  return SignIn();
}

Status BlockingConnection::SignIn() {
  if (options_.password.empty()) return Status::Done();
  CommandBuffer auth;
  if (options_.username.empty()) {
    auth.Command("AUTH", options_.password);
  } else {
    auth.Command("AUTH", options_.username, options_.password);
  }
  redisAppendFormattedCommand(context_.get(), auth.bytes().data(), auth.size());
  Status status = Receive(
      [this](const redisReply& reply) { return IsError(reply) ? Judged(reply) : Status::Done(); });
  if (!status.done()) context_.reset();
  return status;
}

Status BlockingConnection::Receive(const OnReply& on_reply) {
  void* raw = nullptr;
  if (redisGetReply(context_.get(), &raw) != REDIS_OK) return Broken(context_->errstr);
  const std::unique_ptr<void, void (*)(void*)> guard(raw, freeReplyObject);
  return on_reply(*static_cast<const redisReply*>(raw));
}

Status BlockingConnection::Judged(const redisReply& error) {
  const ErrorMeaning meaning = MeaningOf(Text(error));
  forgotten_ = meaning.action == ErrorAction::kLoadScripts;
  if (meaning.action == ErrorAction::kLeaveNode) context_.reset();
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
  Status status = Open();
  if (!status.done()) return status;
  if (redisAppendFormattedCommand(context_.get(), commands.bytes().data(), commands.size()) !=
      REDIS_OK) {
    return Broken(context_->errstr);
  }
  for (size_t i = 0; i < count; ++i) {
    status = Receive(on_reply);
    if (status.done()) continue;
    if (i + 1 < count) context_.reset();
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
                                const OnReply& on_reply) {
  Status status;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt > 0 || digests_.Of(script).empty()) status = Load(script);
    if (!status.done()) return status;
    CommandBuffer command;
    encode(command, digests_);
    forgotten_ = false;
    status = Call(command, on_reply);
    if (!forgotten_) return status;
  }
  return status;
}

}  // namespace fanline::redis
