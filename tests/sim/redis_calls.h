// What Redis answers to a pusher's requests, and in how many calls: a reset is a walk over all
// keys, a batch first asks the index and then writes, and each call may be refused on its own.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/sim/groups.h"

namespace fanline::sim {

struct RedisCalls : Groups {
  using Groups::Groups;

  size_t carried_out = 0;  // calls of any kind, so far

  // What a request's calls share: the process that waits for the answer, and its connection.
  template <typename P, typename R>
  struct Asked {
    P& process;
    R request;
    ReplyTo<typename R::Reply> to;
    uint64_t owner;
    uint64_t connection;
    typename R::Reply lost;                 // the answer when the connection is lost
    uint64_t next_reader = 1, dropped = 0;  // of a walk
    size_t begun_at = 0;
  };

  template <typename P, typename R>
  void CallRedis(P& process, R request, ReplyTo<typename R::Reply> to, typename R::Reply lost) {
    auto asked = std::make_shared<Asked<P, R>>(
        Asked<P, R>{process, request, to, process.incarnation, process.connection, lost, 1, 0, 0});
    if constexpr (std::is_same_v<R, ResetRange>) {
      if (character.long_resets) return BeginWalk(asked);
    }
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      if (character.prune_apart) return AskIndex(asked);
    }
    Send(
        asked, [this, asked] { return redis.Do(asked->request); }, nullptr);
  }

  // One call. `act` is what Redis does. The answer goes to the process, or `then` goes on.
  template <typename A, typename F, typename Then>
  void Send(std::shared_ptr<A> asked, F act, Then then) {
    const auto carry_out = [this, asked, act, then]() -> std::function<void()> {
      const auto answer = AnswerTo(asked->request, act);
      if constexpr (std::is_invocable_v<Then>) {
        if (answer.status.done()) return [this, asked, then] { GoOn(asked, then); };
      }
      return DeliverTo(asked->process, asked->owner, asked->to, answer);
    };
    // A timeout loses the connection: every range claimed in it must be claimed again.
    const auto fail = [asked] {
      if (asked->process.incarnation != asked->owner) return;
      ++asked->process.connection;
      asked->to(asked->lost);
    };
    network.Send({"redis", carry_out, fail, asked->owner, false});
  }

  // The next call of a request, unless its connection is gone.
  template <typename A, typename Then>
  void GoOn(std::shared_ptr<A> asked, const Then& then) {
    if (asked->process.incarnation != asked->owner) return;
    if (asked->process.connection == asked->connection) {
      then();
    } else {
      asked->to(asked->lost);
    }
  }

  // Mostly what Redis does, at times a plain refusal.
  template <typename R, typename F>
  auto AnswerTo(const R& request, F act) -> decltype(act()) {
    if (!faults || !Chance(character.redis_later)) return act();
    Count(Letter::kRedisLater);
    decltype(act()) refused;
    refused.id = request.id;
    refused.status = Status::Later("redis", "BUSY");
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      // The batch went in several calls, the last of which were refused.
      TimelineBatch part = request;
      part.writes.resize(Pick(request.writes.size() + 1));
      refused.needs_claim = redis.Do(part).needs_claim;
    }
    return refused;
  }

  // ---- a batch: the index is asked without a fence, the script is called later ------------------
  template <typename A>
  void AskIndex(std::shared_ptr<A> asked) {
    const auto pruned = std::make_shared<std::vector<bool>>();
    const auto ask = [this, asked, pruned] {
      *pruned = redis.Prune(asked->request);
      asked->begun_at = carried_out;
      return BatchWritten{};
    };
    const auto write = [this, asked, pruned] {
      if (carried_out > asked->begun_at + 1) Count(Letter::kPrunedBefore);
      return redis.Apply(asked->request, *pruned);
    };
    Send(asked, ask, [this, asked, write] { Send(asked, write, nullptr); });
  }

  // ---- a reset: a step, pages of the keys in the fixed order of SCAN, a step --------------------
  template <typename A>
  void BeginWalk(std::shared_ptr<A> asked) {
    asked->begun_at = carried_out;
    Send(
        asked, [this, asked] { return redis.ResetBegin(asked->request); },
        [this, asked] { NextPage(asked); });
  }

  template <typename A>
  void NextPage(std::shared_ptr<A> asked) {
    if (asked->next_reader > character.readers) {
      Send(
          asked, [this, asked] { return EndWalk(*asked); }, nullptr);
      return;
    }
    const auto page = [this, asked] {
      const RangeReset reset = redis.ResetPage(asked->request, {UserId{asked->next_reader++}});
      asked->dropped += reset.dropped;
      return reset;
    };
    Send(asked, page, [this, asked] { NextPage(asked); });
  }

  template <typename A>
  RangeReset EndWalk(const A& asked) {
    RangeReset reset = redis.ResetEnd(asked.request);
    reset.dropped = asked.dropped;
    if (carried_out > asked.begun_at + 2 + character.readers) Count(Letter::kLongReset);
    if (!reset.status.done() && !reset.needs_claim) Count(Letter::kIndexForgotten);
    return reset;
  }
};

}  // namespace fanline::sim
