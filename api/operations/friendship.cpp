#include <memory>

#include "api/operations/exchange.h"
#include "api/operations/json_body.h"
#include "fanline/model/friendship.h"
#include "fanline/ports/friendship_run.h"

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

using RunPtr = std::shared_ptr<FriendshipRun>;

void AnswerWith(const FriendshipRun::Result& result, const EdgeKey& pair, FriendAction action,
                Exchange& shards) {
  RefuseByLimits(result.over_limit, pair.src, result.again_in, shards);
  // The rule, applied to the state that was found, tells why. A refusal that it does not know is
  // our fault.
  const char* refusal =
      result.status.never() ? Decide(result.now, action, pair.src).refusal : nullptr;
  if (refusal != nullptr) {
    throw Refused{
        {Code::kFriendshipConflict,
         std::string(refusal) + "; read the friendship to see how things stand between them"}};
  }
  OrFail(result.status);
  Json body = Body(pair, result.now);
  body["changed"] = result.changed;
  shards.Answer(body);
}

void AskAll(const RunPtr& change, FriendAction action, const EdgeKey& pair,
            const FriendshipRun::Requests& requests, Exchange& shards) {
  const auto then = [change, action, pair, &shards](const auto& reply) {
    const auto next = change->On(reply);
    if (change->done()) return AnswerWith(change->result(), pair, action, shards);
    AskAll(change, action, pair, next, shards);
  };
  for (const FriendshipRun::Request& request : requests) {
    std::visit([&](const auto& each) { shards.Ask(each, then); }, request);
  }
}

}  // namespace

Call GetFriendship(const Asked& asked) {
  asked.Takes({});
  const EdgeKey pair = asked.Pair();
  return AskOnce(ReadFriendship{0, pair.src, pair.dst},
                 [pair](const FriendshipRead& reply) { return Body(pair, reply.now); });
}

Call ChangeFriendship(const Asked& asked) {
  asked.Takes({});
  const FriendAction action = ReadAction(asked.Segment(2));
  const EdgeKey pair = asked.Pair();
  ReadNoBody(asked.body());
  return {.work = Work::kChanges, .begin = [action, pair](Exchange& shards) {
            const auto change =
                std::make_shared<FriendshipRun>(action, pair.src, pair.dst, shards.unix_us());
            AskAll(change, action, pair, change->Begin(), shards);
          }};
}

}  // namespace fanline::api
