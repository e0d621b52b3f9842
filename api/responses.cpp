#include "api/responses.h"

#include <nlohmann/json.hpp>

#include "fanline/check.h"

namespace fanline::api {
namespace {

using Json = nlohmann::ordered_json;

Response Ok(const Json& body) {
  Response response;
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

Json ItemOf(const CheckAnswer& answer) { return {{"relation", NameOf(answer.relation)}}; }

Json ItemOf(const Problem& problem) {
  return {{"error", {{"code", NameOf(problem.code)}, {"detail", problem.detail}}}};
}

// What the store found wrong with one item: that its edge has no such version.
Problem ProblemOf(const CheckAnswer& answer) {
  return {Code::kVersionNotReached,
          answer.error + "; send a version that an answer carried for this very relation"};
}

}  // namespace

Response FollowResponse(const FollowCall& call, const FollowingChanged& changed) {
  return Ok({{"user", ToString(call.edge.src)},
             {"other", ToString(call.edge.dst)},
             {"following", call.live},
             {"changed", changed.changed},
             {"version", std::to_string(changed.edge.ver)}});
}

Response RelationResponse(const RelationCall& call, const PairState& pair) {
  Json body = {{"user", ToString(call.user)},
               {"other", ToString(call.other)},
               {"relation", NameOf(pair.relation())},
               {"version", std::to_string(pair.following.ver)}};
  if (pair.following.live) body["following_since_ms"] = pair.following.pos;
  if (pair.followed_by.live) body["follower_since_ms"] = pair.followed_by.pos;
  return Ok(body);
}

Response FriendshipResponse(const FriendshipCall& call, const Friendship& now,
                            std::optional<bool> changed) {
  Json body = {{"user", ToString(call.user)},
               {"other", ToString(call.other)},
               {"state", NameOf(now.state)},
               {"version", std::to_string(now.ver)}};
  if (now.asked_by != UserId{}) body["asked_by"] = ToString(now.asked_by);
  if (changed) body["changed"] = *changed;
  return Ok(body);
}

Response ListResponse(const ListPage& page, const std::vector<Relation>& relations) {
  FANLINE_CHECK(relations.empty() || relations.size() == page.entries.size(),
                "a relation for every entry, or for none");
  Json items = Json::array();
  for (size_t i = 0; i < page.entries.size(); ++i) {
    Json item = {{"id", ToString(page.entries[i].user)}, {"since_ms", page.entries[i].pos}};
    if (!relations.empty()) item["relation"] = NameOf(relations[i]);
    items.push_back(std::move(item));
  }
  Json body = {{"items", std::move(items)}};
  if (page.next) body["next_cursor"] = CursorText(*page.next);
  return Ok(body);
}

Response CheckResponse(const CheckCall& call, const std::vector<CheckAnswer>& answers) {
  FANLINE_CHECK(answers.size() == call.items.size(), "an answer for every item");
  Json items = Json::array();
  for (size_t i = 0; i < answers.size(); ++i) {
    if (call.bad[i]) {
      items.push_back(ItemOf(*call.bad[i]));
    } else if (!answers[i].error.empty()) {
      items.push_back(ItemOf(ProblemOf(answers[i])));
    } else {
      items.push_back(ItemOf(answers[i]));
    }
  }
  return Ok({{"items", std::move(items)}});
}

Response FamiliarResponse(const std::vector<UserId>& users) {
  Json items = Json::array();
  for (const UserId user : users) items.push_back({{"id", ToString(user)}});
  return Ok({{"items", std::move(items)}});
}

Response CountsResponse(const CountsCall& call, const RelationCounts& counts) {
  return Ok({{"user", ToString(call.user)},
             {"following", counts.following},
             {"followers", counts.followers}});
}

}  // namespace fanline::api
