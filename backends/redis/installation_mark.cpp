#include "backends/redis/installation_mark.h"

#include "backends/redis/client/reply.h"
#include "backends/redis/cluster/masters.h"

namespace fanline::redis {

CommandBuffer MarkCommand(const Options& options, const Keys& keys) {
  return CommandOf("SET", keys.Installation(), options.generation, "NX");
}

CommandBuffer AskMarkCommand(const Keys& keys) { return CommandOf("MGET", keys.Installation()); }

Status JudgeMark(const Options& options, const redisReply& answer) {
  const std::string ours = std::to_string(options.generation);
  const std::string found(IsArray(answer, 1) ? Text(At(answer, 0)) : std::string_view());
  // Empty: deleted between the two commands, or not a string. The next check will tell.
  if (found.empty() || found == ours) return Status::Done();
  return Status::Never("this Redis holds the keys of installation " + found + ", this one is " +
                       ours +
                       ": give one of them a --redis-key-prefix of its own, in all its programs "
                       "(or, when the other is no more, run feedctl timelines drop)");
}

Status CheckMark(const Options& options) {
  Masters masters(options);
  return CheckMark(options, masters);
}

Status CheckMark(const Options& options, Masters& masters) {
  const Keys keys(options);
  const Bucket home = keys.Home(Range{0});
  const Status marked = masters.Call(home, MarkCommand(options, keys),
                                     [](const redisReply&) { return Status::Done(); });
  if (!marked.done()) return marked;
  return masters.Call(home, AskMarkCommand(keys),
                      [&](const redisReply& answer) { return JudgeMark(options, answer); });
}

}  // namespace fanline::redis
