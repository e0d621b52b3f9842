// The port LiveTimelines on a real Redis (fanline/live_timelines.h says what each request means,
// schemas/redis/README.md what is stored).
//
// Replies come in batches from the adapter's own thread: hand them to the logic's inbox and return.
// Submit may be called from any thread and never blocks. When the node is away every request is
// answered kLater ("redis") at once; connecting again, with back-off, is the adapter's business.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/redis/options.h"
#include "fanline/live_timelines.h"
#include "fanline/log_sink.h"

namespace fanline::redis {

class Node;

class RedisLiveTimelines : public LiveTimelines {
 public:
  using OnReplies = std::function<void(std::vector<TimelineReply>)>;
  // Told of each change, for readiness; `reason` says why it is not connected.
  using OnState = std::function<void(bool connected, const std::string& reason)>;

  // `options` must have no Problem(). Starts to connect at once.
  RedisLiveTimelines(const Options& options, OnReplies on_replies, LogSink log,
                     OnState on_state = nullptr);
  ~RedisLiveTimelines() override;  // what is unanswered stays so

  void Submit(TimelineRequest request) override;

  bool connected() const;
  std::string reason() const;  // why not; empty when connected

 private:
  Node& NodeOf(const TimelineRequest& request);

  RangeLayout layout_;
  std::vector<std::unique_ptr<Node>> nodes_;  // one: all buckets live on it
};

}  // namespace fanline::redis
