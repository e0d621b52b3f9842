#include "backends/redis/live_timelines.h"

#include "backends/redis/node.h"
#include "fanline/check.h"

namespace fanline::redis {

RedisLiveTimelines::RedisLiveTimelines(const Options& options, LogSink log, OnState on_state)
    : layout_(options.partitions) {
  FANLINE_CHECK(Problem(options).empty(), "options of redis that cannot work");
  nodes_.push_back(std::make_unique<Node>(options, layout_, std::move(on_state), std::move(log)));
}

RedisLiveTimelines::~RedisLiveTimelines() = default;

// With one node every bucket is on it. This is where a request would be routed by bucket.
void RedisLiveTimelines::Take(OfEach<Asked> asked) { nodes_.front()->Submit(std::move(asked)); }

bool RedisLiveTimelines::connected() const { return nodes_.front()->connected(); }
std::string RedisLiveTimelines::reason() const { return nodes_.front()->reason(); }

}  // namespace fanline::redis
