// Readers who mute authors and unmute them, from two devices. A device that has seen an older list
// changes nothing when it says so.
//
// They draw from a sequence of their own, so schedules without them keep their draws.
#pragma once

#include <array>
#include <map>
#include <random>

#include "tests/sim/world.h"

namespace fanline::sim {

struct Mutings {
  explicit Mutings(World& of) : world(of), random(of.options.seed ^ 0xbf58476d1ce4e5b9) {}

  World& world;
  std::mt19937_64 random;
  // What each device of a reader saw last.
  std::map<UserId, std::array<Mutes, 2>> seen{};

  // Called after each event of the schedule.
  void Step() {
    if (random() % 100 >= world.character.mute) return;
    const UserId reader{1 + random() % world.character.readers};
    const UserId author{World::kFirstAuthor + random() % world.character.authors};
    if (world.Away(world.shards.ShardOf(reader))) return;
    Mutes& device = seen[reader][random() % 2];
    ChangeMutes change{.user = reader,
                       .authors = {author},
                       .unix_us = static_cast<uint64_t>(world.now.unix_ms) * 1000};
    if (random() % 2 == 0) change.what = ChangeMutes::What::kUnmute;
    if (random() % 3 == 0) change.expected = device.version;
    const MutesChanged changed = world.mysql.relations.Do(change);
    if (changed.changed) {
      world.Count(Letter::kMuted);
      world.Trace(ToString(reader) + " mutes " + std::to_string(changed.now.authors.size()));
    }
    if (changed.changed && change.expected &&
        changed.now.authors != After(device, change).authors) {
      world.trouble = "a device changed a list of mutes that it had not seen";
    }
    device = changed.now;
  }
};

}  // namespace fanline::sim
