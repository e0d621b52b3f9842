#include "api/operations/exchange.h"

namespace fanline::api {

Call GetCounts(const Asked& asked) {
  asked.Takes({});
  const UserId user = asked.User();
  return AskOnce(CountRelations{.user = user}, [user](const RelationsCounted& reply) -> Json {
    return {{"user", ToString(user)},
            {"following", reply.counts.following},
            {"followers", reply.counts.followers}};
  });
}

}  // namespace fanline::api
