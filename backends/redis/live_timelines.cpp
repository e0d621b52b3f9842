#include "backends/redis/live_timelines.h"

#include "backends/redis/node.h"

namespace fanline::redis {

RedisLiveTimelines::RedisLiveTimelines(const Options& options, LogSink log, OnState on_state)
    : node_(std::make_unique<Node>(options, std::move(on_state), std::move(log))) {}

RedisLiveTimelines::~RedisLiveTimelines() = default;

// With one node every range is on it. This is where a request would be routed by range.
void RedisLiveTimelines::Take(OfEach<Asked> asked) { node_->Submit(std::move(asked)); }

}  // namespace fanline::redis
