// Live timelines on a real Redis (fanline/ports/live_timelines.h says what each request means,
// schemas/redis/README.md what is stored).
//
// Replies come from the adapter's own thread, beyond max_requests from within Submit. While the
// node is away every request is answered kLater ("redis") at once, and the adapter reconnects with
// back-off.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backends/redis/answers.h"
#include "backends/redis/client/options.h"
#include "fanline/base/log_sink.h"

namespace fanline::redis {

class Node;

class RedisLiveTimelines final
    : public ServesAll<RedisLiveTimelines, ClaimRange, ResetRange, SavePosition, TimelineBatch,
                       ReadTimeline, ApplySync, DropTimeline, MarkPart> {
 public:
  // Called at each change, for readiness; `reason` says why it is not connected.
  using OnState = std::function<void(bool connected, const std::string& reason)>;

  // `options` must have no Problem(). Starts to connect at once.
  RedisLiveTimelines(const Options& options, LogSink log, OnState on_state = nullptr);
  ~RedisLiveTimelines() override;  // open requests stay unanswered

  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    Take(Asked<R>{std::move(request), to});
  }

 private:
  void Take(OfEach<Asked> asked);

  const std::unique_ptr<Node> node_;  // one: all ranges live on it
};

}  // namespace fanline::redis
