#include "api/handler.h"

#include <exception>
#include <memory>
#include <string_view>

#include "api/operations.h"
#include "api/requests.h"
#include "api/routes.h"
#include "api/touched.h"

namespace fanline::api {
namespace {

Problem ProblemOf(StorePool::Refusal refusal) {
  if (refusal == StorePool::Refusal::kShardAway) return StoreAway();
  return {Code::kOverloaded, "more requests came than can be served; send it again later"};
}

}  // namespace

void Handler::Handle(const Request& request, Reply reply) {
  const Time begin = clock_().mono;
  const auto answer = [this, begin, reply = std::move(reply)](std::string_view route,
                                                              Response response) {
    metrics_.Answered(route, response.status, clock_().mono - begin);
    reply(std::move(response));
  };
  auto match = Match(request.method, request.path);
  if (const auto* problem = std::get_if<Problem>(&match)) {
    return answer("other", ToResponse(*problem));
  }
  const std::string_view route = std::get<RouteMatch>(match).route->name;  // of a static table
  auto read = ReadCall(std::get<RouteMatch>(match), request);
  if (const auto* problem = std::get_if<Problem>(&read)) return answer(route, ToResponse(*problem));

  auto call = std::make_shared<const Call>(std::move(std::get<Call>(read)));
  Touched touched = TouchedBy(*call, map_);
  stores_.Submit(
      std::move(touched),
      [this, answer, route, call](RelationStore* store, StorePool::Refusal refusal) {
        if (store == nullptr) return answer(route, ToResponse(ProblemOf(refusal)));
        Performed performed;
        try {
          performed = Perform(*call, *store, limits_, clock_().unix_ms);
        } catch (const std::exception& error) {
          performed = {ToResponse(ProblemOfStatus(500)), Status::Never(error.what())};
        }
        if (!performed.failed.done()) {
          metrics_.StoreFailed(route, performed.failed.resource, performed.failed.message);
        }
        answer(route, std::move(performed.response));
      },
      true);
}

}  // namespace fanline::api
