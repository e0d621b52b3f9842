// Cuts a TimelineBatch into script calls and writes them. Pure.
//
// On one node a call covers timelines of many buckets; the keys of a call are still grouped by
// bucket, each with its own:, live: and edge:, so that a call per bucket (Redis Cluster, where
// buckets move between nodes) is the same call with one group.
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

// At most keys_per_call writes each, and about bytes_per_call at most (a single write may exceed
// it). An empty batch has no part.
std::vector<BatchPart> CutBatch(const TimelineBatch& batch, const Options& options);

// A run of writes of one bucket within a part.
struct BucketRun {
  Bucket bucket = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};
std::vector<BucketRun> RunsOf(const TimelineBatch& batch, BatchPart part);

// SMISMEMBER live:{tag} #complete reader...: who can be left out.
void EncodePrune(const TimelineBatch& batch, const BucketRun& run, CommandBuffer& out);

// The call of apply.lua for those of `runs` whose `keep` (by write, from runs.front().first on) is
// set. All buckets are fenced, also those of which nothing is kept.
void EncodeApply(const TimelineBatch& batch, std::span<const BucketRun> runs,
                 const std::vector<bool>& keep, const Options& options, std::string_view digest,
                 CommandBuffer& out);

}  // namespace fanline::redis
