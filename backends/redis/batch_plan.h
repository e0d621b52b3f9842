// Cuts a TimelineBatch into script calls and writes them. Pure.
//
// On one node a call covers timelines of many buckets. Its keys are still grouped by bucket, each
// group with its keys own:, live: and edge:. A call per bucket (for Redis Cluster, where buckets
// move between nodes) is the same call with one group.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::redis {

// Writes [first, last) of a batch that go into one call.
struct BatchPart {
  uint32_t first = 0;
  uint32_t last = 0;
};

// Each part has at most keys_per_call writes and about bytes_per_call (a single write may exceed
// it). An empty batch has no part.
std::vector<BatchPart> CutBatch(const TimelineBatch& batch, const Options& options);

// A run of writes of one bucket within a part.
struct BucketRun {
  Bucket bucket = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};
std::vector<BucketRun> RunsOf(const TimelineBatch& batch, BatchPart part);

// SMISMEMBER live:{tag} #complete reader...: asks which readers can be left out.
void EncodePrune(const TimelineBatch& batch, const BucketRun& run, CommandBuffer& out);

// The call of apply.lua for the writes of `runs` whose `keep` is set (keep[0]: write
// runs.front().first). All buckets are fenced, also those without a kept write.
void EncodeApply(const TimelineBatch& batch, std::span<const BucketRun> runs,
                 const std::vector<bool>& keep, const Options& options, std::string_view digest,
                 CommandBuffer& out);

}  // namespace fanline::redis
