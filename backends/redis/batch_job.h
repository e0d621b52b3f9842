// Carries out one TimelineBatch, cut into calls. Where it pays (prune_gate.h), a call first asks
// live: which readers it can leave out. The calls are independent and idempotent: the first failure
// is the answer for the whole batch, which is then sent again as a whole.
#pragma once

#include <memory>

#include "backends/redis/batch_plan.h"
#include "backends/redis/client/command_channel.h"
#include "backends/redis/prune_gate.h"

namespace fanline::redis {

class BatchJob : public std::enable_shared_from_this<BatchJob> {
 public:
  // `options` and `gate` outlive the job.
  BatchJob(TimelineBatch batch, const Options& options, PruneGate& gate,
           std::function<void()> part_done, Answer<BatchWritten> answer);

  bool has_more() const { return next_part_ < parts_.size() || parts_.empty(); }
  // Starts the next call; each ends with part_done, the last one with the batch's answer as well.
  void StartPart(CommandChannel& channel);

 private:
  struct Part;
  void Prune(CommandChannel& channel, std::shared_ptr<Part> part);
  void Apply(CommandChannel& channel, std::shared_ptr<Part> part);
  void FinishPart();
  void TakeResults(const Part& part, const redisReply& reply);
  void Fail(const CallResult& result);

  const TimelineBatch batch_;
  const Options& options_;
  PruneGate& gate_;
  const std::function<void()> part_done_;
  const Answer<BatchWritten> answer_to_;
  std::vector<BatchPart> parts_;
  size_t next_part_ = 0;
  size_t finished_ = 0;
  BatchWritten answer_;
};

}  // namespace fanline::redis
