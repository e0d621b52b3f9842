#include "api/operations/call.h"
#include "fanline/ports/forward_edges.h"

namespace fanline::api {
namespace {

Call Change(const Asked& asked, bool live) {
  asked.Takes({});
  const EdgeKey edge = asked.Pair();
  return {{edge.src}, [=](RelationStore& store, const Context& context) -> Json {
            FollowingChanged changed;
            Status status = store.ChangeFollowing(edge, live, context.unix_us, &changed);
            RefuseByLimits(changed.over_limit ? std::optional(edge.src) : std::nullopt, edge.src,
                           changed.again_in, context);
            OrFail(std::move(status));
            return {{"user", ToString(edge.src)},
                    {"other", ToString(edge.dst)},
                    {"following", live},
                    {"changed", changed.changed},
                    {"version", std::to_string(changed.edge.ver)}};
          }};
}

}  // namespace

void RefuseByLimits(const std::optional<UserId>& over, UserId user,
                    const std::optional<std::chrono::seconds>& again_in, const Context& context) {
  if (over) {
    throw Refused{{Code::kFollowingLimit, "user " + ToString(*over) + " follows " +
                                              std::to_string(context.following_limit) +
                                              " users already; unfollow somebody first"}};
  }
  if (!again_in) return;
  const auto seconds = static_cast<int>(again_in->count());
  throw Refused{{.code = Code::kChangeLimit,
                 .detail = "user " + ToString(user) + " has made all " +
                           std::to_string(ChangesAnHour(context.following_limit)) +
                           " changes of an hour; the next is possible in " +
                           std::to_string(seconds) + " seconds",
                 .retry_after_seconds = seconds}};
}

Call Follow(const Asked& asked) { return Change(asked, true); }
Call Unfollow(const Asked& asked) { return Change(asked, false); }

}  // namespace fanline::api
