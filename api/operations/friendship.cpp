#include <algorithm>

#include "api/operations/call.h"
#include "api/operations/json_body.h"
#include "fanline/model/friendship.h"

namespace fanline::api {
namespace {

Json Body(const EdgeKey& pair, const Friendship& now) {
  Json body = {{"user", ToString(pair.src)},
               {"other", ToString(pair.dst)},
               {"state", NameOf(now.state)},
               {"version", std::to_string(now.ver)}};
  if (now.asked_by != UserId{}) body["asked_by"] = ToString(now.asked_by);
  return body;
}

FriendAction ReadAction(const std::string& text) {
  if (const auto action = ParseFriendAction(text)) return *action;
  throw Refused{{Code::kNotFound, Quoted(text) + " cannot be done to a friendship; there are "
                                                 "request, accept, refuse, cancel, remove"}};
}

// An action has no parameters besides its path.
void ReadNoBody(const std::string& body) {
  constexpr std::string_view kSend = "; send {} or nothing";
  if (body.empty() || ParseObject(body, kSend).empty()) return;
  throw Refused{{Code::kBadBody, "the body has members" + std::string(kSend)}};
}

}  // namespace

// The shard of the smaller id has the pair's row; each user's shard says whether they follow the
// other.
Call GetFriendship(const Asked& asked) {
  asked.Takes({});
  const EdgeKey pair = asked.Pair();
  return {{std::min(pair.src, pair.dst)}, [=](RelationStore& store, const Context&) {
            Friendship now;
            OrFail(store.ReadFriendship(pair.src, pair.dst, &now));
            return Body(pair, now);
          }};
}

Call ChangeFriendship(const Asked& asked) {
  asked.Takes({});
  const FriendAction action = ReadAction(asked.Segment(2));
  const EdgeKey pair = asked.Pair();
  ReadNoBody(asked.body());
  const auto [first, second] = std::minmax(pair.src, pair.dst);
  return {
      {first, second}, [=](RelationStore& store, const Context& context) {
        FriendshipStep step;
        Status status = store.ChangeFriendship(action, pair.src, pair.dst, context.unix_us, &step);
        RefuseByLimits(step.over_limit, pair.src, step.again_in, context);
        // The rule, applied to the state that the store found, tells why. A refusal that it does
        // not know is our fault.
        const char* refusal = status.never() ? Decide(step.now, action, pair.src).refusal : nullptr;
        if (refusal != nullptr) {
          throw Refused{{Code::kFriendshipConflict,
                         std::string(refusal) +
                             "; read the friendship to see how things stand between them"}};
        }
        OrFail(std::move(status));
        Json body = Body(pair, step.now);
        body["changed"] = step.changed;
        return body;
      }};
}

}  // namespace fanline::api
