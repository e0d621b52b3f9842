// Readers: pages, and rebuilds of timelines one step at a time.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "tests/sim/clients.h"
#include "timeline/rebuild.h"

namespace fanline::sim {

struct Readers : Clients {
  using Clients::Clients;

  struct Rebuilding {
    UserId reader{};
    std::unique_ptr<timeline::Rebuild> rebuild;
  };
  std::deque<Rebuilding> rebuilds;

  void StartRebuild() {
    const UserId reader = AnyReader();
    ++counts.rebuilds;
    rebuilds.push_back({reader, std::make_unique<timeline::Rebuild>(
                                    window(), [this] { return std::to_string(++tokens); }, 5, 3)});
  }

  // One step of one rebuild; false when it ended. Each step is an await: anything may come between.
  // A full Redis takes no new timeline, and drops the one that a rebuild cannot write.
  bool StepRebuild(Rebuilding& at) {
    const auto need = at.rebuild->needed();
    if (redis.full && std::holds_alternative<timeline::NeedBegin>(need)) return false;
    if (redis.full && std::holds_alternative<timeline::NeedFinish>(need)) Count(Letter::kRedisFull);
    if (!std::holds_alternative<timeline::NeedFinish>(need) && AnyAway()) return true;  // later
    struct Visitor {
      Readers& world;
      Rebuilding& at;
      void operator()(const timeline::NeedBegin& need) {
        at.rebuild->OnBegun(world.redis.Begin(at.reader, need.token));
      }
      void operator()(const timeline::NeedFollowees&) {
        at.rebuild->OnFollowees(world.mysql.Followees(at.reader));
      }
      void operator()(const timeline::NeedLastAt& need) {
        at.rebuild->OnLastAt(world.mysql.LastAt(need.authors));
      }
      void operator()(const timeline::NeedItems& need) {
        at.rebuild->OnItems(world.mysql.Items(need.authors, need.span, need.limit));
      }
      void operator()(const timeline::NeedFinish& need) {
        at.rebuild->OnFinished(world.redis.Finish(at.reader, need.token, need.items, need.floor));
      }
      void operator()(const timeline::NothingNeeded&) {}
    };
    std::visit(Visitor{*this, at}, need);
    return at.rebuild->result() == timeline::RebuildResult::kUnderWay;
  }

  void ReadPage() {
    const UserId reader = AnyReader();
    const auto page = redis.Read(reader, std::nullopt, 20);
    const auto found = redis.timelines().find(reader);
    if (page.state == TimelineState::kReady && found != redis.timelines().end() &&
        found->second.building) {
      trouble = "reader " + ToString(reader) + " was served a timeline being built";
    }
  }

  void ReaderActs() {
    const uint64_t what = Pick(100);
    if (rebuilds.empty() || (what < 15 && rebuilds.size() < 4)) {
      StartRebuild();
    } else if (what < 25) {
      ReadPage();
    } else {
      const size_t index = Pick(rebuilds.size());
      if (Chance(character.slow_rebuild)) return;
      if (!StepRebuild(rebuilds[index])) {
        rebuilds.erase(rebuilds.begin() + static_cast<std::ptrdiff_t>(index));
      }
    }
  }
};

}  // namespace fanline::sim
