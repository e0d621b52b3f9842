// Friendships by consent, as the server of a user's call changes them. Each step of
// backends/mysql/edges/friendships.cpp is a separate call, so that anything may come in between
// (docs/decisions/0010-friendships-are-announced.md). The rule of who may do what and the mirror
// that relays the two edges are the real ones.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "fanline/model/friendship.h"
#include "tests/sim/world.h"

namespace fanline::sim {

struct Friends {
  World& world;

  static constexpr uint32_t kMostAttempts = 10;

  struct Befriending {
    FriendAction action;
    UserId who, whom;
    Said::Moment asked = 0;
    uint64_t unix_us = 0;  // by the clock of the server that was asked
    uint64_t version = 0, settled = 0;
    uint32_t attempt = 0;
    bool announced = false;

    UserId low() const { return std::min(who, whom); }
    UserId high() const { return std::max(who, whom); }
    EdgeKey edge(bool other) const { return other ? EdgeKey{whom, who} : EdgeKey{who, whom}; }
  };
  using Asking = std::shared_ptr<Befriending>;

  void Befriend(FriendAction action, UserId who, UserId whom) {
    // Seconds apart from the clocks of the servers that change edges.
    const auto clock = static_cast<uint64_t>(world.now.unix_ms - 5'000 + world.PickInt(10'000));
    auto call = std::make_shared<Befriending>(
        Befriending{action, who, whom, world.said.Now(), clock * 1000, 0, 0, 0, false});
    NextStep("friendship", call, call->low(), [this, call] { ReadPair(call); });
  }

  // The server of the call may die before each step, and nobody continues the call. A shard that is
  // away ends it, too.
  template <typename F>
  void NextStep(const char* name, const Asking& call, UserId placed_by, F step) {
    world.Later(name, [this, call, placed_by, step] {
      const bool dies = world.Strikes(call->announced ? 20 : 5);
      if (!dies && !world.Away(world.shards.ShardOf(placed_by))) return step();
      if (call->announced) world.Count(Letter::kFriendshipLeft);
    });
  }

  static bool BeginsOrEnds(FriendState before, FriendState after) {
    return (before == FriendState::kFriends) != (after == FriendState::kFriends);
  }

  void ReadPair(const Asking& call) {
    const Friendship pair = world.mysql.relations.Pair(call->low(), call->high());
    const FriendStep seen = Decide(pair, call->action, call->who);
    if (!seen.changes) return;
    call->version = std::max(pair.ver + (uint64_t{1} << call->attempt), call->unix_us);
    call->settled = 0;
    if (call->attempt > 0 || BeginsOrEnds(pair.state, seen.state)) {
      Announce(call, false, false);
    } else {
      NextStep("friendship's row", call, call->low(), [this, call] { Commit(call); });
    }
  }

  void Announce(const Asking& call, bool other, bool again) {
    const EdgeKey edge = call->edge(other);
    NextStep("announcement", call, edge.src, [this, call, edge, other, again] {
      call->announced = true;
      if (world.options.guards.friendships_announced) {
        call->settled =
            std::max(call->settled, world.mysql.relations.Announce(edge, call->version));
      }
      const bool below =
          call->settled >= call->version && world.options.guards.above_what_is_settled;
      if (!other) {
        Announce(call, true, again);
      } else if (!again && below) {
        call->version = call->settled + 1;
        Announce(call, false, true);
      } else {
        NextStep("friendship's row", call, call->low(), [this, call] { Commit(call); });
      }
    });
  }

  void Commit(const Asking& call) {
    const Friendship pair = world.mysql.relations.Pair(call->low(), call->high());
    const FriendStep step = Decide(pair, call->action, call->who);
    if (!step.changes) return;
    const bool logs = BeginsOrEnds(pair.state, step.state);
    if (pair.ver >= call->version || (logs && !call->announced)) {
      world.Count(Letter::kFriendshipOvertaken);
      if (++call->attempt == kMostAttempts) return;
      return NextStep("friendship", call, call->low(), [this, call] { ReadPair(call); });
    }
    const Friendship row{step.state, step.asked_by, call->version};
    world.mysql.relations.WritePair(call->low(), call->high(), row,
                                    static_cast<UnixMs>(call->unix_us / 1000), logs);
    if (!logs) return;
    const bool friends = step.state == FriendState::kFriends;
    world.said.OfBoth(call->low(), call->high(), friends, call->asked);
    world.Count(friends ? Letter::kFriends : Letter::kFriendsNoMore);
    world.Trace(ToString(call->low()) + " and " + ToString(call->high()) +
                (friends ? " are friends" : " are friends no more"));
  }
};

}  // namespace fanline::sim
