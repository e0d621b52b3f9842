// Readers: they read pages, and rebuild timelines step by step.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "tests/sim/world.h"
#include "timeline/rebuild.h"

namespace fanline::sim {

struct Readers {
  World& world;

  struct Rebuilding {
    UserId reader{};
    std::unique_ptr<timeline::Rebuild> rebuild;
    timeline::Rebuild::Requests asked;  // what comes next
    uint64_t switches = 0;              // of primaries, when it began
    bool astray = false;                // something was read from an old server after a switch
  };
  std::deque<Rebuilding> rebuilds{};

  bool rebuilding() const { return !rebuilds.empty(); }
  void StepOldest() {
    if (!StepRebuild(rebuilds.front())) rebuilds.pop_front();
  }

  void StartRebuild() {
    const UserId reader = world.AnyOwner();
    auto rebuild = std::make_unique<timeline::Rebuild>(
        reader,
        timeline::RebuildRules{world.window(), [this] { return std::to_string(++world.tokens); },
                               world.character.own_posts, 5, 3, world.options.guards.logic},
        world.shards);
    auto asked = rebuild->Begin();
    rebuilds.push_back({reader, std::move(rebuild), std::move(asked), world.primaries.switches()});
  }

  // A reader follows MOVED. It tries again while a slot moves or a node is away.
  bool Reaches(UserId reader, const Slots::Keys& keys) const {
    const Range range = RangeLayout(kRanges).RangeOf(reader);
    return !world.NodeAway(world.slots.NodeOf(range)) && world.slots.Takes(range, keys);
  }
  bool Reaches(const Rebuilding& at) const {
    if (Next<BeginRebuild>(at)) return Reaches(at.reader, {kLiveKey, kPosKey, at.reader});
    if (Next<ConfirmReads>(at)) return Reaches(at.reader, {kLiveKey, at.reader});
    return true;
  }
  template <class R>
  static bool Next(const Rebuilding& at) {
    return std::holds_alternative<R>(at.asked.front());
  }

  // Makes one step of one rebuild; the second script follows the proof at once. Returns false when
  // the rebuild has ended. Each step is an await, so anything may happen in between. A full Redis
  // takes no new timeline, and drops a timeline that a rebuild cannot write.
  bool StepRebuild(Rebuilding& at) {
    if (!Reaches(at)) return true;  // later
    const bool ends = Next<ConfirmReads>(at);
    if (world.redis.full && Next<BeginRebuild>(at)) return false;
    if (world.redis.full && ends) world.Count(Letter::kRedisFull);
    if (!ends && world.AnyAway()) return true;  // later
    AnswerAll(at);
    if (ends) AnswerAll(at);
    return !at.rebuild->done();
  }

  void AnswerAll(Rebuilding& at) {
    for (const auto& request : std::exchange(at.asked, {})) {
      auto next =
          std::visit([&](const auto& each) { return at.rebuild->On(Answer(at, each)); }, request);
      at.asked.insert(at.asked.end(), next.begin(), next.end());
    }
  }
  RebuildBegan Answer(Rebuilding& at, const BeginRebuild& request) {
    return {0, {}, world.redis.Begin(at.reader, request.token, 1)};
  }
  FolloweesRead Answer(Rebuilding& at, const ReadFollowees& request) {
    const fakes::FakeMysql& rows = ServerOf(world, at);
    return {.shard = request.shard,
            .status = {},
            .authors = rows.Followees(at.reader),
            .no_reposts = rows.NoReposts(at.reader),
            .mutes = rows.relations.mutes(at.reader)};
  }
  LastAtRead Answer(Rebuilding&, const ReadLastAt& request) {
    return {0, request.shard, {}, 0, world.mysql.LastAt(request.of)};
  }
  ItemsAnswered Answer(Rebuilding&, const ReadItems& request) {
    return {0, request.shard, {}, 0, world.mysql.Items(request.posts, request.span, request.limit)};
  }
  UserLookedUp Answer(Rebuilding&, const LookUpUser& request) {
    return {0, request.shard, {}, world.mysql.LookUp(request.user)};
  }
  ReadsConfirmed Answer(Rebuilding& at, const ConfirmReads& request) {
    return {0, request.shard, Confirmed(at) ? Status() : Status::Later("mysql", "another server")};
  }
  RebuildFinished Answer(Rebuilding& at, const FinishRebuild& request) {
    return {0,
            {},
            world.redis.Finish(at.reader, request.token, request.items, request.floor,
                               request.marks, request.mutes)};
  }
  RebuildAbandoned Answer(Rebuilding& at, const AbandonRebuild& request) {
    world.redis.Abandon(at.reader, request.token);
    return {};
  }

  // The API started before any other process. It reads only a reader's followees from the old
  // server after a switch.
  static constexpr uint64_t kApi = 0;
  static const fakes::FakeMysql& ServerOf(World& world, Rebuilding& at) {
    const Shard shard = world.shards.ShardOf(at.reader);
    if (!world.primaries.LeadsAstray(kApi, shard)) return world.mysql;
    at.astray = true;
    const auto& before = world.primaries.Before(shard);
    return before ? *before : world.mysql;
  }
  // Whether each server that was read from is still the primary of its shard.
  bool Confirmed(const Rebuilding& at) {
    if (!world.options.guards.reads_confirmed) return true;
    if (!at.astray && at.switches == world.primaries.switches()) return true;
    world.Count(Letter::kLedAstray);
    for (Shard shard = 0; shard < kShards; ++shard) world.primaries.Renew(kApi, shard);
    return false;
  }

  void ReadPage() {
    const UserId reader = world.AnyOwner();
    const auto page = world.redis.Read(reader, std::nullopt, 20);
    const auto found = world.redis.timelines().find(reader);
    if (page.state == TimelineState::kReady && found != world.redis.timelines().end() &&
        found->second.building) {
      world.trouble = "reader " + ToString(reader) + " was served a timeline being built";
    }
  }

  void Act() {
    const uint64_t what = world.Pick(100);
    if (rebuilds.empty() || (what < 15 && rebuilds.size() < 4)) {
      StartRebuild();
    } else if (what < 25) {
      ReadPage();
    } else {
      const size_t index = world.Pick(rebuilds.size());
      if (world.Chance(world.character.slow_rebuild)) return;
      if (!StepRebuild(rebuilds[index])) {
        rebuilds.erase(rebuilds.begin() + static_cast<std::ptrdiff_t>(index));
      }
    }
  }
};

}  // namespace fanline::sim
