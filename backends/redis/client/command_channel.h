// How a request's job sends commands on its connection, and what it gets back. One thread: the
// node's.
#pragma once

#include <functional>

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
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
  using Done = std::function<void(const CallResult&)>;

  virtual ~CommandChannel() = default;

  // Sends the one command and calls `done` with its answer. If the node has forgotten the scripts,
  // they are loaded and the command is sent once more. After the connection is lost `done` is not
  // called.
  virtual void Call(CommandBuffer command, Done done) = 0;
};

// How a request's job hands over its reply: at most once. If the connection is lost first, the node
// answers instead.
template <class Reply>
using Answer = std::function<void(Reply)>;

}  // namespace fanline::redis
