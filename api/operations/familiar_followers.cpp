#include "api/operations/call.h"

namespace fanline::api {

Call ListFamiliarFollowers(const Asked& asked) {
  asked.Takes({"limit"});
  const EdgeKey pair = asked.Pair();
  const uint32_t limit = asked.Limit();
  return {{pair.src, pair.dst}, [=](RelationStore& store, const Context&) -> Json {
            std::vector<UserId> users;
            OrFail(store.FollowedWhoFollow(pair.src, pair.dst, limit, &users));
            Json items = Json::array();
            for (const UserId user : users) items.push_back({{"id", ToString(user)}});
            return {{"items", std::move(items)}};
          }};
}

}  // namespace fanline::api
