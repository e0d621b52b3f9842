// What Redis answers to a pusher's requests, and in how many calls: a reset is a walk over all
// keys, a batch first asks the index and then writes, and each call may be refused on its own.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/sim/members.h"

namespace fanline::sim {

// One that asks Redis too, through a connection.
struct RedisCaller : Caller {
  using Caller::Caller;

  uint64_t connection = 0;  // another one after each loss

  // What a request's calls share: the process that waits for the answer, and its connection.
  template <typename R>
  struct Asked {
    R request;
    ReplyTo<typename R::Reply> to;
    uint64_t owner;
    uint64_t connection;
    typename R::Reply lost;                // the answer when the connection is lost
    uint64_t next_owner = 1, dropped = 0;  // of a walk
    size_t begun_at = 0;
  };

  template <typename R>
  void CallRedis(R request, ReplyTo<typename R::Reply> to, typename R::Reply lost) {
    auto asked =
        std::make_shared<Asked<R>>(Asked<R>{request, to, incarnation, connection, lost, 1, 0, 0});
    if constexpr (std::is_same_v<R, ResetRange>) {
      const bool walks = request.timelines != ResetRange::Timelines::kLeave;
      if (walks && world.character.long_resets) return BeginWalk(asked);
    }
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      if (world.character.prune_apart) return AskIndex(asked);
    }
    const auto act = [this, asked] {
      const auto answer = world.redis.Do(asked->request);
      if constexpr (std::is_same_v<R, ResetRange>) Begun(asked->request, answer);
      return answer;
    };
    Send(asked, act, nullptr);
  }

  // One call. `act` is what Redis does. The answer goes to the process, or `then` goes on.
  template <typename A, typename F, typename Then>
  void Send(std::shared_ptr<A> asked, F act, Then then) {
    const auto carry_out = [this, asked, act, then]() -> std::function<void()> {
      const auto answer = AnswerTo(asked->request, act);
      if constexpr (std::is_invocable_v<Then>) {
        if (answer.status.done()) return [this, asked, then] { GoOn(asked, then); };
      }
      return DeliverTo(asked->owner, asked->to, answer);
    };
    // A timeout loses the connection: every range claimed in it must be claimed again.
    const auto fail = [this, asked] {
      if (incarnation != asked->owner) return;
      ++connection;
      asked->to(asked->lost);
    };
    world.network.Send({"redis", carry_out, fail, asked->owner, false});
  }

  // The next call of a request, unless its connection is gone.
  template <typename A, typename Then>
  void GoOn(std::shared_ptr<A> asked, const Then& then) {
    if (incarnation != asked->owner) return;
    if (connection == asked->connection) {
      then();
    } else {
      asked->to(asked->lost);
    }
  }

  // Mostly what Redis does, at times a plain refusal.
  template <typename R, typename F>
  auto AnswerTo(const R& request, F act) -> decltype(act()) {
    if (!world.Strikes(world.character.redis_later)) return act();
    world.Count(Letter::kRedisLater);
    decltype(act()) refused;
    refused.id = request.id;
    refused.status = Status::Later("redis", "BUSY");
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      // The batch went in several calls, the last of which were refused.
      TimelineBatch part = request;
      part.writes.resize(world.Pick(request.writes.size() + 1));
      refused.needs_claim = world.redis.Do(part).needs_claim;
    }
    return refused;
  }

  // ---- a batch: the index is asked without a fence, the script is called later ------------------
  template <typename A>
  void AskIndex(std::shared_ptr<A> asked) {
    const auto pruned = std::make_shared<std::vector<bool>>();
    const auto ask = [this, asked, pruned] {
      *pruned = world.redis.Prune(asked->request);
      asked->begun_at = world.carried_out;
      return BatchWritten{};
    };
    const auto write = [this, asked, pruned] {
      if (world.carried_out > asked->begun_at + 1) world.Count(Letter::kPrunedBefore);
      return world.redis.Apply(asked->request, *pruned);
    };
    Send(asked, ask, [this, asked, write] { Send(asked, write, nullptr); });
  }

  // ---- a reset: a step, pages of the keys in the fixed order of SCAN, a step --------------------
  template <typename A>
  void BeginWalk(std::shared_ptr<A> asked) {
    asked->begun_at = world.carried_out;
    const auto begin = [this, asked] {
      const RangeReset answer = world.redis.ResetBegin(asked->request);
      Begun(asked->request, answer);
      return answer;
    };
    Send(asked, begin, [this, asked] { NextPage(asked); });
  }
  void Begun(const ResetRange& reset, const RangeReset& answer) {
    const bool drops = reset.timelines == ResetRange::Timelines::kDrop;
    if (drops && answer.status.done()) world.DropBegun(reset);
  }

  template <typename A>
  void NextPage(std::shared_ptr<A> asked) {
    if (asked->next_owner > world.owners()) {
      Send(
          asked, [this, asked] { return EndWalk(*asked); }, nullptr);
      return;
    }
    const auto page = [this, asked] {
      const RangeReset reset =
          world.redis.ResetPage(asked->request, {world.Owner(asked->next_owner++)});
      asked->dropped += reset.dropped;
      return reset;
    };
    Send(asked, page, [this, asked] { NextPage(asked); });
  }

  template <typename A>
  RangeReset EndWalk(const A& asked) {
    RangeReset reset = world.redis.ResetEnd(asked.request);
    reset.dropped = asked.dropped;
    if (world.carried_out > asked.begun_at + 2 + world.owners()) world.Count(Letter::kLongReset);
    if (!reset.status.done() && !reset.needs_claim) world.Count(Letter::kIndexForgotten);
    return reset;
  }
};

}  // namespace fanline::sim
