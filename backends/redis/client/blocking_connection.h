// A connection to one node for who asks and awaits. It opens when first needed and again after a
// failure. The caller waits for the replies (Call, Pipeline), or looks for them, to ask
// several nodes together (Begin, Look; cluster/survey.h). One thread.
// The command timeout bounds every wait for a reply. After a timeout the connection is closed, and
// the command may have been carried out. A node that rests (silent_nodes.h) is not asked.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/pipelined_connection.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

class BlockingConnection {
 public:
  explicit BlockingConnection(const Options& options) : options_(options) {}
  BlockingConnection(const BlockingConnection&) = delete;
  BlockingConnection& operator=(const BlockingConnection&) = delete;

  using OnReply = std::function<Status(const redisReply&)>;

  // One command and its reply. `on_reply` sees no error: errors become the Status of errors.h.
  // Loads the scripts when the node does not know them. `asking`: the slot is moving to this node,
  // and its former node answered ASK.
  Status Call(const CommandBuffer& command, const OnReply& on_reply, bool asking = false);
  // `count` commands in one go; `on_reply` gets their replies in order. Stops at the first Status
  // that is not done, and closes the connection if replies are left unread.
  Status Pipeline(const CommandBuffer& commands, size_t count, const OnReply& on_reply);
  // The same, but `on_reply` also sees error replies, so one bad key does not end the others.
  Status PipelineRaw(const CommandBuffer& commands, size_t count, const OnReply& on_reply);
  // What the error of the last failed call asks for; kLeaveNode also when there was no answer.
  ErrorAction asks() const { return asks_; }

  // PipelineRaw without waiting: Look until it returns the Status. `on_reply` lives until then.
  void Begin(const CommandBuffer& commands, size_t count, const OnReply& on_reply);
  std::optional<Status> Look(Time now);
  // Waits until one of them has something to look at, or until then.
  static void Await(std::span<const BlockingConnection* const> any, Time until);
  bool open() const { return connection_ != nullptr; }
  void Close() { connection_.reset(); }
  // The last call failed because the node does not answer, or it was not asked since it rests.
  bool silent() const { return silent_; }

 private:
  void GoOn(Time now);
  void Take(const redisReply& reply);
  void Break(const std::string& why);

  const Options options_;
  std::unique_ptr<PipelinedConnection> connection_;
  // ---- the call under way, or the last one
  const OnReply* on_reply_ = nullptr;
  size_t unanswered_ = 0;
  Status status_;  // its first failure
  ErrorAction asks_ = ErrorAction::kNone;
  bool silent_ = false;
};

}  // namespace fanline::redis
