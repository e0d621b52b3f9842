// Carries out one TimelineBatch, cut into parts. Where it pays (PruneGate), a part first asks
// live: which readers it can leave out. It then writes the timelines of the others,
// timelines_per_call in a script call, one call after the other. Redis serves all commands that a
// connection has sent before it turns to the next connection, so calls sent ahead would make a
// reader's page wait. The calls are independent and idempotent. The first failure is the answer for
// the whole batch, which is then sent again as a whole.
#pragma once

#include <memory>
#include <vector>

#include "backends/redis/client/command_channel.h"
#include "backends/redis/keys.h"

namespace fanline::redis {

// Writes [first, last) of a batch that belong together.
struct BatchPart {
  uint32_t first = 0;
  uint32_t last = 0;
};

// Each part has at most keys_per_call writes. An empty batch has no part.
std::vector<BatchPart> CutBatch(const TimelineBatch& batch, const Options& options);

// The next call of a part: starts after its `done` writes, has at most timelines_per_call writes to
// `keep`, and of several no more than kMostArguments.
BatchPart NextCall(const TimelineBatch& batch, BatchPart part, const std::vector<bool>& keep,
                   uint32_t done, const Options& options);

// SMISMEMBER live:{tag} #complete reader...: asks which readers can be left out.
CommandBuffer EncodePrune(const TimelineBatch& batch, BatchPart part, const Keys& keys);

// The call of apply.lua for the writes whose `keep` is set (keep[0]: write call.first). It checks
// the fence even if no write is left.
CommandBuffer EncodeApply(const TimelineBatch& batch, BatchPart call, const std::vector<bool>& keep,
                          const Options& options, const Keys& keys);

// Whether it pays to ask live: before a script call. Per reader, the question costs about a tenth
// of a write, and saves most of a write if the reader is left out. So it pays when enough readers
// were not live lately, which every call tells, asked or not. One thread.
class PruneGate {
 public:
  static constexpr double kWorthAsking = 0.1;  // the share of readers not live
  static constexpr double kMemory = 2'000;     // readers; recent ones count most

  bool open() const { return not_live_ >= kWorthAsking; }

  void Note(size_t readers, size_t not_live) {
    if (readers == 0) return;
    const auto seen = static_cast<double>(readers);
    not_live_ += (static_cast<double>(not_live) / seen - not_live_) * seen / (seen + kMemory);
  }

 private:
  double not_live_ = 1;  // a share; 1 at first: ask
};

class BatchJob : public std::enable_shared_from_this<BatchJob> {
 public:
  // `options`, `keys` and `gate` outlive the job.
  BatchJob(TimelineBatch batch, const Options& options, const Keys& keys, PruneGate& gate,
           std::function<void()> part_done, Answer<BatchWritten> answer);

  bool has_more() const { return next_part_ < parts_.size() || parts_.empty(); }
  // Starts the next part, which has one call under way at a time. A part's end calls part_done; the
  // last one also answers the batch.
  void StartPart(CommandChannel& channel);

 private:
  struct Part {
    BatchPart span;
    std::vector<bool> keep;  // by write, from span.first on
    uint32_t done = 0;       // its writes that are answered
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
