// The programs of the fleet, two processes of each.
#pragma once

#include "tests/sim/mirrors.h"
#include "tests/sim/reconcilers.h"
#include "tests/sim/relation_event_consumers.h"
#include "tests/sim/spine.h"

namespace fanline::sim {

struct Programs {
  World& world;
  Application& application;
  Members<DispatcherProcess> dispatchers{world, "dispatcher", world.feed_group};
  Members<PusherProcess> pushers{world, "pusher", world.task_group};
  Members<MirrorProcess> mirrors{world, "mirror", world.mirror_group};
  Reconcilers reconcilers{world};
  // None in a schedule without relation events.
  Members<EventConsumer> event_consumers{world, "event consumer", world.event_group};

  void Start() {
    for (int i = 0; i < 2; ++i) {
      dispatchers.Enter().Start();
      pushers.Enter().Start();
      mirrors.Enter().Start();
      reconcilers.Add();
    }
    for (int i = 0; i < 2 && world.character.relation_event > 0; ++i) {
      event_consumers.Enter(application).Start();
    }
    ForEachGroup([](auto& members) { members.MoveInTurn(); });
  }

  template <typename F>
  void ForEachGroup(F act) {
    act(dispatchers);
    act(pushers);
    act(mirrors);
    act(reconcilers.pairs);
    act(reconcilers.retries);
    if (reconcilers.later.size() > 0) act(reconcilers.later);
    if (event_consumers.size() > 0) act(event_consumers);
  }

  // A turn of a process for posts, and of one for relations.
  void AnyTurn() {
    const int notice = world.character.notice;
    const uint64_t which = world.Pick(dispatchers.size() + pushers.size());
    if (which < dispatchers.size()) {
      dispatchers.Turn(which, world.Chance(notice));
    } else {
      pushers.Turn(which - dispatchers.size(), world.Chance(notice));
    }
    const size_t relations = mirrors.size() + reconcilers.size();
    const uint64_t other = world.Pick(relations + event_consumers.size());
    const bool notices = world.Chance(notice);
    if (other < mirrors.size()) {
      if (!mirrors.at(static_cast<int>(other)).hangs()) mirrors.Turn(other, notices);
    } else if (other < relations) {
      reconcilers.Turn(other - mirrors.size(), notices);
    } else {
      event_consumers.Turn(other - relations, notices);
    }
  }

  void TurnOfAll() {
    dispatchers.TurnOfAll();
    pushers.TurnOfAll();
    mirrors.TurnOfAll();
    reconcilers.TurnOfAll();
    event_consumers.TurnOfAll();
  }

  bool AtRest() const {
    for (const auto& process : reconcilers.pairs.processes) {
      if (process->logic->pending() > 0 || !process->logic->drained()) return false;
    }
    for (const auto& process : reconcilers.retries.processes) {
      if (!process->logic->drained()) return false;
    }
    for (const auto& process : dispatchers.processes) {
      if (process->logic->events_open() > 0) return false;
    }
    for (const auto& process : pushers.processes) {
      const auto& held = process->metrics.held;
      if (held.hints > 0 || held.ranges_ready < held.ranges) return false;
    }
    return true;
  }
};

}  // namespace fanline::sim
