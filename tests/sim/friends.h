// Friendships by consent, as the server of a user's call changes them: the real run of a change,
// whose requests are served one after the other, so that anything may come in between
// (docs/decisions/0010-friendships-are-announced.md). The mirror that relays the two edges is the
// real one, too.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <variant>

#include "fanline/ports/friendship_run.h"
#include "tests/sim/world.h"

namespace fanline::sim {

struct Friends {
  World& world;

  struct Befriending {
    FriendshipRun run;
    UserId low, high;
    Said::Moment asked = 0;
    std::deque<FriendshipRun::Request> left = {};
    bool announced = false;
  };
  using Asking = std::shared_ptr<Befriending>;

  void Befriend(FriendAction action, UserId who, UserId whom) {
    // Seconds apart from the clocks of the servers that change edges.
    const auto clock = static_cast<uint64_t>(world.now.unix_ms - 5'000 + world.PickInt(10'000));
    auto call = std::make_shared<Befriending>(
        Befriending{FriendshipRun(action, who, whom, clock * 1000), std::min(who, whom),
                    std::max(who, whom), world.said.Now()});
    AskNext(call, call->run.Begin());
  }

  void AskNext(const Asking& call, const FriendshipRun::Requests& more) {
    call->left.insert(call->left.end(), more.begin(), more.end());
    if (call->left.empty()) return;
    const FriendshipRun::Request next = call->left.front();
    call->left.pop_front();
    std::visit([&](const auto& request) { Ask(call, request); }, next);
  }

  void Ask(const Asking& call, const ReadFriendship& request) {
    Ask("friendship", call, request, call->low);
  }
  void Ask(const Asking& call, const AnnouncePair& request) {
    Ask("announcement", call, request, request.edge.src);
  }
  void Ask(const Asking& call, const WriteFriendship& request) {
    Ask("friendship's row", call, request, call->low);
  }
  // Limits: nobody comes near them.
  template <class R>
  void Ask(const Asking& call, const R& request) {
    AskNext(call, call->run.On(world.mysql.relations.Do(request)));
  }

  // The server of the call may die before each step, and nobody continues the call. A shard that is
  // away ends it, too.
  template <class R>
  void Ask(const char* name, const Asking& call, const R& request, UserId placed_by) {
    world.Later(name, [this, call, request, placed_by] {
      const bool dies = world.Strikes(call->announced ? 20 : 5);
      if (!dies && !world.Away(world.shards.ShardOf(placed_by))) {
        return AskNext(call, call->run.On(Serve(*call, request)));
      }
      if (call->announced) world.Count(Letter::kFriendshipLeft);
    });
  }

  FriendshipRead Serve(Befriending&, const ReadFriendship& request) {
    return world.mysql.relations.Do(request);
  }

  PairAnnounced Serve(Befriending& call, const AnnouncePair& request) {
    call.announced = true;
    const Guards& guards = world.options.guards;
    PairAnnounced reply;
    if (guards.friendships_announced) reply = world.mysql.relations.Do(request);
    if (!guards.above_what_is_settled) reply.settled = 0;
    return reply;
  }

  FriendshipWritten Serve(Befriending& call, const WriteFriendship& request) {
    const FriendState before = world.mysql.relations.Pair(call.low, call.high).state;
    const FriendshipWritten reply = world.mysql.relations.Do(request);
    if (reply.overtaken) world.Count(Letter::kFriendshipOvertaken);
    if (!reply.changed || !BeginsOrEnds(before, reply.now.state)) return reply;
    const bool friends = reply.now.state == FriendState::kFriends;
    world.said.OfBoth(call.low, call.high, friends, call.asked);
    world.Count(friends ? Letter::kFriends : Letter::kFriendsNoMore);
    world.Trace(ToString(call.low) + " and " + ToString(call.high) +
                (friends ? " are friends" : " are friends no more"));
    return reply;
  }
};

}  // namespace fanline::sim
