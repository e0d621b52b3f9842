#include "api/operations/exchange.h"

namespace fanline::api {
namespace {

Call Change(const Asked& asked, bool live) {
  asked.Takes({});
  const EdgeKey edge = asked.Pair();
  const auto answer = [edge, live](const EdgeChanged& reply, Exchange& shards) {
    const ForwardChanged& changed = reply.forward;
    RefuseByLimits(changed.over_limit ? std::optional(edge.src) : std::nullopt, edge.src,
                   changed.again_in, shards);
    OrFail(reply.status);
    shards.Answer({{"user", ToString(edge.src)},
                   {"other", ToString(edge.dst)},
                   {"following", live},
                   {"changed", changed.changed},
                   {"version", std::to_string(changed.edge.ver)}});
  };
  return {.work = Work::kChanges, .begin = [edge, live, answer](Exchange& shards) {
            shards.Ask(ChangeEdge{0, {edge.src, edge.dst, live, shards.unix_us()}},
                       [answer, &shards](const EdgeChanged& reply) { answer(reply, shards); });
          }};
}

}  // namespace

Call Follow(const Asked& asked) { return Change(asked, true); }
Call Unfollow(const Asked& asked) { return Change(asked, false); }

}  // namespace fanline::api
