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
        return;
      case 12:
        LoseHead(Pick(kRanges));
        return;
      default:
        return;  // a schedule without faults
    }
  }

  void RelationFault() {
    const Character& of = character;
    switch (Draw({of.crash_mirror, of.crash_reconciler, of.move_mirror, of.move_pairs,
                  of.shard_away, of.change_mode})) {
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
        Count(Letter::kModeChanged);
        character.inline_too = !character.inline_too;
        return;
      default:
        return;
    }
  }

  // Retention takes hints that nobody has read.
  void LoseHead(size_t partition) {
    Assignment& assignment = task_group[partition];
    const auto unread = tasks[partition].size() - static_cast<uint64_t>(assignment.committed);
    if (unread == 0) return;
    assignment.low = assignment.committed + 1 + static_cast<int64_t>(Pick(unread));
    Trace("the log of range " + std::to_string(partition) + " loses its head");
    Count(Letter::kLostHead);
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
