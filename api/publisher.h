// Publishes events about posts: appends each to feed-events, and answers its request when the
// brokers have acknowledged it. When Kafka is away, the answer is 503 after the log's own time
// limit; no thread waits meanwhile.
// After a 503 the event may still be in the log. Sending it again is safe: the first created_at
// wins, and nothing else changes.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/metrics.h"
#include "api/operations/call.h"
#include "fanline/base/time.h"
#include "fanline/model/created_at.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/wire/event_codec.h"

namespace fanline::api {

class Publisher {
 public:
  // At most `most_open` events wait for their acknowledgement; more are refused as overload. All
  // outlive it, except `log`, which answers open requests before it is destroyed.
  Publisher(Serves<AppendEvent>& log, size_t most_open, Metrics& metrics,
            std::function<Now()> clock)
      : log_(log, *this), most_open_(most_open), metrics_(metrics), clock_(std::move(clock)) {}

  // Called once, on any thread, also within Publish.
  using Answer = std::function<void(Response)>;
  // `route` is of a static table. A post without a time is published now.
  void Publish(FeedEvent event, std::string_view route, Answer answer) {
    if (event.kind == EventKind::kPublished) {
      const UnixMs now = clock_().unix_ms;
      if (event.created_at == 0) event.created_at = now;
      if (const std::string why = WhyNotTaken(event.created_at, now); !why.empty()) {
        return answer(
            ToResponse({Code::kBadBody, "created_at_ms: " + why, "", {{"created_at_ms", why}}}));
      }
    }
    std::unique_lock lock(mutex_);
    if (open_.size() >= most_open_) {
      lock.unlock();
      return answer(ToResponse(
          {Code::kOverloaded, "too many events wait for Kafka; send this one again later"}));
    }
    const uint64_t id = ++last_id_;
    open_.emplace(id, Open{event, route, std::move(answer)});
    lock.unlock();
    log_.Submit(AppendEvent{id, event});
  }

  // All of them, at least one. `answer` gets `done`, or what one of them was refused with: then the
  // others may have been published, and all may be sent again.
  void PublishAll(const std::vector<FeedEvent>& events, std::string_view route,
                  const Response& done, Answer answer) {
    struct All {
      std::mutex mutex;
      size_t open = 0;
      Response response;
      Answer answer;
    };
    const auto all = std::make_shared<All>();
    all->open = events.size();
    all->response = done;
    all->answer = std::move(answer);
    for (const FeedEvent& event : events) {
      Publish(event, route, [all](Response response) {
        std::unique_lock lock(all->mutex);
        if (response.status != 202) all->response = std::move(response);
        if (--all->open > 0) return;
        lock.unlock();
        all->answer(std::move(all->response));
      });
    }
  }

  // The replies.
  void Push(const EventAppended& reply) {
    std::unique_lock lock(mutex_);
    const auto open = open_.extract(reply.id);
    lock.unlock();
    if (open.empty()) return;
    const auto& [event, route, answer] = open.mapped();
    if (reply.status.done()) return answer({.status = 202, .body = EncodeEventJson(event)});
    metrics_.Note(route, reply.status);
    const Problem away{Code::kLogUnavailable,
                       "Kafka did not acknowledge it in time. It may have been accepted all the "
                       "same: send the same again, with the same post_id; that is safe"};
    answer(ToResponse(reply.status.later() ? away : ProblemOfStatus(500)));
  }

 private:
  struct Open {
    FeedEvent event;
    std::string_view route;
    Answer answer;
  };

  const Port<AppendEvent> log_;
  const size_t most_open_;
  Metrics& metrics_;
  const std::function<Now()> clock_;

  std::mutex mutex_;
  std::unordered_map<uint64_t, Open> open_;  // under mutex_
  uint64_t last_id_ = 0;                     // under mutex_
};

}  // namespace fanline::api
