#include "api/handler.h"

#include <algorithm>
#include <string>

#include "api/operations.h"
#include "api/requests.h"
#include "api/routes.h"

namespace fanline::api {
namespace {

// Whose shard is asked first; of a friendship: where the pair's row is.
UserId OwnerOf(const Call& call) {
  struct Owner {
    UserId operator()(const FollowCall& call) const { return call.edge.src; }
    UserId operator()(const FriendshipCall& call) const { return std::min(call.user, call.other); }
    UserId operator()(const RelationCall& call) const { return call.user; }
    UserId operator()(const ListCall& call) const { return call.user; }
    UserId operator()(const CheckCall& call) const { return call.user; }
    UserId operator()(const FamiliarCall& call) const { return call.user; }
    UserId operator()(const CountsCall& call) const { return call.user; }
  };
  return std::visit(Owner(), call);
}

Problem ProblemOf(StorePool::Refusal refusal) {
  if (refusal == StorePool::Refusal::kShardAway) return StoreAway();
  return {Code::kOverloaded, "more requests came than can be served; send it again later"};
}

}  // namespace

Response Handler::Handle(const Request& request) {
  const Time begin = clock_().mono;
  std::string_view route = "other";
  Response response = Answer(request, &route);
  metrics_.Answered(route, response.status, clock_().mono - begin);
  return response;
}

Response Handler::Answer(const Request& request, std::string_view* route) {
  auto match = Match(request.method, request.path);
  if (const auto* problem = std::get_if<Problem>(&match)) return ToResponse(*problem);
  *route = std::get<RouteMatch>(match).route->name;
  auto call = ReadCall(std::get<RouteMatch>(match), request);
  if (const auto* problem = std::get_if<Problem>(&call)) return ToResponse(*problem);

  const Shard shard = map_.ShardOf(OwnerOf(std::get<Call>(call)));
  auto lease = stores_.Borrow(shard, limits_.longest_wait);
  if (lease.refusal() != StorePool::Refusal::kNone) return ToResponse(ProblemOf(lease.refusal()));
  Performed performed = Perform(std::get<Call>(call), lease.store(), limits_, clock_().unix_ms);
  if (!performed.failed.done()) {
    metrics_.StoreFailed(*route, performed.failed.resource, performed.failed.message);
  }
  return std::move(performed.response);
}

}  // namespace fanline::api
