// What goes wrong: crashes, moved partitions, calls that time out and are carried out much later or
// never, Redis rolled back or flushed, keys that expire, a shard that is away for a while.
#pragma once

#include <string>

#include "tests/sim/readers.h"

namespace fanline::sim {

struct Faults : Readers {
  using Readers::Readers;

  void LoseConnections() {
    for (auto& process : pushers) ++process->connection;
  }

  // A call answers kLater to its caller, but is still under way: carried out later, or never.
  void TimeOut() {
    const size_t index = Pick(network.size());
    Call& call = network.at(index);
    if (call.orphan || !call.fail) return;
    ++counts.timeouts;
    Trace("timeout of " + call.name);
    call.fail();
    call.orphan = true;
    call.fail = {};
    if (Chance(40)) network.Take(index);
  }

  void Fault() {
    const Character& of = character;
    switch (Draw({of.time_out, of.crash_pusher, of.crash_dispatcher, of.move_range, of.move_feed,
                  of.snapshot, of.rollback, of.flush, of.expire, of.redis_full, of.forget_index,
                  of.revoke_all, of.lose_head})) {
      case 0:
        if (!network.empty()) TimeOut();
        return;
      case 1:
        CrashPusher(static_cast<int>(Pick(pushers.size())));
        return;
      case 2:
        CrashDispatcher(static_cast<int>(Pick(dispatchers.size())));
        return;
      case 3:
        ++counts.zombies;
        Trace("a range moves");
        Move(task_group, pushers, static_cast<int>(Pick(kRanges)),
             static_cast<int>(Pick(pushers.size())));
        return;
      case 4:
        Move(feed_group, dispatchers, static_cast<int>(Pick(kFeedPartitions)),
             static_cast<int>(Pick(dispatchers.size())));
        return;
      case 5:
        Trace("snapshot");
        snapshot = redis;
        return;
      case 6:
        // Replicas promoted, backups restored: back to the snapshot, behind a new connection.
        if (HintsHeldBack()) return;
        Trace("rollback");
        ++counts.rollbacks;
        redis = snapshot;
        LoseConnections();
        network.Lose("redis");
        return;
      case 7:
        Trace("flush");
        ++counts.flushes;
        redis.FlushAll();
        snapshot = redis;
        return;
      case 8:
        Expire();
        return;
      case 9:
        Trace("Redis is full");
        full_until = now.unix_ms + static_cast<int64_t>(Pick(100));
        return;
      case 10:
        Trace("an index is deleted");
        redis.ForgetIndex(BucketOf(AnyReader()));
        return;
      case 11:
        Trace("all partitions are revoked");
        Count(Letter::kRevokedAll);
        RevokeAll(feed_group, dispatchers);
        RevokeAll(task_group, pushers);
        RevokeAll(mirror_group, mirrors);
        RevokeAllPairs();
        if (!event_consumers.empty()) RevokeAll(event_group, event_consumers);
        return;
      case 12:
        LoseHead(tasks, task_group, Letter::kLostHead);
        return;
      default:
        return;  // a schedule without faults
    }
  }

  void RelationFault() {
    const Character& of = character;
    switch (Draw({of.crash_mirror, of.crash_reconciler, of.move_mirror, of.move_pairs,
                  of.shard_away, of.change_mode, of.lose_tail, of.lose_other_heads,
                  of.crash_event_consumer, of.move_event_consumer})) {
      case 0:
        ++counts.crashes;
        CrashMirror(static_cast<int>(Pick(mirrors.size())));
        return;
      case 1:
        ++counts.crashes;
        CrashReconciler(static_cast<int>(Pick(reconcilers.size())));
        return;
      case 2:
        MoveMirror(static_cast<int>(Pick(kRelationPartitions)));
        return;
      case 3:
        MovePairs(static_cast<int>(Pick(kRelationPartitions + 1)));
        return;
      case 4:
        ++counts.shards_away;
        away_until[Pick(kShards)] = now.unix_ms + static_cast<int64_t>(Pick(300));
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
        CrashEventConsumer(static_cast<int>(Pick(event_consumers.size())));
        return;
      case 9:
        Move(event_group, event_consumers, static_cast<int>(Pick(kEventPartitions)),
             static_cast<int>(Pick(event_consumers.size())));
        return;
      default:
        return;
    }
  }

  void ChangeMode() {
    if (Chance(50)) {
      Count(Letter::kModeChanged);
      character.inline_too = !character.inline_too;
      return;
    }
    constexpr ReconcilerMode kModes[] = {ReconcilerMode::kRun, ReconcilerMode::kDryRun,
                                         ReconcilerMode::kPause};
    reconciler_mode = kModes[Pick(3)];
    Trace(std::string("reconcilers: ") + NameOf(reconciler_mode));
    if (reconciler_mode != ReconcilerMode::kRun) Count(Letter::kRepairsStopped);
  }

  // ---- logs that lost their head or their tail ------------------------------------------------
  // Only losses that the design can make good. A lost hint's content is in the truth, so a range
  // begins anew. Lost changes of edges are pending in log1 and are relayed again. Events of
  // applications are nowhere else, so the application sends those again that nobody had stored.
  //
  // The consumer that stands beyond the end notices a lost tail. For hints and events that is the
  // group: unread records are lost unseen if the group does not stand beyond the end.
  void LoseTail() {
    switch (Pick(5)) {
      case 0:
        return LoseTail(tasks, task_group, Letter::kLostTail);
      case 1:
        return LoseTail(feed, feed_group, Letter::kLostOtherTail);
      case 2:
        return LoseTail(relation_events, event_group, Letter::kLostOtherTail);
      case 3:
        return LoseTail(relation_log, mirror_group, Letter::kLostOtherTail);
      default:
        LoseTail(retry_log, retry_group, Letter::kLostOtherTail);
    }
  }

  void LoseTail(std::vector<Log>& topic, const std::vector<Assignment>& group, Letter letter) {
    const size_t partition = Pick(topic.size());
    const Assignment& assignment = group[partition];
    Log& log = topic[partition];
    const bool may_lose_unread = &topic == &relation_log || &topic == &retry_log;
    const int64_t most = may_lose_unread ? assignment.end() : assignment.committed;
    if (most > assignment.end() || most <= assignment.low) return;
    const auto end =
        assignment.low + static_cast<int64_t>(Pick(static_cast<uint64_t>(most - assignment.low)));
    Trace("a log of " + std::to_string(assignment.end()) + " records loses its tail from " +
          std::to_string(end) + " on");
    Count(letter);
    SendAgain(topic, partition, assignment.committed, assignment.end());
    CutTail(log, end);
    if (!options.guards.lost_tails_told) return;
    // A fetch beyond the end fails at once, or the brokers fail it: they know which leader the
    // consumer read from.
    ForAllMembers([&](const std::vector<Assignment>& each, auto& process, int index) {
      AssignAgain(each, process, index, log);
      RetryLostPositions(each, process, index);
    });
  }

  void LoseOtherHead() {
    switch (Pick(4)) {
      case 0:
        return LoseHead(feed, feed_group, Letter::kLostOtherHead);
      case 1:
        return LoseHead(relation_events, event_group, Letter::kLostOtherHead);
      case 2:
        return LoseHead(relation_log, mirror_group, Letter::kLostOtherHead);
      default:
        LoseHead(retry_log, retry_group, Letter::kLostOtherHead);
    }
  }

  // Retention takes records that nobody has read, where the group is furthest behind.
  void LoseHead(std::vector<Log>& topic, const std::vector<Assignment>& group, Letter letter) {
    size_t partition = 0;
    for (size_t other = 1; other < group.size(); ++other) {
      if (group[other].unfinished() > group[partition].unfinished()) partition = other;
    }
    if (group[partition].unfinished() <= 0) return;
    const int64_t end = group[partition].end();
    const int64_t low = end - group[partition].unfinished();
    const auto first = low + 1 + static_cast<int64_t>(Pick(static_cast<uint64_t>(end - low)));
    Trace("a log of " + std::to_string(end) + " records loses its head up to " +
          std::to_string(first));
    Count(letter);
    SendAgain(topic, partition, group[partition].committed, first);
    for (Assignment* each : assignments) {
      if (each->log == &topic[partition]) each->low = first;
    }
  }

  // The application, which alone knows the events, sends them again.
  void SendAgain(std::vector<Log>& topic, size_t partition, int64_t from, int64_t to) {
    if (&topic != &feed && &topic != &relation_events) return;
    for (int64_t offset = from; offset < to; ++offset) {
      Later("event once more", 0,
            [this, &topic, partition, value = topic[partition][static_cast<size_t>(offset)].value] {
              Append(topic, static_cast<int32_t>(partition), value);
            });
    }
  }

  template <typename F>
  void ForAllMembers(F act) {
    const auto all = [&act](std::vector<Assignment>& group, auto& members) {
      for (size_t i = 0; i < members.size(); ++i) act(group, *members[i], static_cast<int>(i));
    };
    all(task_group, pushers);
    all(feed_group, dispatchers);
    all(mirror_group, mirrors);
    all(event_group, event_consumers);
    for (size_t i = 0; i < reconcilers.size(); ++i) {
      act(pair_group, reconcilers[i]->pairs, static_cast<int>(i));
      act(retry_group, reconcilers[i]->retries, static_cast<int>(i));
    }
  }

  void CrashPusher(int index) {
    Trace("crash of pusher " + std::to_string(index));
    ++counts.crashes;
    Crash(task_group, pushers, index, [this](PusherProcess& process) { StartPusher(process); });
  }

  void CrashDispatcher(int index) {
    Trace("crash of dispatcher " + std::to_string(index));
    ++counts.crashes;
    Crash(feed_group, dispatchers, index,
          [this](DispatcherProcess& process) { StartDispatcher(process); });
  }

  void Expire() {
    const UserId reader = AnyReader();
    if (!redis.timelines().contains(reader)) return;
    ++counts.expiries;
    Trace("expiry of " + ToString(reader));
    redis.Expire(reader);
  }
};

}  // namespace fanline::sim
