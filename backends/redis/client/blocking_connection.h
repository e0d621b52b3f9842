// A blocking connection for the reading side. It opens when first needed and again after a failure.
// One thread. The command timeout bounds every call. After a timeout the connection is closed, and
// the command may have been carried out. A node that rests (silent_nodes.h) is not asked.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backends/redis/client/command_channel.h"
#include "backends/redis/client/errors.h"
#include "backends/redis/client/stream.h"

struct redisContext;

namespace fanline::redis {

class BlockingConnection {
 public:
  explicit BlockingConnection(const Options& options);
  ~BlockingConnection();
  BlockingConnection(const BlockingConnection&) = delete;
  BlockingConnection& operator=(const BlockingConnection&) = delete;

  using OnReply = std::function<Status(const redisReply&)>;

  // One command and its reply. `on_reply` sees no error: errors become the Status of errors.h.
  Status Call(const CommandBuffer& command, const OnReply& on_reply);
  // `count` commands in one go; `on_reply` gets their replies in order. Stops at the first Status
  // that is not done, and closes the connection if replies are left unread.
  Status Pipeline(const CommandBuffer& commands, size_t count, const OnReply& on_reply);
  // The same, but `on_reply` also sees error replies, so one bad key does not end the others.
  Status PipelineRaw(const CommandBuffer& commands, size_t count, const OnReply& on_reply);
  // EVALSHA; loads the script when the node does not know it. `encode` writes the whole command.
  // `asking`: the slot is moving to this node, and its former node answered ASK.
  Status Eval(Script script, const CommandChannel::Encode& encode, const OnReply& on_reply,
              bool asking = false);
  // What the error of the last failed call asks for; kLeaveNode also when there was no answer.
  ErrorAction asks() const { return asks_; }

 private:
  Status Open();
  Status SignIn();
  Status Send(const CommandBuffer& commands);
  Status Fill();
  Status Receive(const OnReply& on_reply);
  Status Judged(const redisReply& error);
  Status Load(Script script);
  void Close();
  Status Broken(const std::string& why, bool silent = false);
  Status BrokenStream();
  bool MayAsk() const;

  const Options options_;
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
  std::optional<Stream> stream_;  // of the context
  ScriptDigests digests_;
  ErrorAction asks_ = ErrorAction::kNone;
};

}  // namespace fanline::redis
