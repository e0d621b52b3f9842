// Drives the fleet: which call is carried out next, which process runs, which fault strikes, and
// how everything comes to rest.
#pragma once

#include <algorithm>

#include "tests/sim/checks.h"
#include "tests/sim/faults.h"
#include "tests/sim/odd_faults.h"
#include "tests/sim/rare_faults.h"
#include "tests/sim/readers.h"
#include "tests/sim/walks.h"

namespace fanline::sim {

struct Schedule {
  explicit Schedule(const FleetOptions& options) : world(options) {}

  World world;
  Application application{world};
  Clients clients{world, application};
  Readers readers{world};
  Mutings mutings{world};
  Walks walks{world};
  Programs programs{world, application};
  Faults faults{world, programs};
  RareFaults rare{world, programs};
  OddFaults odd_faults{world, programs};
  Checks checks{world, application, clients};

  static constexpr int kCalmRounds =
      40;  // far longer than the look at pos: takes to notice a rollback

  void CarryOut(size_t index) {
    Call call = world.network.Take(index);
    world.counts.late_writes += call.orphan;
    ++world.carried_out;
    world.Trace("carry out " + call.name + (call.orphan ? " (orphan)" : ""));
    const auto deliver = call.carry_out();
    if (deliver && !call.orphan) deliver();
  }

  void Start() {
    programs.Start();
    walks.Start();
    for (uint64_t reader = 1; reader <= world.character.readers; ++reader) {
      for (uint64_t author = 0; author < world.character.authors; ++author) {
        if (!world.Chance(world.character.first_follows)) continue;
        const EdgeKey key{UserId{reader}, UserId{World::kFirstAuthor + author}};
        world.said.AtOnce(key, true);
        world.mysql.WriteForward(key.src, key.dst, true);
      }
    }
  }

  void Play() {
    world.faults = true;
    const Character& of = world.character;
    for (int step = 0; step < world.options.steps; ++step) {
      world.Tick(4);
      switch (world.Draw(
          {of.carry_out, of.turn, of.client, of.reader, of.fault, of.escapes, of.odd.strike})) {
        case 0:
          // Mostly fast enough for the fleet to keep up, since repairs at the very end hide earlier
          // faults.
          for (uint64_t burst = 1 + world.Pick(world.character.burst); burst > 0; --burst)
            CarryOutAny();
          break;
        case 1:
          programs.AnyTurn();
          break;
        case 2:
          clients.Act();
          break;
        case 3:
          readers.Act();
          break;
        case 4:
          faults.Strike();
          faults.StrikeRelations();
          break;
        case 5:
          odd_faults.StrikeEscape();
          break;
        default:
          odd_faults.Strike();
      }
      rare.Step();
      odd_faults.Step();
      mutings.Step();
      walks.Step();
    }
  }

  // Captured writes are held back: the later they come, the more harm they could do.
  void CarryOutAny() {
    if (world.network.empty()) return;
    const size_t index = world.Pick(world.network.size());
    Call& call = world.network.at(index);
    if (call.orphan && world.Chance(world.character.hold_orphans)) return;
    if (call.patience == 0)
      call.patience = world.Chance(world.character.slow) ? 1 + world.PickInt(30) : 1;
    if (--call.patience == 0) CarryOut(index);
  }

  // Faults stop and everything under way is carried out: first all but the captured writes. These
  // then strike a fleet that believes that it is done.
  bool ComeToRest() {
    world.faults = false;
    world.away_until = {};
    world.owners_away_until = 0;
    world.node_away_until = {};
    world.full_until = 0;
    world.reconciler_mode = ReconcilerMode::kRun;
    rare.End();
    odd_faults.Stop();
    if (!Rest(world.character.hold_orphans > 0, kCalmRounds)) return false;
    return Rest(false, kCalmRounds);
  }

  // A lane that is stuck, or a range that stays paused, looks at rest until something is posted.
  bool PostOnceMore() {
    for (uint64_t author = 0; author < world.character.authors; ++author) {
      clients.Post(UserId{World::kFirstAuthor + author}, world.now.unix_ms);
      world.Count(Letter::kPostedAtRest);
    }
    return Rest(false, 1);
  }

  bool Rest(bool hold_orphans, int calm_rounds) {
    int calm = 0;
    for (int round = 0; round < 20'000 && calm < calm_rounds; ++round) {
      for (int burst = 0; burst < 8 && !world.network.empty(); ++burst) {
        const size_t index = world.Pick(world.network.size());
        if (!(hold_orphans && world.network.at(index).orphan)) CarryOut(index);
      }
      programs.TurnOfAll();
      // Readers are slow, too, so that their rebuilds overlap with what is still under way.
      if (readers.rebuilding() && world.Chance(15)) readers.StepOldest();
      rare.MoveOn();
      walks.Step();
      world.Tick(20);
      calm = AtRest(hold_orphans) ? calm + 1 : 0;
    }
    return calm >= calm_rounds;
  }

  // When consumers are not told what a log lost, a group's position may be beyond its end, or
  // before it with nothing left to read.
  bool AllCommitted() const {
    const bool told = world.options.guards.lost_heads_told && world.options.guards.lost_tails_told;
    return world.held_back.empty() &&
           std::all_of(world.assignments.begin(), world.assignments.end(),
                       [told](const Assignment* each) {
                         return told ? each->committed == each->end()
                                     : std::max(each->committed, each->low) >= each->end();
                       });
  }

  bool Unscanned() const {
    if (!world.character.scans || !world.options.guards.scans_log1) return false;
    const auto& relations = world.mysql.relations;
    return relations.Unscanned(0) || relations.Unscanned(1);
  }

  // Nothing is under way but polls (of pos, of log1, of offsets): those never end.
  bool AtRest(bool hold_orphans) {
    if (readers.rebuilding() || world.slots.moving() || !AllCommitted() || !programs.AtRest() ||
        world.mysql.relations.pending() > 0 || Unscanned()) {
      return false;
    }
    for (size_t i = 0; i < world.network.size(); ++i) {
      const Call& call = world.network.at(i);
      if (call.orphan ? !hold_orphans : call.owner == 0) return false;
    }
    return true;
  }
};

}  // namespace fanline::sim
