// What goes wrong: crashes, moved partitions, calls that time out and are carried out much later or
// never, Redis rolled back or flushed, expired keys, a shard that is away for a while. Faults of
// only some schedules are in rare_faults.h.
#pragma once

#include <string>

#include "tests/sim/programs.h"

namespace fanline::sim {

struct Faults {
  World& world;
  Programs& programs;

  // A call answers kLater to its caller, but is still under way: carried out later, or never.
  void TimeOut() {
    const size_t index = world.Pick(world.network.size());
    Call& call = world.network.at(index);
    if (call.orphan || !call.fail) return;
    world.Trace("timeout of " + call.name);
    call.fail();
    call.orphan = true;
    call.fail = {};
    if (world.Chance(40)) world.network.Take(index);
  }

  void Strike() {
    const Character& of = world.character;
    switch (world.Draw({of.time_out, of.crash_pusher, of.crash_dispatcher, of.move_range,
                        of.move_feed, of.snapshot, of.rollback, of.flush, of.expire, of.redis_full,
                        of.forget_index, of.revoke_all, of.lose_head})) {
      case 0:
        if (!world.network.empty()) TimeOut();
        return;
      case 1:
        programs.pushers.CrashAny();
        return;
      case 2:
        programs.dispatchers.CrashAny();
        return;
      case 3:
        ++world.counts.zombies;
        world.Trace("a range moves");
        programs.pushers.MoveAny();
        return;
      case 4:
        programs.dispatchers.MoveAny();
        return;
      case 5:
        world.Trace("snapshot");
        world.snapshot = world.redis;
        return;
      case 6:
        RollBack(world.character.nodes > 1 && world.Chance(50) ? 1u : 0u);
        return;
      case 7:
        world.Trace("flush");
        ++world.counts.flushes;
        world.redis.FlushAll();
        world.snapshot = world.redis;
        return;
      case 8:
        Expire();
        return;
      case 9:
        world.Trace("Redis is full");
        world.full_until = world.now.unix_ms + world.PickInt(100);
        return;
      case 10:
        world.Trace("an index is deleted");
        world.redis.ForgetIndex(RangeLayout(kRanges).RangeOf(world.AnyReader()));
        return;
      case 11:
        world.Trace("all partitions are revoked");
        world.Count(Letter::kRevokedAll);
        programs.ForEachGroup([](auto& members) { members.RevokeAll(); });
        return;
      case 12:
        LoseHead(world.tasks, world.task_group, Letter::kLostHead);
        return;
      default:
        return;  // a schedule without faults
    }
  }

  // A replica is promoted, or a backup is restored: the node's ranges go back to the snapshot, and
  // the connection is a new one.
  void RollBack(uint32_t node) {
    if (world.HintsHeldBack() || world.slots.moving()) return;
    world.Trace("rollback");
    ++world.counts.rollbacks;
    for (Range range = 0; range < static_cast<Range>(kRanges); ++range) {
      if (world.slots.NodeOf(range) == node) world.redis.TakeFrom(world.snapshot, range);
    }
    for (auto& process : programs.pushers.processes) ++process->connections[node];
    world.network.Lose(RedisCaller::NameOf(node));
  }

  void StrikeRelations() {
    const Character& of = world.character;
    switch (world.Draw({of.crash_mirror, of.crash_reconciler, of.move_mirror, of.move_pairs,
                        of.shard_away, of.change_mode, of.lose_tail, of.lose_other_heads,
                        of.crash_event_consumer, of.move_event_consumer})) {
      case 0:
        programs.mirrors.CrashAny();
        return;
      case 1:
        programs.reconcilers.CrashAny();
        return;
      case 2:
        programs.mirrors.MoveAny();
        return;
      case 3:
        programs.reconcilers.MoveAny();
        return;
      case 4:
        ++world.counts.shards_away;
        world.away_until[world.Pick(kShards)] = world.now.unix_ms + world.PickInt(300);
        return;
      case 5:
        ChangeMode();
        return;
      case 6:
        LoseTail();
        return;
      case 7:
        LoseOtherHead();
        return;
      case 8:
        programs.event_consumers.CrashAny();
        return;
      case 9:
        programs.event_consumers.MoveAny();
        return;
      default:
        return;
    }
  }

  void ChangeMode() {
    if (world.Chance(50)) {
      world.Count(Letter::kModeChanged);
      world.character.inline_too = !world.character.inline_too;
      return;
    }
    constexpr ReconcilerMode kModes[] = {ReconcilerMode::kRun, ReconcilerMode::kDryRun,
                                         ReconcilerMode::kPause};
    world.reconciler_mode = kModes[world.Pick(3)];
    world.Trace(std::string("reconcilers: ") + NameOf(world.reconciler_mode));
    if (world.reconciler_mode != ReconcilerMode::kRun) world.Count(Letter::kRepairsStopped);
  }

  // ---- logs that lost their head or their tail ------------------------------------------------
  // Only losses from which the design recovers. A lost hint's content is in the truth, so a range
  // starts again. Changes of edges are in log1 until they are in both rows. Events of
  // applications are nowhere else, so the application sends again those that nobody had stored.
  // A consumer whose position is beyond the end notices a lost tail. For hints and events this is
  // the group: if its position is not beyond the end, the loss of unread records goes unnoticed.
  void LoseTail() {
    switch (world.Pick(5)) {
      case 0:
        return LoseTail(world.tasks, world.task_group, Letter::kLostTail);
      case 1:
        return LoseTail(world.feed, world.feed_group, Letter::kLostOtherTail);
      case 2:
        return LoseTail(world.relation_events, world.event_group, Letter::kLostOtherTail);
      case 3:
        return LoseTail(world.relation_log, world.pair_group, Letter::kLostOtherTail);
      default:
        LoseTail(world.retry_log, world.retry_group, Letter::kLostOtherTail);
    }
  }

  void LoseTail(std::vector<Log>& topic, const std::vector<Assignment>& group, Letter letter) {
    const size_t partition = world.Pick(topic.size());
    const Assignment& assignment = group[partition];
    Log& log = topic[partition];
    const bool may_lose_unread = &topic == &world.relation_log || &topic == &world.retry_log;
    const int64_t most = may_lose_unread ? assignment.end() : assignment.committed;
    if (most > assignment.end() || most <= assignment.low) return;
    const auto end = assignment.low +
                     static_cast<int64_t>(world.Pick(static_cast<uint64_t>(most - assignment.low)));
    world.Trace("a log of " + std::to_string(assignment.end()) + " records loses its tail from " +
                std::to_string(end) + " on");
    world.Count(letter);
    SendAgain(topic, partition, assignment.committed, assignment.end());
    world.CutTail(log, end);
    if (!world.options.guards.lost_tails_told) return;
    programs.ForEachGroup([&log](auto& members) { members.NoticeCut(log); });
  }

  void LoseOtherHead() {
    switch (world.Pick(4)) {
      case 0:
        return LoseHead(world.feed, world.feed_group, Letter::kLostOtherHead);
      case 1:
        return LoseHead(world.relation_events, world.event_group, Letter::kLostOtherHead);
      case 2:
        return LoseHead(world.relation_log, world.pair_group, Letter::kLostOtherHead);
      default:
        LoseHead(world.retry_log, world.retry_group, Letter::kLostOtherHead);
    }
  }

  // Retention removes unread records, where the group is furthest behind.
  void LoseHead(std::vector<Log>& topic, const std::vector<Assignment>& group, Letter letter) {
    size_t partition = 0;
    for (size_t other = 1; other < group.size(); ++other) {
      if (group[other].unfinished() > group[partition].unfinished()) partition = other;
    }
    if (group[partition].unfinished() <= 0) return;
    const int64_t end = group[partition].end();
    const int64_t low = end - group[partition].unfinished();
    const auto first = low + 1 + static_cast<int64_t>(world.Pick(static_cast<uint64_t>(end - low)));
    world.Trace("a log of " + std::to_string(end) + " records loses its head up to " +
                std::to_string(first));
    world.Count(letter);
    SendAgain(topic, partition, group[partition].committed, first);
    for (Assignment* each : world.assignments) {
      if (each->log == &topic[partition]) each->low = first;
    }
  }

  // Only the application knows the events; it sends them again.
  void SendAgain(std::vector<Log>& topic, size_t partition, int64_t from, int64_t to) {
    if (&topic != &world.feed && &topic != &world.relation_events) return;
    for (int64_t offset = from; offset < to; ++offset) {
      world.Later("event once more", [this, &topic, partition,
                                      value = topic[partition][static_cast<size_t>(offset)].value] {
        world.Append(topic, static_cast<int32_t>(partition), value);
      });
    }
  }

  void Expire() {
    const UserId reader = world.AnyOwner();
    if (!world.redis.timelines().contains(reader)) return;
    ++world.counts.expiries;
    world.Trace("expiry of " + ToString(reader));
    world.redis.Expire(reader);
  }
};

}  // namespace fanline::sim
