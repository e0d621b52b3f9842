// How Redis serves a pusher's requests, and in how many calls. A reset is a walk over all keys, a
// batch goes in several calls, and each call may be refused. A call goes to the node that has the
// range according to its process. The slot may have moved or be moving.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/sim/members.h"

namespace fanline::sim {

// A caller that also has a connection to each node of Redis.
struct RedisCaller : Caller {
  using Caller::Caller;

  // The number of the connection to each node; a lost one is replaced by the next.
  std::array<uint64_t, Slots::kNodes> connections{};
  std::array<Slots::Stay, kRanges> map{};  // as this process knows it
  struct Session {
    Slots::Stay stay{};
    uint64_t connection = 0;
    friend bool operator==(const Session&, const Session&) = default;
  };
  Session SessionOf(Range range) const {
    const Slots::Stay stay = map[static_cast<size_t>(range)];
    return {stay, connections[stay.node]};
  }
  void Connect() {
    connections.fill(incarnation << 20);
    for (Range range = 0; range < static_cast<Range>(kRanges); ++range) Learn(range);
  }
  void Learn(Range range) { map[static_cast<size_t>(range)] = world.slots.StayOf(range); }
  static const char* NameOf(uint32_t node) { return node == 0 ? "redis" : "redis 1"; }

  // Shared by the calls of a request: the process that waits for the answer, and its connection.
  template <typename R>
  struct Asked {
    R request;
    ReplyTo<typename R::Reply> to;
    uint64_t owner;
    Range range;
    Session session;
    typename R::Reply lost;                // the answer when the connection is lost
    uint64_t next_owner = 1, dropped = 0;  // of a walk
    size_t begun_at = 0;
  };

  template <typename R>
  void CallRedis(R request, ReplyTo<typename R::Reply> to, typename R::Reply lost) {
    const Range range = RangeOf(request);
    auto asked = std::make_shared<Asked<R>>(Asked<R>{.request = request,
                                                     .to = to,
                                                     .owner = incarnation,
                                                     .range = range,
                                                     .session = SessionOf(range),
                                                     .lost = lost});
    if constexpr (std::is_same_v<R, ResetRange>) {
      const bool walks = request.timelines != ResetRange::Timelines::kLeave;
      const bool in_steps = world.character.long_resets || world.character.nodes > 1;
      if (walks && in_steps) return BeginWalk(asked);
    }
    const auto act = [this, asked] {
      const auto answer = CarryOut(asked->request);
      if constexpr (std::is_same_v<R, ResetRange>) Begun(asked->request, answer);
      return answer;
    };
    Send(asked, act, nullptr);
  }

  // Sends one call. `act` is done by Redis. The answer goes to the process, or to `then`.
  template <typename A, typename F, typename Then>
  void Send(std::shared_ptr<A> asked, F act, Then then) {
    const auto carry_out = [this, asked, act, then]() -> std::function<void()> {
      const auto answer = AnswerTo(*asked, act);
      if constexpr (std::is_invocable_v<Then>) {
        if (answer.status.done()) return [this, asked, then] { GoOn(asked, then); };
      }
      return DeliverTo(asked->owner, asked->to, answer);
    };
    // A timeout loses the connection: every range claimed in it must be claimed again.
    const auto fail = [this, asked] {
      if (incarnation != asked->owner) return;
      ++connections[asked->session.stay.node];
      asked->to(asked->lost);
    };
    world.network.Send({NameOf(asked->session.stay.node), carry_out, fail, asked->owner, false});
  }

  // Goes on with the next call of a request, unless its connection is gone.
  template <typename A, typename Then>
  void GoOn(std::shared_ptr<A> asked, const Then& then) {
    if (incarnation != asked->owner) return;
    if (connections[asked->session.stay.node] == asked->session.connection) {
      then();
    } else {
      asked->to(asked->lost);
    }
  }

  // Returns the answer of Redis or, sometimes, a refusal.
  template <typename A, typename F>
  auto AnswerTo(const A& asked, F act) -> decltype(act()) {
    if (!Reaches(asked)) return asked.lost;
    if (!world.Strikes(world.character.redis_later)) return act();
    world.Count(Letter::kRedisLater);
    using R = std::decay_t<decltype(asked.request)>;
    auto refused = Refusal(asked.request, "BUSY");
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      // The batch went in several calls, the last of which were refused.
      TimelineBatch part = asked.request;
      part.writes.resize(world.Pick(part.writes.size() + 1));
      refused.needs_claim = CarryOut(part).needs_claim;
    }
    return refused;
  }
  template <typename R>
  static typename R::Reply Refusal(const R& request, const char* why) {
    typename R::Reply refused;
    refused.id = request.id;
    refused.status = Status::Later("redis", why);
    return refused;
  }

  // ---- nodes, and slots between them ------------------------------------------------------------
  // Returns false if the node is away or no longer has the slot. A claim, and requests made under
  // it, are valid for one stay of the range at its node. The process learns of each move.
  template <typename A>
  bool Reaches(const A& asked) {
    const auto& [stay, connection] = asked.session;
    const bool at_home = incarnation == asked.owner;
    if (world.NodeAway(stay.node)) {
      world.Count(Letter::kNodeAway);
      if (at_home && connections[stay.node] == connection) ++connections[stay.node];
      return false;
    }
    const Slots::Stay now = world.slots.StayOf(asked.range);
    if (at_home ? now == stay : now.node == stay.node) return true;
    world.Count(Letter::kMoved);
    if (at_home) Learn(asked.range);
    return false;
  }

  static Range RangeOf(const MarkPart& request) {
    return RangeLayout(kRanges).RangeOf(request.author);
  }
  template <typename R>
  static Range RangeOf(const R& request) {
    return request.range;
  }

  // The keys that a request names.
  static Slots::Keys KeysOf(const ClaimRange&) { return {kOwnKey, kLiveKey, kPosKey}; }
  static Slots::Keys KeysOf(const ReadNews&) { return {kOwnKey, kLiveKey}; }
  static Slots::Keys KeysOf(const ResetRange&) { return {kOwnKey, kPosKey}; }  // without a walk
  static Slots::Keys KeysOf(const SavePosition&) { return {kOwnKey, kPosKey}; }
  static Slots::Keys KeysOf(const ApplySync& sync) { return {kOwnKey, kLiveKey, sync.reader}; }
  static Slots::Keys KeysOf(const SetMutes& set) { return {kOwnKey, kLiveKey, set.reader}; }
  static Slots::Keys KeysOf(const DropTimeline& drop) { return {kOwnKey, kLiveKey, drop.reader}; }
  static Slots::Keys KeysOf(const MarkPart&) { return {}; }

  bool Takes(Range range, const Slots::Keys& keys) {
    if (world.slots.Takes(range, keys)) return true;
    world.Count(Letter::kTryAgain);
    return false;
  }

  template <typename R>
  typename R::Reply CarryOut(const R& request) {
    if (!Takes(RangeOf(request), KeysOf(request))) return Refusal(request, "TRYAGAIN");
    typename R::Reply reply = world.redis.Do(request);
    if constexpr (std::is_same_v<R, ClaimRange>) reply.node = world.slots.NodeOf(request.range);
    return reply;
  }

  BatchWritten CarryOut(const TimelineBatch& batch) {
    const TimelineBatch taken = Taken(batch);
    const BatchWritten written = world.redis.Do(taken);
    const uint32_t other = (world.slots.NodeOf(batch.range) + 1) % Slots::kNodes;
    if (written.status.done() && world.NodeAway(other)) world.Count(Letter::kBesideAway);
    const bool all = taken.writes.size() == batch.writes.size();
    return all || !written.status.done() ? written : Refusal(batch, "TRYAGAIN");
  }
  // Each timeline goes in a call of its own: what the node of a slot that moves does not refuse.
  TimelineBatch Taken(const TimelineBatch& batch) {
    if (!world.slots.moving(batch.range)) return batch;
    TimelineBatch taken{.id = batch.id, .range = batch.range, .epoch = batch.epoch};
    const auto take = [](const auto& from, uint32_t begin, uint32_t end, auto& to) {
      to.insert(to.end(), from.begin() + begin, from.begin() + end);
      return static_cast<uint32_t>(to.size());
    };
    TimelineBatch::Write before;  // of the batch
    for (const TimelineBatch::Write& write : batch.writes) {
      if (Takes(batch.range, {kOwnKey, kLiveKey, write.reader})) {
        taken.writes.push_back(
            {write.reader, take(batch.adds, before.adds_end, write.adds_end, taken.adds),
             take(batch.removes, before.removes_end, write.removes_end, taken.removes),
             take(batch.marks, before.marks_end, write.marks_end, taken.marks)});
      }
      before = write;
    }
    return taken;
  }

  // ---- a reset: a step, pages of the keys in the fixed order of SCAN, a step --------------------
  template <typename A>
  void BeginWalk(std::shared_ptr<A> asked) {
    asked->begun_at = world.carried_out;
    const auto begin = [this, asked] {
      Slots::Keys keys{kOwnKey, kLiveKey};
      const bool drops = asked->request.timelines == ResetRange::Timelines::kDrop;
      if (drops && asked->request.position) keys.push_back(kPosKey);
      if (!TakesStep(*asked, std::move(keys))) return Refusal(asked->request, "TRYAGAIN");
      const RangeReset answer = world.redis.ResetBegin(asked->request);
      Begun(asked->request, answer);
      world.slots.WalkBegan(asked->range);
      return answer;
    };
    Send(asked, begin, [this, asked] { NextPage(asked); });
  }
  // The first and the last step name a key that never exists.
  template <typename A>
  bool TakesStep(const A& asked, Slots::Keys keys) {
    if (world.options.guards.reset_sees_whole_slot) keys.push_back(kNoKey);
    return Takes(asked.range, keys);
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
      const UserId owner = world.Owner(asked->next_owner++);
      Slots::Keys found;
      if (!world.slots.moving(asked->range) || world.slots.Has(asked->range, owner)) {
        found.push_back(owner);
        if (!Takes(asked->range, {kOwnKey, kLiveKey})) return Refusal(asked->request, "TRYAGAIN");
      }
      const RangeReset reset = world.redis.ResetPage(asked->request, found);
      asked->dropped += reset.dropped;
      return reset;
    };
    Send(asked, page, [this, asked] { NextPage(asked); });
  }

  template <typename A>
  RangeReset EndWalk(const A& asked) {
    if (!TakesStep(asked, {kOwnKey, kPosKey, kLiveKey})) {
      return Refusal(asked.request, "TRYAGAIN");
    }
    RangeReset reset = world.redis.ResetEnd(asked.request);
    reset.dropped = asked.dropped;
    if (world.carried_out > asked.begun_at + 2 + world.owners()) world.Count(Letter::kLongReset);
    if (!reset.status.done() && !reset.needs_claim) world.Count(Letter::kIndexForgotten);
    return reset;
  }
};

}  // namespace fanline::sim
