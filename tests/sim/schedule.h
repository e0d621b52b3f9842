// Drives the fleet: which call is carried out next, which process runs, which fault strikes, and
// how everything comes to rest.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/sim/checks.h"

namespace fanline::sim {

struct Schedule : Checks {
  using Checks::Checks;

  static constexpr int kCalmRounds =
      40;  // far longer than the look at pos: takes to notice a rollback

  void CarryOut(size_t index) {
    Call call = network.Take(index);
    counts.late_writes += call.orphan;
    ++carried_out;
    Trace("carry out " + call.name + (call.orphan ? " (orphan)" : ""));
    const auto deliver = call.carry_out();
    if (deliver && !call.orphan) deliver();
  }

  void AnyTurn() {
    const uint64_t which = Pick(dispatchers.size() + pushers.size());
    if (which < dispatchers.size()) {
      TurnOf(feed_group, feed, dispatchers, which, Chance(character.notice));
    } else {
      TurnOf(task_group, tasks, pushers, which - dispatchers.size(), Chance(character.notice));
    }
    const uint64_t other = Pick(mirrors.size() + reconcilers.size() + event_consumers.size());
    const bool notice = Chance(character.notice);
    if (other < mirrors.size()) {
      TurnOf(mirror_group, relation_log, mirrors, other, notice);
    } else if (other < mirrors.size() + reconcilers.size()) {
      TurnOfReconciler(other - mirrors.size(), notice);
    } else {
      TurnOf(event_group, relation_events, event_consumers,
             other - mirrors.size() - reconcilers.size(), notice);
    }
  }

  template <typename P>
  void TurnOf(std::vector<Assignment>& group, const std::vector<Log>& topic,
              std::vector<std::unique_ptr<P>>& members, size_t which, bool notice) {
    const int index = static_cast<int>(which);
    if (notice) NoticeRevocations(group, *members[which], index);
    Turn(group, topic, *members[which], index);
  }

  void TurnOfReconciler(size_t which, bool notice) {
    const int index = static_cast<int>(which);
    Reconciler& process = *reconcilers[which];
    if (notice) {
      NoticeRevocations(pair_group, process.pairs, index);
      NoticeRevocations(retry_group, process.retries, index);
    }
    Turn(pair_group, relation_log, process.pairs, index);
    Turn(retry_group, retry_log, process.retries, index);
  }

  void Start() {
    for (int i = 0; i < 2; ++i) {
      dispatchers.push_back(std::make_unique<DispatcherProcess>());
      StartDispatcher(*dispatchers.back());
      pushers.push_back(std::make_unique<PusherProcess>());
      StartPusher(*pushers.back());
      mirrors.push_back(std::make_unique<MirrorProcess>());
      StartMirror(*mirrors.back());
      reconcilers.push_back(std::make_unique<Reconciler>());
      StartReconciler(*reconcilers.back());
    }
    for (int i = 0; i < kFeedPartitions; ++i) Move(feed_group, dispatchers, i, i % 2);
    for (int i = 0; i < kRanges; ++i) Move(task_group, pushers, i, i % 2);
    for (int i = 0; i < static_cast<int>(kRelationPartitions); ++i) {
      Move(mirror_group, mirrors, i, i % 2);
      MovePairsTo(i, i % 2);
    }
    MovePairsTo(kRelationPartitions, 0);
    if (character.relation_event > 0) StartEventConsumers();
    for (uint64_t reader = 1; reader <= character.readers; ++reader) {
      for (uint64_t author = 0; author < character.authors; ++author) {
        if (!Chance(60)) continue;
        const EdgeKey key{UserId{reader}, UserId{kFirstAuthor + author}};
        said.AtOnce(key, true);
        mysql.WriteForward(key.src, key.dst, true);
      }
    }
  }

  void Play() {
    faults = true;
    const Character& of = character;
    for (int step = 0; step < options.steps; ++step) {
      Tick(4);
      switch (Draw({of.carry_out, of.turn, of.client, of.reader, of.fault})) {
        case 0:
          // Mostly fast enough for the fleet to keep up: repairs at the very end hide what went
          // wrong on the way.
          for (uint64_t burst = 1 + Pick(character.burst); burst > 0; --burst) CarryOutAny();
          break;
        case 1:
          AnyTurn();
          break;
        case 2:
          ClientActs();
          break;
        case 3:
          ReaderActs();
          break;
        default:
          Fault();
          RelationFault();
      }
    }
  }

  // Captured writes are held back: the longer they wait, the more they could spoil.
  void CarryOutAny() {
    if (network.empty()) return;
    const size_t index = Pick(network.size());
    Call& call = network.at(index);
    if (call.orphan && Chance(character.hold_orphans)) return;
    if (call.patience == 0)
      call.patience = Chance(character.slow) ? 1 + static_cast<int>(Pick(30)) : 1;
    if (--call.patience == 0) CarryOut(index);
  }

  // Faults stop and everything under way is carried out: first all but the captured writes. These
  // then strike a fleet that believes that it is done.
  bool ComeToRest() {
    faults = false;
    away_until = {};
    full_until = 0;
    reconciler_mode = ReconcilerMode::kRun;
    if (!Rest(character.hold_orphans > 0, kCalmRounds)) return false;
    return Rest(false, kCalmRounds);
  }

  // A lane that is stuck, or a range that stays paused, looks at rest until something is posted.
  bool PostOnceMore() {
    for (uint64_t author = 0; author < character.authors; ++author) {
      Post(UserId{kFirstAuthor + author}, now.unix_ms);
      Count(Letter::kPostedAtRest);
    }
    return Rest(false, 1);
  }

  bool Rest(bool hold_orphans, int calm_rounds) {
    int calm = 0;
    for (int round = 0; round < 20'000 && calm < calm_rounds; ++round) {
      for (int burst = 0; burst < 8 && !network.empty(); ++burst) {
        const size_t index = Pick(network.size());
        if (!(hold_orphans && network.at(index).orphan)) CarryOut(index);
      }
      for (size_t i = 0; i < dispatchers.size(); ++i) {
        TurnOf(feed_group, feed, dispatchers, i, true);
      }
      for (size_t i = 0; i < pushers.size(); ++i) TurnOf(task_group, tasks, pushers, i, true);
      for (size_t i = 0; i < mirrors.size(); ++i) {
        TurnOf(mirror_group, relation_log, mirrors, i, true);
      }
      for (size_t i = 0; i < reconcilers.size(); ++i) TurnOfReconciler(i, true);
      for (size_t i = 0; i < event_consumers.size(); ++i) {
        TurnOf(event_group, relation_events, event_consumers, i, true);
      }
      // Readers take their time too, so that what is still under way overlaps their rebuilds.
      if (!rebuilds.empty() && Chance(15) && !StepRebuild(rebuilds.front())) rebuilds.pop_front();
      Tick(20);
      calm = AtRest(hold_orphans) ? calm + 1 : 0;
    }
    return calm >= calm_rounds;
  }

  // When consumers are not told what a log lost, a group may stand beyond its end, or before it
  // with nothing left to read.
  bool AllCommitted() const {
    const bool told = options.guards.lost_heads_told && options.guards.lost_tails_told;
    return held_back.empty() &&
           std::all_of(assignments.begin(), assignments.end(), [told](const Assignment* each) {
             return told ? each->committed == each->end()
                         : std::max(each->committed, each->low) >= each->end();
           });
  }

  // Nothing is under way but polls (of pos, of log1, of offsets): those never end.
  bool AtRest(bool hold_orphans) {
    if (!rebuilds.empty() || !AllCommitted() || mysql.relations.pending() > 0) return false;
    for (const auto& process : reconcilers) {
      if (process->pairs.logic->pending() > 0 || !process->pairs.logic->drained() ||
          !process->retries.logic->drained()) {
        return false;
      }
    }
    for (const auto& process : dispatchers) {
      if (process->logic->events_open() > 0) return false;
    }
    for (const auto& process : pushers) {
      const auto& held = process->metrics.held;
      if (held.hints > 0 || held.ranges_ready < held.ranges) return false;
    }
    for (size_t i = 0; i < network.size(); ++i) {
      const Call& call = network.at(i);
      if (call.orphan ? !hold_orphans : call.owner == 0) return false;
    }
    return true;
  }
};

}  // namespace fanline::sim
