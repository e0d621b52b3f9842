// Faults that only some schedules have. They are drawn separately, so that other schedules stay the
// same.
#pragma once

#include <optional>
#include <random>
#include <string>

#include "tests/sim/programs.h"

namespace fanline::sim {

struct RareFaults {
  RareFaults(World& of, Programs& given)
      : world(of), programs(given), random(of.options.seed ^ 0xa0761d6478bd642f) {}

  World& world;
  Programs& programs;
  std::mt19937_64 random;

  // ---- a range whose owners crash one after another ------------------------------------------
  // The third crash comes while a hint is tried alone, so the fourth owner blames it.
  struct Doomed {
    int range = 0;
    int crashes = 0;
  };
  std::optional<Doomed> doomed{};

  // Called after each step of a schedule with faults.
  void Step() {
    if (world.character.nodes > 1) {
      if (Once(400 / world.character.move_slot)) BeginMove(static_cast<Range>(random() % kRanges));
      const auto walked = world.slots.TakeWalked();
      if (walked && Once(3)) BeginMove(*walked);
      if (world.character.node_away > 0 && Once(400 / world.character.node_away)) LoseNode();
      MoveOn();
    }
    if (world.character.short_contests) CrashAgain();
    if (world.character.owners_away > 0 && Once(400 / world.character.owners_away)) LoseOwners();
  }
  void End() { doomed.reset(); }

  // Moves slots on, also while the fleet comes to rest.
  void MoveOn() {
    if (world.character.nodes == 1) return;
    if (const auto moved = world.slots.Step()) {
      world.Trace("range " + std::to_string(*moved) + " has moved");
      world.snapshot.TakeFrom(world.redis, *moved);
    }
  }

 private:
  bool Once(uint64_t steps) { return random() % steps == 0; }

  void BeginMove(Range range) {
    world.Trace("range " + std::to_string(range) + " begins to move");
    world.slots.BeginMove(range);
  }
  void LoseNode() {
    const uint64_t node = random() % Slots::kNodes;
    world.Trace("node " + std::to_string(node) + " of Redis is away");
    world.node_away_until[node] = world.now.unix_ms + static_cast<int64_t>(random() % 150);
  }

  void LoseOwners() {
    world.Trace("the shard of range_owner is away");
    world.owners_away_until = world.now.unix_ms + static_cast<int64_t>(random() % 150);
  }

  void CrashAgain() {
    if (!doomed) {
      if (Once(200)) doomed = Doomed{static_cast<int>(random() % kRanges), 0};
      return;
    }
    const int owner = world.task_group[static_cast<size_t>(doomed->range)].owner;
    if (owner < 0) return;
    const PusherProcess& process = programs.pushers.at(owner);
    const bool due = doomed->crashes < 2 ? process.claimed.contains(doomed->range)
                                         : process.tried.contains(doomed->range);
    if (!due || !Once(4)) return;
    programs.pushers.Crash(owner);
    if (++doomed->crashes == 3) doomed.reset();
  }
};

}  // namespace fanline::sim
