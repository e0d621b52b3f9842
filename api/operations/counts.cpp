#include "api/operations/call.h"

namespace fanline::api {

Call GetCounts(const Asked& asked) {
  asked.Takes({});
  const UserId user = asked.User();
  return {{user}, [user](RelationStore& store, const Context&) -> Json {
            RelationCounts counts;
            OrFail(store.Counts(user, &counts));
            return {{"user", ToString(user)},
                    {"following", counts.following},
                    {"followers", counts.followers}};
          }};
}

}  // namespace fanline::api
