// The faults of only a few schedules (odd.h).
#pragma once

#include <memory>
#include <string>

#include "fanline/wire/event_codec.h"
#include "tests/sim/programs.h"

namespace fanline::sim {

struct OddFaults {
  World& world;
  Programs& programs;

  void Strike() {
    const Odd& of = world.character.odd;
    switch (world.Draw(
        {of.upgrade, of.unusable, of.letters_away, of.commit_back, of.demote, of.lose_rows})) {
      case 0:
        Drain();
        return;
      case 1:
        EmitUnusable();
        return;
      case 2:
        world.Trace("no dead letter is taken");
        world.dead_letters.away_until = world.now.unix_ms + world.PickInt(200);
        return;
      case 3:
        world.Chance(60) ? MoveCommitBack(programs.pushers) : MoveCommitBack(programs.dispatchers);
        return;
      case 4:
        Demote();
        return;
      case 5:
        world.Chance(60) ? CatchUp(AnyShard()) : FailOver(AnyShard());
        return;
      default:
        return;
    }
  }

  // Called after each event.
  void Step() {
    if (world.character.odd.upgrade == 0) return;
    for (size_t i = 0; i < programs.pushers.size(); ++i) {
      const PusherProcess& pusher = *programs.pushers.processes[i];
      const bool ends = pusher.draining && (pusher.logic->drained() || world.Strikes(2));
      if (ends) Replace(static_cast<int>(i), world.Chance(60));
    }
  }

  // Faults stop: pushers that wait for an upgrade get it.
  void Stop() {
    world.dead_letters.away_until = 0;
    if (world.character.odd.newer == 0) return;
    for (size_t i = 0; i < programs.pushers.size(); ++i) {
      const PusherProcess& pusher = *programs.pushers.processes[i];
      if (pusher.draining || !pusher.upgraded) Replace(static_cast<int>(i), true);
    }
  }

 private:
  static constexpr uint64_t kNoPost = 900'000;  // above all posts

  // A pusher is told to stop. It works on until it has drained or is killed.
  void Drain() {
    const int index = world.PickInt(programs.pushers.size());
    PusherProcess& pusher = programs.pushers.at(index);
    if (pusher.draining) return;
    world.Trace("pusher " + std::to_string(index) + " drains");
    pusher.draining = true;
    pusher.logic->StopTaking();
  }

  // Bytes that are not an event, and an event that is refused.
  void EmitUnusable() {
    const size_t number = world.dead_letters.unusable.size();
    const FeedEvent refused{EventKind::kPublished, PostId{kNoPost + number}, world.AnyAuthor(), 1,
                            0};
    const std::string value =
        world.Chance(50) ? "{\"event\":" + std::to_string(number) + "}" : EncodeEventJson(refused);
    world.dead_letters.unusable.insert(value);
    world.Later("unusable event",
                [this, value] { world.Append(world.feed, world.PickInt(kFeedPartitions), value); });
  }

  // Offsets are restored or set by hand while nobody owns the partition. Records that were finished
  // since are read again.
  template <typename P>
  void MoveCommitBack(Members<P>& members) {
    const int partition = world.PickInt(members.group.size());
    Assignment& assignment = members.group[static_cast<size_t>(partition)];
    const int64_t finished = assignment.committed - assignment.low;
    if (finished <= 0 || world.held_back.contains(assignment.log)) return;
    assignment.committed -= 1 + static_cast<int64_t>(world.Pick(static_cast<uint64_t>(finished)));
    world.Trace(std::string("a commit of the ") + members.name + "s goes back to " +
                std::to_string(assignment.committed));
    world.Count(Letter::kCommitBack);
    assignment.owner = -1;
    for (size_t i = 0; i < members.size(); ++i) members.NoticeRevocations(static_cast<int>(i));
    members.MoveToAny(partition);
  }

  // ---- primaries ------------------------------------------------------------------------------
  Shard AnyShard() { return static_cast<Shard>(world.Pick(kShards)); }

  void Demote() {
    const Shard shard = AnyShard();
    world.Trace("the primary of shard " + std::to_string(shard) + " is demoted");
    world.primaries.Switch(shard, world.incarnations + 1, RowsOfNow());
  }

  Primaries::Rows RowsOfNow() const {
    return std::make_shared<const fakes::FakeMysql>(world.mysql);
  }
  void CatchUp(Shard shard) { world.replicas[shard] = {RowsOfNow()}; }

  // A replica that lags takes over. Only the application can tell which posts it lacks. It compares
  // them with its own table and publishes the missing ones again.
  void FailOver(Shard shard) {
    const Replica& replica = world.replicas[shard];
    world.Trace("shard " + std::to_string(shard) + " loses the rows of " +
                std::to_string(replica.missing.size()) + " events");
    if (!replica.missing.empty()) world.Count(Letter::kRowsLost);
    for (const FeedEvent& event : replica.missing) {
      if (!world.options.guards.lost_rows_sent_again) break;
      world.Later("event once more", [this, event] {
        world.Append(world.feed, world.PickInt(kFeedPartitions), EncodeEventJson(event));
      });
    }
    world.mysql.LosePosts(shard, *replica.rows);
    world.primaries.Switch(shard, world.incarnations + 1, nullptr);
    CatchUp(shard);
  }

  void Replace(int index, bool upgraded) {
    const bool drained = programs.pushers.at(index).logic->drained();
    world.Trace("pusher " + std::to_string(index) + (drained ? " has drained" : " is killed") +
                (upgraded ? ", a newer one starts" : ", an older one starts"));
    if (drained) world.Count(Letter::kDrained);
    programs.pushers.Die(index);
    programs.pushers.at(index).upgraded = upgraded;
    programs.pushers.at(index).Start();
    programs.pushers.GiveAway(index);
  }
};

}  // namespace fanline::sim
