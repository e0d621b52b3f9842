#include "backends/redis/batch_job.h"

#include "backends/redis/client/errors.h"
#include "backends/redis/client/reply.h"

namespace fanline::redis {

struct BatchJob::Part {
  std::vector<BucketRun> runs;
  std::vector<bool> keep;  // by write, from runs.front().first on
  size_t runs_pruned = 0;
};

BatchJob::BatchJob(TimelineBatch batch, const Options& options, PruneGate& gate,
                   std::function<void()> part_done, Answer<BatchWritten> answer)
    : batch_(std::move(batch)),
      options_(options),
      gate_(gate),
      part_done_(std::move(part_done)),
      answer_to_(std::move(answer)),
      parts_(CutBatch(batch_, options)) {
  answer_.results.assign(batch_.writes.size(), BatchWritten::kNotLive);
}

void BatchJob::StartPart(CommandChannel& channel) {
  if (parts_.empty()) {  // a batch of nothing
    parts_.resize(1);
    next_part_ = 1;
    FinishPart();
    return;
  }
  auto part = std::make_shared<Part>();
  const BatchPart span = parts_[next_part_++];
  part->runs = RunsOf(batch_, span);
  part->keep.assign(span.last - span.first, true);
  if (gate_.open()) {
    Prune(channel, part);
  } else {
    Apply(channel, part);
  }
}

void BatchJob::Prune(CommandChannel& channel, std::shared_ptr<Part> part) {
  for (size_t r = 0; r < part->runs.size(); ++r) {
    channel.Call(
        [self = shared_from_this(), part, r](CommandBuffer& out, const ScriptDigests&) {
          EncodePrune(self->batch_, part->runs[r], out);
        },
        [self = shared_from_this(), part, r, &channel](const CallResult& result) {
          const BucketRun& run = part->runs[r];
          // No answer, or no header: nobody is left out, the script looks for itself.
          const bool usable = result.reply != nullptr &&
                              IsArray(*result.reply, 1 + run.last - run.first) &&
                              Integer(At(*result.reply, 0)) == 1;
          for (uint32_t write = run.first; usable && write < run.last; ++write) {
            if (Integer(At(*result.reply, 1 + write - run.first)) != 0) continue;
            part->keep[write - part->runs.front().first] = false;
            ++self->answer_.pruned;
          }
          if (++part->runs_pruned == part->runs.size()) self->Apply(channel, part);
        });
  }
}

void BatchJob::Apply(CommandChannel& channel, std::shared_ptr<Part> part) {
  channel.Call(
      [self = shared_from_this(), part](CommandBuffer& out, const ScriptDigests& digests) {
        EncodeApply(self->batch_, part->runs, part->keep, self->options_,
                    digests.Of(Script::kApply), out);
      },
      [self = shared_from_this(), part](const CallResult& result) {
        if (result.status.done()) {
          self->TakeResults(*part, *result.reply);
        } else {
          self->Fail(result);
        }
        self->FinishPart();
      });
}

void BatchJob::FinishPart() {
  part_done_();
  if (++finished_ == parts_.size()) answer_to_(std::move(answer_));
}

void BatchJob::Fail(const CallResult& result) {
  answer_.needs_claim = answer_.needs_claim || result.needs_claim;
  if (answer_.status.done()) answer_.status = result.status;
}

// 'x' failed, '-' not live, '0'.. live with so many new items.
void BatchJob::TakeResults(const Part& part, const redisReply& reply) {
  const CallResult unexpected{Away("unexpected answer of script apply"), false, nullptr};
  if (!IsArray(reply, 6)) return Fail(unexpected);
  const std::string_view bytes = Text(At(reply, 0));
  size_t next = 0;
  size_t not_live = 0;
  const uint32_t base = part.runs.front().first;
  for (size_t i = 0; i < part.keep.size(); ++i) {
    not_live += !part.keep[i];
    if (!part.keep[i]) continue;
    if (next == bytes.size()) return Fail(unexpected);
    const char byte = bytes[next++];
    answer_.results[base + i] = byte == 'x'   ? BatchWritten::kKeyFailed
                                : byte == '-' ? BatchWritten::kNotLive
                                              : static_cast<int8_t>(byte - '0');
    not_live += byte == '-';
  }
  gate_.Saw(part.keep.size(), not_live);
  answer_.removed += static_cast<uint64_t>(Integer(At(reply, 1)).value_or(0));
  answer_.trimmed += static_cast<uint64_t>(Integer(At(reply, 2)).value_or(0));
  answer_.underfilled += static_cast<uint64_t>(Integer(At(reply, 3)).value_or(0));
  answer_.full += static_cast<uint64_t>(Integer(At(reply, 5)).value_or(0));
  if (answer_.key_error.empty()) answer_.key_error = Text(At(reply, 4));
}

}  // namespace fanline::redis
