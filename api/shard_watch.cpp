#include "api/shard_watch.h"

#include <algorithm>

namespace fanline::api {

Time ShardWatch::Step(std::span<const ShardPinged> replies, Time now) {
  for (const ShardPinged& reply : replies) {
    State& state = shards_[reply.shard];
    if (reply.id != state.asked) continue;
    state.asked = 0;
    Tell(reply.shard, reply.status.done(), reply.status.message);
  }
  Time next = now + kEvery;
  for (Shard shard = 0; shard < shards_.size(); ++shard) {
    State& state = shards_[shard];
    if (state.asked != 0) {
      const Time silent_at = state.asked_at + kPatience;
      if (now >= silent_at) {
        Tell(shard, false, "no answer");
      } else {
        next = std::min(next, silent_at);
      }
    } else if (now >= state.ask_again) {
      state.asked = ++last_id_;
      state.asked_at = now;
      state.ask_again = now + kEvery;
      probe_.Submit({state.asked, shard});
    } else {
      next = std::min(next, state.ask_again);
    }
  }
  return next;
}

void ShardWatch::Tell(Shard shard, bool reachable, const std::string& reason) {
  State& state = shards_[shard];
  if (state.reachable == reachable && (reachable || state.reason == reason)) return;
  state.reachable = reachable;
  state.reason = reason;
  sink_(shard, reachable, reason);
}

}  // namespace fanline::api
