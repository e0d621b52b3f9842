#include <limits>

#include "api/operations/exchange.h"

namespace fanline::api {

Call GetRelation(const Asked& asked) {
  asked.Takes({"min_version"});
  const EdgeKey pair = asked.Pair();
  const uint64_t min_version =
      asked.Number("min_version", 0, std::numeric_limits<uint64_t>::max() - 1);
  return AskOnce(ReadPair{0, pair.src, pair.dst}, [=](const PairRead& reply) {
    const PairState& state = reply.pair;
    const std::string version = std::to_string(state.following.ver);
    if (state.following.ver < min_version) {
      throw Refused{
          {Code::kVersionNotReached, "the relation is at version " + version + ", not " +
                                         std::to_string(min_version) +
                                         "; send a version that a change of this very relation was "
                                         "answered with, or none"}};
    }
    Json body = {{"user", ToString(pair.src)},
                 {"other", ToString(pair.dst)},
                 {"relation", NameOf(state.relation())},
                 {"version", version}};
    if (state.following.live) {
      body["following_since_ms"] = state.following.pos;
      body["delivery"] = NameOf(state.following.delivery);
    }
    if (state.followed_by.live) body["follower_since_ms"] = state.followed_by.pos;
    return body;
  });
}

}  // namespace fanline::api
