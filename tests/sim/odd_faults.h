// The faults of only a few schedules (odd.h).
#pragma once

#include <algorithm>
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
    switch (world.Draw({of.upgrade, of.unusable, of.letters_away, of.commit_back, of.demote,
                        of.lose_rows, of.lock, of.hang, of.lose_changes})) {
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
      case 6:
        Lock(world.Chance(70) ? world.AnyAuthor() : world.AnyReader());
        return;
      case 7:
        Hang();
        return;
      case 8:
        LoseChanges(AnyShard());
        return;
      default:
        return;
    }
  }

  // What no pair finds once it was answered. Promised is: the log scan does, if it happens before
  // it looks at the change.
  void StrikeEscape() {
    using Escape = Character::Escape;
    switch (world.character.escape) {
      case Escape::kReverseLost:
        return LoseApplied(AnyShard());
      case Escape::kForwardLost:
        return LoseChanges(AnyShard());
      case Escape::kMarked:
        return MarkAny(AnyShard());
      case Escape::kEdited:
        return EditAny();
      case Escape::kNone:
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
    world.locked_until = {};
    for (auto& mirror : programs.mirrors.processes) mirror->hung_until = 0;
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

  // ---- changes of edges -----------------------------------------------------------------------
  void Lock(UserId user) {
    const Shard shard = world.shards.ShardOf(user);
    world.Trace("somebody holds a row of " + ToString(user));
    world.locked_user[shard] = user;
    world.locked_until[shard] = world.now.unix_ms + world.PickInt(150);
  }

  // The calls it has made go on.
  void Hang() {
    const int index = world.PickInt(programs.mirrors.size());
    world.Trace("mirror " + std::to_string(index) + " hangs");
    world.Count(Letter::kHung);
    programs.mirrors.at(index).hung_until = world.now.unix_ms + world.PickInt(250);
  }

  // The last changes go with their rows of log1. Promised is, without a scan of the tables: a
  // change whose msg1 is in relation-log and whose pair is open, neither answered nor looked at, is
  // in both rows in the end. Of a change that nobody was told of nothing stays. So a shard whose
  // last changes are others does not fail, nor while a mirror that knows them would not notice, nor
  // twice: an adopted change has no msg1 of its own at first.
  void LoseChanges(Shard shard) {
    auto& relations = world.mysql.relations;
    const auto lost = relations.Last(shard, 1 + world.Pick(3));
    if (lost.empty() || world.failovers[shard] > 0 || !MirrorsWouldNotice(shard)) return;
    for (const LoggedChange& change : lost) {
      const EdgeKey edge = change.edge.key();
      const UnixMs age = world.now.unix_ms - change.written_at;
      const bool old = age >= world.character.grace_ms;
      const bool open = !old && !world.announced.Mirrored(edge, change.edge.ver);
      const bool seen_later = world.character.scans && Young(change.edge.ver) &&
                              world.announced.Written(edge, change.edge.ver);
      if (!open && !seen_later) return;
      if (relations.PendingOf(shard, edge) > 1) return;
    }
    world.Trace("shard " + std::to_string(shard) + " loses " + std::to_string(lost.size()) +
                " changes");
    world.Count(Letter::kChangesLost);
    relations.LoseChanges(shard, lost.size());
    ++world.failovers[shard];
    for (const LoggedChange& change : lost) {
      world.said.Unsure(change.edge.key());
      // Of timelines that were rebuilt meanwhile.
      world.Later("hint after a failover", [this, edge = change.edge.key()] {
        world.AppendHint(RangeLayout(kRanges).RangeOf(edge.src), Hint::OfSync(edge.src, edge.dst));
      });
    }
    world.network.Lose(MirrorProcess::NameOfLog1(shard));
    world.primaries.Switch(shard, world.incarnations + 1, nullptr);
    CatchUp(shard);
  }

  // ---- what escapes the pairs -----------------------------------------------------------------
  // Whether the log scan is still to look at a change; its version is the clock's.
  bool Young(uint64_t ver) const {
    return static_cast<UnixMs>(ver / 1'000) + Milliseconds(kScanAfter) > world.now.unix_ms;
  }

  // A replica that lags takes over the reverse rows.
  void LoseApplied(Shard shard) {
    auto& relations = world.mysql.relations;
    const auto lost = relations.LastApplied(shard, 1 + world.Pick(3));
    if (lost.empty()) return;
    for (const Edge& edge : lost) {
      if (!Young(edge.ver)) return;
    }
    world.Trace("shard " + std::to_string(shard) + " loses " + std::to_string(lost.size()) +
                " reverse rows");
    world.Count(Letter::kReverseLost);
    relations.LoseApplied(shard, lost.size());
  }

  // Somebody marks a row of log1 that no mirror has come to. The scan passes rows that are still
  // pending when it comes to them.
  void MarkAny(Shard shard) {
    auto& relations = world.mysql.relations;
    const auto pending = relations.Do(ReadPending{0, shard, 0, 100}).changes;
    if (pending.empty()) return;
    const LoggedChange& change = pending[world.Pick(pending.size())];
    if (change.written_at + Milliseconds(kScanAfter) <= world.now.unix_ms) return;
    world.Trace("a row of " + ToString(change.edge.src) + " and " + ToString(change.edge.dst) +
                " is marked by hand");
    world.Count(Letter::kMarked);
    relations.Finish(shard, {change.id});
  }

  // Somebody changes a reverse row. No counter is touched.
  void EditAny() {
    const auto& reverse = world.mysql.relations.reverse();
    if (reverse.empty()) return;
    const auto at = std::next(reverse.begin(), world.PickInt(reverse.size()));
    const auto& [key, row] = *at;
    if (!Young(row.ver)) return;
    EdgeState edited = row;
    world.Chance(50) ? (void)++edited.pos : (void)--edited.ver;
    world.Trace("the reverse row of " + ToString(key.src) + " and " + ToString(key.dst) +
                " is edited");
    world.Count(Letter::kEdited);
    world.mysql.relations.Overwrite(EdgeOf(key, edited));
  }

  // By a call that is under way, before they do anything else. Once a hint is on its way, msg2
  // follows whatever they notice.
  bool MirrorsWouldNotice(Shard shard) const {
    const auto& mirrors = programs.mirrors.processes;
    return std::all_of(mirrors.begin(), mirrors.end(), [this, shard](const auto& mirror) {
      if (!mirror->believes.contains(static_cast<int32_t>(shard * kEventPartitions / kShards)))
        return true;
      bool asks = false;
      for (size_t i = 0; i < world.network.size(); ++i) {
        const Call& call = world.network.at(i);
        const bool its = call.owner == mirror->incarnation && !call.orphan;
        if (its && call.name == MirrorProcess::kSyncHints) return false;
        asks = asks || (its && call.name == MirrorProcess::NameOfLog1(shard));
      }
      return asks && mirror->inbox.empty();
    });
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
