// The requests that are one script call each: how they are written, how the answer is read. Pure.
// A batch and a reset are more than one call: batch_job.h, reset_walk.h.
#pragma once

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/client/scripts.h"
#include "backends/redis/keys.h"
#include "fanline/ports/live_timelines.h"

struct redisReply;

namespace fanline::redis {

struct Encoder {
  const Options& options;
  const Keys& keys;
  const ScriptDigests& digests;
  CommandBuffer& out;

  void operator()(const ClaimRange& request) const;
  void operator()(const SavePosition& request) const;
  void operator()(const ReadTimeline& request) const;
  void operator()(const ApplySync& request) const;
  void operator()(const DropTimeline& request) const;
  void operator()(const MarkPart& request) const;
};

// `reply` is no error. An answer of another shape than the script gives is kLater.
RangeClaimed Parse(const ClaimRange&, const redisReply& reply);
PositionSaved Parse(const SavePosition&, const redisReply& reply);
TimelineRead Parse(const ReadTimeline&, const redisReply& reply);
SyncApplied Parse(const ApplySync&, const redisReply& reply);
TimelineDropped Parse(const DropTimeline&, const redisReply& reply);
PartMarked Parse(const MarkPart&, const redisReply& reply);

// pos:{tag}: "generation:offset". Nothing for any text that TextOf does not write.
std::string TextOf(const AppliedPosition& position);
std::optional<AppliedPosition> ParsePosition(std::string_view text);

}  // namespace fanline::redis
