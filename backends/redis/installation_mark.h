// One key that says whose keys these are. Its value is the installation's topic generation, which
// feedctl init draws at random. Two installations with the same Redis and prefix notice each other
// by it before either writes a timeline.
// A starting program writes it if it is missing, and so does the pusher that claims range 0. So a
// Redis that comes back empty (FLUSHALL, a lost node) is marked again as soon as it is used. It
// lies in the slot of range 0, on the node that serves that range.
#pragma once

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

// Two commands: the first writes a missing mark, the second reads the mark.
inline CommandBuffer MarkCommand(const Options& options, const Keys& keys) {
  return CommandOf("SET", keys.Installation(), options.generation, "NX");
}
inline CommandBuffer AskMarkCommand(const Keys& keys) {
  return CommandOf("MGET", keys.Installation());
}

// Judges the answer to the second. Never: the keys are another installation's; the message says
// what to do.
inline Status JudgeMark(const Options& options, const redisReply& answer) {
  const std::string ours = std::to_string(options.generation);
  const std::string found(IsArray(answer, 1) ? Text(At(answer, 0)) : std::string_view());
  // Empty: deleted between the two commands, or not a string. The next check will tell.
  if (found.empty() || found == ours) return Status::Done();
  return Status::Never("this Redis holds the keys of installation " + found + ", this one is " +
                       ours +
                       ": give one of them a --redis-key-prefix of its own, in all its programs "
                       "(or, when the other is no more, run feedctl timelines drop)");
}

// Sends both, blocking. Later: the server could not be asked. A caller that asks repeatedly keeps
// the connections in `masters`, made with the same options.
inline Status CheckMark(const Options& options, Masters& masters) {
  const Keys keys(options);
  const Bucket home = keys.Home(Range{0});
  const Status marked = masters.Call(home, MarkCommand(options, keys),
                                     [](const redisReply&) { return Status::Done(); });
  if (!marked.done()) return marked;
  return masters.Call(home, AskMarkCommand(keys),
                      [&](const redisReply& answer) { return JudgeMark(options, answer); });
}
inline Status CheckMark(const Options& options) {
  Masters masters(options);
  return CheckMark(options, masters);
}

}  // namespace fanline::redis
