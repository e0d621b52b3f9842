#include "backends/redis/client/blocking_connection.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "backends/redis/client/reply.h"
#include "backends/redis/client/scripts.h"
#include "backends/redis/client/silent_nodes.h"
#include "fanline/base/mono_now.h"

namespace fanline::redis {

// The node is lost.
void BlockingConnection::Break(const std::string& why) {
  status_ = Lost(options_.address, why, options_.tls.on());
  asks_ = ErrorAction::kLeaveNode;
}

void BlockingConnection::Begin(const CommandBuffer& commands, size_t count,
                               const OnReply& on_reply) {
  on_reply_ = &on_reply;
  unanswered_ = count;
  status_ = Status::Done();
  asks_ = ErrorAction::kNone;
  const auto& rests = options_.silent_nodes;
  const Duration patience = options_.connect_timeout + options_.command_timeout;
  silent_ = rests && !rests->MayAsk(options_.address, patience);
  if (silent_) return Break("does not answer, and is left alone a while");
  if (!connection_) connection_ = std::make_unique<PipelinedConnection>(options_);
  const Time now = MonoNow();
  connection_->out().Append(commands);
  for (size_t i = 0; i < count; ++i) {
    connection_->Expect([this](const redisReply& reply) { Take(reply); }, now);
  }
  (void)connection_->Flush();  // Look finds what went wrong
}

// Replies behind a failure are not wanted.
void BlockingConnection::Take(const redisReply& reply) {
  --unanswered_;
  if (status_.done()) status_ = (*on_reply_)(reply);
}

void BlockingConnection::GoOn(Time now) {
  const size_t before = unanswered_;
  const bool fine = connection_->Pump(now, true);
  silent_ = connection_->timed_out();
  if (options_.silent_nodes && (!fine || !status_.done() || unanswered_ != before)) {
    silent_ ? options_.silent_nodes->Silent(options_.address)
            : options_.silent_nodes->Answered(options_.address);
  }
  if (!fine && unanswered_ > 0 && status_.done()) Break(connection_->failure());
}

std::optional<Status> BlockingConnection::Look(Time now) {
  if (status_.done()) GoOn(now);
  if (status_.done() && unanswered_ > 0) return std::nullopt;
  // Replies left unread would be taken for those to later commands.
  const bool leave = unanswered_ > 0 || asks_ == ErrorAction::kLeaveNode;
  if (leave || !connection_->failure().empty()) Close();
  return status_;
}

void BlockingConnection::Await(std::span<const BlockingConnection* const> any, Time until) {
  std::vector<pollfd> waiting;
  for (const BlockingConnection* each : any) {
    if (!each->status_.done() || !each->connection_->failure().empty()) return;
    waiting.push_back({each->connection_->fd(), each->connection_->events(), 0});
    until = std::min(until, each->connection_->deadline());
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - MonoNow());
  poll(waiting.data(), waiting.size(),
       static_cast<int>(std::clamp<int64_t>(left.count() + 1, 0, 1000)));
}

Status BlockingConnection::Call(const CommandBuffer& command, const OnReply& on_reply,
                                bool asking) {
  CommandBuffer commands;
  if (asking) commands.Command("ASKING");
  commands.Append(command);
  const auto ask = [&] {
    size_t replies = asking ? 2 : 1;
    return Pipeline(commands, replies, [&](const redisReply& reply) {
      return --replies == 0 ? on_reply(reply) : Status::Done();
    });
  };
  Status status = ask();
  if (asks_ != ErrorAction::kLoadScripts) return status;
  CommandBuffer scripts;
  for (size_t i = 0; i < kScriptCount; ++i) {
    scripts.Command("SCRIPT", "LOAD", TextOf(static_cast<Script>(i)));
  }
  status = Pipeline(scripts, kScriptCount, [](const redisReply&) { return Status::Done(); });
  return status.done() ? ask() : status;
}

Status BlockingConnection::Pipeline(const CommandBuffer& commands, size_t count,
                                    const OnReply& on_reply) {
  return PipelineRaw(commands, count, [&](const redisReply& reply) {
    if (!IsError(reply)) return on_reply(reply);
    const ErrorMeaning meaning = MeaningOf(Text(reply));
    asks_ = meaning.action;
    return StatusOf(meaning, Text(reply));
  });
}

Status BlockingConnection::PipelineRaw(const CommandBuffer& commands, size_t count,
                                       const OnReply& on_reply) {
  const BlockingConnection* const self = this;
  std::optional<Status> ended;
  for (Begin(commands, count, on_reply); !ended; ended = Look(MonoNow())) {
    Await({&self, 1}, Time::max());
  }
  return *std::move(ended);
}

}  // namespace fanline::redis
