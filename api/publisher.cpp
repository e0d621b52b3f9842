#include "api/publisher.h"

#include <utility>

#include "fanline/model/created_at.h"
#include "fanline/wire/event_codec.h"

namespace fanline::api {
namespace {

Problem LogAway() {
  return {Code::kLogUnavailable,
          "Kafka did not acknowledge it in time. It may have been accepted all the same: send the "
          "same again, with the same post_id; that is safe"};
}

}  // namespace

void Publisher::Publish(FeedEvent event, std::string_view route, Answer answer) {
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

void Publisher::Push(const EventAppended& reply) {
  std::unique_lock lock(mutex_);
  const auto open = open_.extract(reply.id);
  lock.unlock();
  if (open.empty()) return;
  const auto& [event, route, answer] = open.mapped();
  if (reply.status.done()) return answer({.status = 202, .body = EncodeEventJson(event)});
  metrics_.StoreFailed(route, reply.status.resource, reply.status.message);
  answer(ToResponse(reply.status.later() ? LogAway() : ProblemOfStatus(500)));
}

}  // namespace fanline::api
