#include "api/handler.h"

#include <string_view>
#include <variant>

#include "api/door.h"
#include "api/operations/bounds.h"
#include "api/operations/routes.h"

namespace fanline::api {
namespace {

Problem NothingIsPublished() {
  return {Code::kNotImplemented,
          "nothing is published here: start fanline-api with --kafka-brokers, or append the event "
          "to feed-events yourself"};
}

}  // namespace

http::Limits HttpLimits(const Limits& limits) {
  return {
      .request_line = kMostRequestLineBytes,
      .head = kMostHeadBytes,
      .body = kMostBodyBytes,
      .connections = limits.connections,
      .idle_time = std::chrono::duration_cast<std::chrono::milliseconds>(limits.idle_time),
      // Each connection to Redis keeps at most one thread busy.
      .threads = limits.page_threads + 2,
  };
}

Response Handler::Refuse(int status, const std::string& detail) {
  metrics_.Answered("other", status, Duration::zero());
  return ToResponse(ProblemOfStatus(status, detail));
}

void Handler::Serve(Request request, Answer reply) {
  const Time begin = clock_().mono;
  const auto answer = [this, begin, reply = std::move(reply)](std::string_view route,
                                                              Response response) {
    metrics_.Answered(route, response.status, clock_().mono - begin);
    reply(std::move(response));
  };
  const auto match = Match(request.method, request.path);
  if (const auto* problem = std::get_if<Problem>(&match)) {
    return answer("other", ToResponse(*problem));
  }
  const auto& [row, segments] = std::get<RouteMatch>(match);
  const std::string_view route = row->name;  // of a static table
  if (const auto refused = RefusedAtTheDoor(request, allowed_origins_)) {
    return answer(route, ToResponse(*refused));
  }
  Call call;
  try {
    call = row->read(Asked(segments, request));
  } catch (const Refused& refused) {
    return answer(route, ToResponse(refused.problem));
  }
  if (call.event) {
    if (publisher_ == nullptr) return answer(route, ToResponse(NothingIsPublished()));
    return publisher_->Publish(*call.event, route, [answer, route](Response response) {
      answer(route, std::move(response));
    });
  }
  Exchange::Answered answered = [this, answer, route, alive = request.alive](Response response,
                                                                             const Status& failed) {
    metrics_.Note(route, failed);
    // It may have been dropped for that, and is no sign of overload.
    const bool left = Turn{.alive = alive}.Dead();
    if (left && failed.cause == Cause::kOverloaded) response = ToResponse(ClientLeft());
    answer(route, std::move(response));
  };
  if (call.find) {
    if (publisher_ == nullptr) return answer(route, ToResponse(NothingIsPublished()));
    call.begin = [this, route, find = std::move(call.find)](Exchange& shards) {
      find(shards,
           [this, route, &shards](const std::vector<FeedEvent>& events, const Response& done) {
             publisher_->PublishAll(
                 events, route, done, [exchange = shards.shared_from_this()](Response response) {
                   exchange->Take(
                       [exchange, response = std::move(response)] { exchange->Answer(response); });
                 });
           });
    };
  }
  if (call.page != nullptr) {
    return pages_.Serve(call.page, route, request.alive, std::move(answered));
  }
  relations_.Begin(call, request.alive, std::move(answered));
}

}  // namespace fanline::api
