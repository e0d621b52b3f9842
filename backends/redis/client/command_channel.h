// What a request's job may ask of the connection it runs on, and what comes back. One thread: the
// node's.
#pragma once

#include <functional>

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/client/scripts.h"
#include "fanline/base/outcome.h"
#include "fanline/ports/live_timelines.h"

struct redisReply;

namespace fanline::redis {

struct CallResult {
  Status status;
  bool needs_claim = false;
  const redisReply* reply = nullptr;  // set when status is done; valid during the callback
};

class CommandChannel {
 public:
  using Encode = std::function<void(CommandBuffer& out, const ScriptDigests& digests)>;
  using Done = std::function<void(const CallResult&)>;

  virtual ~CommandChannel() = default;

  // Appends the command that `encode` writes (exactly one) and calls `done` with its answer. When
  // the node has forgotten the scripts, they are loaded and `encode` is called once more: what it
  // refers to must live until `done`. Neither is called after the connection is lost.
  virtual void Call(Encode encode, Done done) = 0;
};

// How a request's job hands over its reply. Called once, or never when the connection is lost first
// (the node answers then).
template <class Reply>
using Answer = std::function<void(Reply)>;

}  // namespace fanline::redis
