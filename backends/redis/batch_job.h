// Carries out one TimelineBatch, cut into parts. Where it pays (prune_gate.h), a part first asks
// live: which readers it can leave out. It then writes the others' timelines, so many in a script
// call, one call after the other: Redis carries out whatever one connection has sent ahead before
// it looks at the next, and a reader's page would wait for all of it. The calls are independent and
// idempotent: the first failure is the answer for the whole batch, which is then sent again as a
// whole.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "backends/redis/client/command_channel.h"
#include "backends/redis/keys.h"
#include "backends/redis/prune_gate.h"

namespace fanline::redis {

// Writes [first, last) of a batch that belong together.
struct BatchPart {
  uint32_t first = 0;
  uint32_t last = 0;
};

// Each part has at most keys_per_call writes and about bytes_per_call (a single write may exceed
// it). An empty batch has no part.
std::vector<BatchPart> CutBatch(const TimelineBatch& batch, const Options& options);

// The next call of a part: behind the `done` writes of it, as far as `most` of those to `keep` go.
BatchPart NextCall(BatchPart part, const std::vector<bool>& keep, uint32_t done, uint32_t most);

// SMISMEMBER live:{tag} #complete reader...: asks which readers can be left out.
void EncodePrune(const TimelineBatch& batch, BatchPart part, const Keys& keys, CommandBuffer& out);

// The call of apply.lua for those writes whose `keep` is set (keep[0]: write call.first). It
// fences, also when no write is left.
void EncodeApply(const TimelineBatch& batch, BatchPart call, const std::vector<bool>& keep,
                 const Options& options, const Keys& keys, std::string_view digest,
                 CommandBuffer& out);

class BatchJob : public std::enable_shared_from_this<BatchJob> {
 public:
  // `options`, `keys` and `gate` outlive the job.
  BatchJob(TimelineBatch batch, const Options& options, const Keys& keys, PruneGate& gate,
           std::function<void()> part_done, Answer<BatchWritten> answer);

  bool has_more() const { return next_part_ < parts_.size() || parts_.empty(); }
  // Starts the next part, which has one call under way until its end. Each ends with part_done, the
  // last one with the batch's answer as well.
  void StartPart(CommandChannel& channel);

 private:
  struct Part {
    BatchPart span;
    std::vector<bool> keep;  // by write, from span.first on
    uint32_t done = 0;       // so many of its writes have an answer
  };
  void Prune(CommandChannel& channel, std::shared_ptr<Part> part);
  void Apply(CommandChannel& channel, std::shared_ptr<Part> part);
  void FinishPart();
  void TakeIndex(Part& part, const CallResult& result);
  bool TakeResults(const Part& part, BatchPart call, const redisReply& reply);
  bool Fail(const CallResult& result);

  const TimelineBatch batch_;
  const Options& options_;
  const Keys& keys_;
  PruneGate& gate_;
  const std::function<void()> part_done_;
  const Answer<BatchWritten> answer_to_;
  std::vector<BatchPart> parts_;
  size_t next_part_ = 0;
  size_t finished_ = 0;
  BatchWritten answer_;
};

}  // namespace fanline::redis
