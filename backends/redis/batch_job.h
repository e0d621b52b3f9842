// Carries out one TimelineBatch: timelines_per_call in a script call, one call after the other.
// Redis serves all commands that a connection has sent before it turns to the next connection, so
// calls sent ahead would make a reader's page wait. The calls are independent and idempotent. The
// first failure is the answer for the whole batch, which is then sent again as a whole.
#pragma once

#include <functional>
#include <memory>

#include "backends/redis/client/command_channel.h"
#include "backends/redis/keys.h"

namespace fanline::redis {

// Writes [first, last) of a batch, which go in one call.
struct BatchCall {
  uint32_t first = 0;
  uint32_t last = 0;
};

// The call that begins with write `first`: has at most timelines_per_call writes, and of several no
// more than kMostArguments.
BatchCall NextCall(const TimelineBatch& batch, uint32_t first, const Options& options);

// The call of apply.lua. It checks the fence even if the batch is empty.
CommandBuffer EncodeApply(const TimelineBatch& batch, BatchCall call, const Options& options,
                          const Keys& keys);

class BatchJob : public std::enable_shared_from_this<BatchJob> {
 public:
  // `options` and `keys` outlive the job.
  BatchJob(TimelineBatch batch, const Options& options, const Keys& keys,
           Answer<BatchWritten> answer);

  // Sends the next call, when none is under way. Its end calls `done` with whether there are more;
  // the last one also answers the batch.
  void StartCall(CommandChannel& channel, std::function<void(bool more)> done);

 private:
  bool TakeResults(BatchCall call, const redisReply& reply);
  bool Fail(const CallResult& result);

  const TimelineBatch batch_;
  const Options& options_;
  const Keys& keys_;
  const Answer<BatchWritten> answer_to_;
  uint32_t next_ = 0;  // the first write that was not sent yet
  BatchWritten answer_;
};

}  // namespace fanline::redis
