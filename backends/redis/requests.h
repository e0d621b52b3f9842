// Encodes the requests that are one script call each, and parses their answers. Pure. A batch and a
// reset take more calls: batch_job.h, reset_walk.h.
#pragma once

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/keys.h"
#include "fanline/ports/live_timelines.h"

struct redisReply;

namespace fanline::redis {

CommandBuffer Encode(const ClaimRange& request, const Options& options, const Keys& keys);
CommandBuffer Encode(const ReadNews& request, const Options& options, const Keys& keys);
CommandBuffer Encode(const SavePosition& request, const Options& options, const Keys& keys);
CommandBuffer Encode(const ApplySync& request, const Options& options, const Keys& keys);
CommandBuffer Encode(const SetMutes& request, const Options& options, const Keys& keys);
CommandBuffer Encode(const DropTimeline& request, const Options& options, const Keys& keys);
CommandBuffer Encode(const MarkPart& request, const Options& options, const Keys& keys);

// `reply` is not an error. An answer of an unexpected shape is kLater. `layout`: as for the keys.
RangeClaimed Parse(const ClaimRange&, const redisReply& reply, const RangeLayout& layout);
NewsRead Parse(const ReadNews&, const redisReply& reply, const RangeLayout& layout);
PositionSaved Parse(const SavePosition&, const redisReply& reply, const RangeLayout& layout);
SyncApplied Parse(const ApplySync&, const redisReply& reply, const RangeLayout& layout);
MutesSet Parse(const SetMutes&, const redisReply& reply, const RangeLayout& layout);
TimelineDropped Parse(const DropTimeline&, const redisReply& reply, const RangeLayout& layout);
PartMarked Parse(const MarkPart&, const redisReply& reply, const RangeLayout& layout);

// The log whose hints pos:{tag} counts: "generation.ranges". Programs with another number of ranges
// use the same key names for other readers.
std::string LogOf(uint64_t generation, const RangeLayout& layout);
// pos:{tag}: "generation.ranges:offset", and for each begun unit
// ";offset,hints,content,reader,delivered". ParsePosition: nothing for a text that TextOf would not
// write for this layout.
std::string TextOf(const AppliedPosition& position, const RangeLayout& layout);
std::optional<AppliedPosition> ParsePosition(std::string_view text, const RangeLayout& layout);

}  // namespace fanline::redis
