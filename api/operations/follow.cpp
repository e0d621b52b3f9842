#include "api/operations/call.h"

namespace fanline::api {
namespace {

Call Change(const Asked& asked, bool live) {
  asked.Takes({});
  const EdgeKey edge = asked.Pair();
  return {{edge.src}, [=](RelationStore& store, const Context& context) -> Json {
            FollowingChanged changed;
            Status status = store.ChangeFollowing(edge, live, context.unix_us, &changed);
            if (changed.over_limit) {
              throw Refused{{Code::kFollowingLimit, "user " + ToString(edge.src) + " follows " +
                                                        std::to_string(context.following_limit) +
                                                        " users already; unfollow somebody first"}};
            }
            OrFail(std::move(status));
            return {{"user", ToString(edge.src)},
                    {"other", ToString(edge.dst)},
                    {"following", live},
                    {"changed", changed.changed},
                    {"version", std::to_string(changed.edge.ver)}};
          }};
}

}  // namespace

Call Follow(const Asked& asked) { return Change(asked, true); }
Call Unfollow(const Asked& asked) { return Change(asked, false); }

}  // namespace fanline::api
