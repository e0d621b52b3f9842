#include "api/operations/exchange.h"
#include "api/operations/json_body.h"

namespace fanline::api {
namespace {

Json FollowingBody(const ForwardChanged& changed) {
  const Edge& edge = changed.edge;
  Json body = {{"user", ToString(edge.src)},
               {"other", ToString(edge.dst)},
               {"following", edge.live},
               {"changed", changed.changed},
               {"version", std::to_string(edge.ver)}};
  if (edge.live) body["delivery"] = NameOf(edge.delivery);
  return body;
}

Call Change(EdgeChange change) {
  return {.work = Work::kChanges, .begin = [change](Exchange& shards) mutable {
            change.unix_us = shards.unix_us();
            shards.Ask(ChangeEdge{0, change}, [change, &shards](const EdgeChanged& reply) {
              const ForwardChanged& changed = reply.forward;
              RefuseByLimits(changed.over_limit ? std::optional(change.src) : std::nullopt,
                             change.src, changed.again_in, shards);
              OrFail(reply.status);
              if (change.chooses() && !changed.edge.live) {
                throw Refused{{Code::kNotFound, "user " + ToString(change.src) +
                                                    " does not follow user " +
                                                    ToString(change.dst) + "; follow them first"}};
              }
              shards.Answer(FollowingBody(changed));
            });
          }};
}

EdgeChange ChangeOf(const Asked& asked, bool live) {
  asked.Takes({});
  const EdgeKey edge = asked.Pair();
  return {.src = edge.src, .dst = edge.dst, .live = live};
}

// {"delivery": "none"}
Delivery ReadDelivery(const std::string& body) {
  constexpr std::string_view kSend =
      "; send an object with delivery, which is \"all\", \"no_reposts\" or \"none\"";
  const auto refuse = [&](const std::string& what) {
    throw Refused{{Code::kBadBody, what + std::string(kSend)}};
  };
  const nlohmann::json parsed = ParseObject(body, kSend);
  std::optional<Delivery> delivery;
  for (const auto& member : parsed.items()) {
    if (member.key() != "delivery") refuse(Quoted(member.key()) + " is not expected");
    const auto& value = member.value();
    if (value.is_string()) delivery = ParseDelivery(value.get_ref<const std::string&>());
    if (!delivery) refuse("delivery is " + Shown(value));
  }
  if (!delivery) refuse("delivery is missing");
  return *delivery;
}

}  // namespace

Call Follow(const Asked& asked) { return Change(ChangeOf(asked, true)); }
Call Unfollow(const Asked& asked) { return Change(ChangeOf(asked, false)); }

Call SetDelivery(const Asked& asked) {
  EdgeChange change = ChangeOf(asked, true);
  change.delivery = ReadDelivery(asked.body());
  return Change(change);
}

}  // namespace fanline::api
