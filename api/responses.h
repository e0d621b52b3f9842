// Answers of the store as JSON. Ids and versions are decimal strings, for a reader of JSON would
// round them; times are integers, Unix milliseconds, and end in _ms. Pure.
#pragma once

#include <vector>

#include "api/http.h"
#include "api/requests.h"
#include "fanline/relation_store.h"

namespace fanline::api {

Response FollowResponse(const FollowCall& call, const FollowingChanged& changed);
Response RelationResponse(const RelationCall& call, const PairState& pair);
// `changed`: none when it was only read.
Response FriendshipResponse(const FriendshipCall& call, const Friendship& now,
                            std::optional<bool> changed);
// `relations`: of the user of relation_to to each entry; empty when nobody asked.
Response ListResponse(const ListPage& page, const std::vector<Relation>& relations);
// Item by item what `call` says is wrong with it, else the store's answer.
Response CheckResponse(const CheckCall& call, const std::vector<CheckAnswer>& answers);
Response FamiliarResponse(const std::vector<UserId>& users);
Response CountsResponse(const CountsCall& call, const RelationCounts& counts);

}  // namespace fanline::api
