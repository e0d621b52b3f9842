// Readers: they read pages, and rebuild timelines step by step.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "tests/sim/world.h"
#include "timeline/rebuild.h"

namespace fanline::sim {

struct Readers {
  World& world;

  struct Rebuilding {
    UserId reader{};
    std::unique_ptr<timeline::Rebuild> rebuild;
    uint64_t switches = 0;  // of primaries, when it began
    bool astray = false;    // something was read from an old server after a switch
  };
  std::deque<Rebuilding> rebuilds{};

  bool rebuilding() const { return !rebuilds.empty(); }
  void StepOldest() {
    if (!StepRebuild(rebuilds.front())) rebuilds.pop_front();
  }

  void StartRebuild() {
    const UserId reader = world.AnyOwner();
    rebuilds.push_back({reader,
                        std::make_unique<timeline::Rebuild>(
                            world.window(), [this] { return std::to_string(++world.tokens); },
                            world.Own(reader), 5, 3, world.options.guards.logic),
                        world.primaries.switches()});
  }

  // A reader follows MOVED. It tries again while a slot moves or a node is away.
  bool Reaches(UserId reader, const Slots::Keys& keys) const {
    const Range range = RangeLayout(kRanges).RangeOf(reader);
    return !world.NodeAway(world.slots.NodeOf(range)) && world.slots.Takes(range, keys);
  }
  bool Reaches(const Rebuilding& at, const timeline::RebuildNeed& need) const {
    if (std::holds_alternative<timeline::NeedBegin>(need))
      return Reaches(at.reader, {kLiveKey, kPosKey, at.reader});
    if (std::holds_alternative<timeline::NeedFinish>(need))
      return Reaches(at.reader, {kLiveKey, at.reader});
    return true;
  }

  // Makes one step of one rebuild. Returns false when the rebuild has ended. Each step is an await,
  // so anything may happen in between. A full Redis takes no new timeline, and drops a timeline
  // that a rebuild cannot write.
  bool StepRebuild(Rebuilding& at) {
    const auto need = at.rebuild->needed();
    if (!Reaches(at, need)) return true;  // later
    if (world.redis.full && std::holds_alternative<timeline::NeedBegin>(need)) return false;
    if (world.redis.full && std::holds_alternative<timeline::NeedFinish>(need))
      world.Count(Letter::kRedisFull);
    if (!std::holds_alternative<timeline::NeedFinish>(need) && world.AnyAway())
      return true;  // later
    const auto* finish = std::get_if<timeline::NeedFinish>(&need);
    if (finish != nullptr && !Confirmed(at)) {
      world.redis.Abandon(at.reader, finish->token);
      return false;
    }
    struct Visitor {
      World& world;
      Rebuilding& at;
      void operator()(const timeline::NeedBegin& need) {
        at.rebuild->OnBegun(world.redis.Begin(at.reader, need.token, 1));
      }
      void operator()(const timeline::NeedFollowees&) {
        at.rebuild->OnFollowees(ServerOf(world, at).Followees(at.reader));
      }
      void operator()(const timeline::NeedLastAt& need) {
        at.rebuild->OnLastAt(world.mysql.LastAt(need.authors));
      }
      void operator()(const timeline::NeedItems& need) {
        at.rebuild->OnItems(world.mysql.Items(need.posts, need.span, need.limit));
      }
      void operator()(const timeline::NeedFinish& need) {
        at.rebuild->OnFinished(
            world.redis.Finish(at.reader, need.token, need.items, need.floor, need.marked));
      }
      void operator()(const timeline::NothingNeeded&) {}
    };
    std::visit(Visitor{world, at}, need);
    return at.rebuild->result() == timeline::RebuildResult::kUnderWay;
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
