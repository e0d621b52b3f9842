#include "api/handler.h"

#include <exception>
#include <memory>
#include <string_view>
#include <variant>

#include "api/door.h"
#include "api/operations/bounds.h"
#include "api/operations/routes.h"

namespace fanline::api {
namespace {

struct Performed {
  Response response;
  Status failed;  // not done: the store's own words, which clients never see
};

Performed Perform(const Call& call, RelationStore& store, const Context& context) {
  try {
    Response response;
    response.body =
        call.perform(store, context).dump(-1, ' ', false, Json::error_handler_t::replace);
    return {std::move(response), Status::Done()};
  } catch (const Refused& refused) {
    return {ToResponse(refused.problem), Status::Done()};
  } catch (const StoreFailed& failed) {
    const Problem problem = failed.status.later() ? StoreAway() : ProblemOfStatus(500);
    return {ToResponse(problem), failed.status};
  } catch (const std::exception& error) {
    return {ToResponse(ProblemOfStatus(500)), Status::Never(error.what())};
  }
}

Problem NothingIsPublished() {
  return {Code::kNotImplemented,
          "nothing is published here: start fanline-api with --kafka-brokers, or append the event "
          "to feed-events yourself"};
}

}  // namespace

http::Limits HttpLimits(const Limits& limits) {
  http::Limits http;
  http.body = kMostBodyBytes;
  http.request_line = kMostRequestLineBytes;
  http.head = kMostHeadBytes;
  http.connections = limits.connections;
  http.idle_time = std::chrono::duration_cast<std::chrono::milliseconds>(limits.idle_time);
  // Each store, and each connection to Redis, keeps at most one thread busy.
  http.threads = limits.threads + limits.page_threads + 1;
  return http;
}

Response Handler::Refuse(int status, const std::string& detail) {
  Problem problem = ProblemOfStatus(status);
  if (!detail.empty()) problem.detail = detail;
  metrics_.Answered("other", status, Duration::zero());
  return ToResponse(problem);
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
  std::shared_ptr<const Call> call;
  try {
    call = std::make_shared<const Call>(row->read(Asked(segments, request)));
  } catch (const Refused& refused) {
    return answer(route, ToResponse(refused.problem));
  }
  if (call->page != nullptr) {
    return pages_.Serve(call->page, route,
                        [answer, route](Response response) { answer(route, std::move(response)); });
  }
  if (call->event) {
    if (publisher_ == nullptr) return answer(route, ToResponse(NothingIsPublished()));
    return publisher_->Publish(*call->event, route, [answer, route](Response response) {
      answer(route, std::move(response));
    });
  }
  stores_.Submit(
      Touched::Of(call->owners, map_),
      [this, answer, route, call](RelationStore* store, StorePool::Refusal refusal) {
        if (store == nullptr) return answer(route, ToResponse(ProblemOf(refusal)));
        Performed performed = Perform(*call, *store,
                                      {.unix_us = static_cast<uint64_t>(clock_().unix_ms) * 1000,
                                       .following_limit = limits_.following_limit});
        if (!performed.failed.done()) {
          metrics_.StoreFailed(route, performed.failed.resource, performed.failed.message);
        }
        answer(route, std::move(performed.response));
      },
      true);
}

}  // namespace fanline::api
