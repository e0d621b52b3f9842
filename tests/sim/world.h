// Everything that processes and clients share: the stores, the logs and their consumer groups, and
// the network in between. Edges and posts lie on two shards, by their owner. A third shard holds
// the owners of ranges.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/model/record.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/operator_modes.h"
#include "fanline/wire/relation_log.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/fake_redis.h"
#include "tests/sim/chance.h"
#include "tests/sim/network.h"
#include "tests/sim/odd.h"
#include "tests/sim/primaries.h"
#include "tests/sim/said.h"
#include "tests/sim/slots.h"
#include "timeline/reader.h"

namespace fanline::sim {

inline constexpr int kFeedPartitions = 2;
inline constexpr uint32_t kRelationPartitions = 2;
inline constexpr int kEventPartitions = 2;
inline constexpr Shard kShards = 2;
inline constexpr Duration kScanAfter = std::chrono::milliseconds(300);

using Log = std::vector<Record>;

// One partition of a consumer group: its owner, its committed offset, and its log.
struct Assignment {
  int owner = -1;
  int64_t committed = 0;
  int64_t low = 0;  // the log's first offset
  Log* log = nullptr;

  int64_t end() const { return static_cast<int64_t>(log->size()); }
  int64_t unfinished() const { return end() - std::max(low, committed); }
};

inline Status AwayStatus() { return Status::Later("mysql", "away"); }
inline Status LockedStatus() {
  Status status = Status::Later("mysql", "lock wait");
  status.cause = Cause::kLocked;
  return status;
}

// The topics of dead letters. At times they refuse everything. A process that waits for a letter
// commits nothing beyond its record, and continues with all others.
struct DeadLetters {
  UnixMs away_until = 0;
  std::set<std::string> unusable;   // events sent that nobody can use
  std::set<std::string> of_events;  // events set aside by dispatchers
};

struct World : Chances {
  explicit World(const FleetOptions& given) : Chances(given) {
    redis.rules = given.guards.redis;
    mysql.rules = given.guards.mysql;
    mysql.relations.changes_settle = given.guards.changes_settle;
    mysql.relations.application_versions = given.guards.application_versions;
    mysql.relations.unfollows_reset = given.guards.unfollows_reset;
    mysql.relations.friendships_keep = given.guards.friendships_keep;
    mysql.relations.choices_settle_nothing = given.guards.choices_settle_nothing;
    mysql.relations.choices_mirrored = given.guards.choices_mirrored;
    snapshot = redis;
    Attach(feed, feed_group);
    Attach(tasks, task_group);
    for (Assignment& assignment : mirror_group) assignment.log = &no_log;
    Attach(relation_log, pair_group);
    Attach(retry_log, retry_group);
    Attach(relation_events, event_group);
    if (!character.scans) return;
    Attach(relation_log, later_group);
    for (Shard shard = 0; shard < kShards; ++shard) {
      mysql.relations.Do(MoveLogScan{.shard = shard});  // begins it: nothing is purged before
    }
  }

  fakes::FakeRedis redis{RangeLayout(kRanges), window()};
  fakes::FakeRedis snapshot{RangeLayout(kRanges), {}};
  Slots slots{redis, character, options.seed};
  std::array<UnixMs, Slots::kNodes> node_away_until{};
  UnixMs full_until = 0;  // of Redis, at its maxmemory
  const ShardMap shards = ShardMap::Even(kShards);
  fakes::FakeMysql mysql{RangeLayout(kRanges), std::max(2u, character.large_page), shards};
  std::array<UnixMs, kShards> away_until{};  // shards of relations
  UnixMs owners_away_until = 0;              // the shard of range_owner
  Primaries primaries{kShards};
  std::vector<Replica> replicas{kShards, Replica{std::make_shared<const fakes::FakeMysql>(mysql)}};
  std::vector<Log> feed{kFeedPartitions}, tasks{kRanges};
  std::vector<Log> relation_log{kRelationPartitions}, retry_log{1};
  std::vector<Log> relation_events{kEventPartitions};
  std::vector<Assignment> feed_group{kFeedPartitions}, task_group{kRanges};
  std::vector<Assignment> pair_group{kRelationPartitions};
  std::vector<Assignment> later_group{kRelationPartitions};  // empty, unless it scans
  // Mirrors are members by their partitions alone: nobody commits anything.
  Log no_log;
  std::vector<Assignment> mirror_group{kEventPartitions};
  std::vector<Assignment> retry_group{1}, event_group{kEventPartitions};
  std::vector<Assignment*> assignments;  // of all groups
  Network network;
  size_t carried_out = 0;  // calls of any kind, so far
  Said said;               // of each edge
  Announced announced;     // in relation-log
  // Changes that a mirror drops between msg1 and the reverse row; those that a reconciler found
  // pending, and leaves to the mirrors.
  std::set<std::pair<EdgeKey, uint64_t>> unmirrored, left_to_mirrors;
  std::array<UnixMs, kShards> locked_until{};  // a user of each shard, by somebody else
  std::array<UserId, kShards> locked_user{};
  std::array<uint64_t, kShards> failovers{};  // of shards of relations
  OddHints odd_hints;
  DeadLetters dead_letters;
  ReconcilerMode reconciler_mode = ReconcilerMode::kRun;
  uint64_t incarnations = 0;
  uint64_t tokens = 0;

  void Append(std::vector<Log>& topic, int32_t partition, std::string value) {
    Record record{.partition = partition,
                  .offset = static_cast<int64_t>(topic[static_cast<size_t>(partition)].size()),
                  .timestamp = now.unix_ms,
                  .value = std::move(value)};
    Log& log = topic[static_cast<size_t>(partition)];
    const auto cut = held_back.find(&log);
    if (cut == held_back.end()) return log.push_back(std::move(record));
    cut->second.push_back(std::move(record));
  }

  // ---- a log that lost its tail ---------------------------------------------------------------
  // A group may have read beyond the new end of such a log. Once the log grows past that position,
  // no consumer can notice the loss. So records that are appended wait until the group has started
  // again, or until a pusher has begun to drop the range's timelines. The appender still gets its
  // acknowledgement.
  std::map<Log*, std::vector<Record>> held_back;

  void CutTail(Log& log, int64_t end) {
    log.erase(log.begin() + end, log.end());
    if (!options.guards.lost_tails_told) return;
    held_back.try_emplace(&log);
    GrowAgain(&log);
  }

  // If Redis is rolled back to before such a loss, it knows positions of the lost records. Nobody
  // can tell these from today's positions. The design does not recover from both disasters
  // together.
  bool OfHints(const Log* log) const {
    return log >= tasks.data() && log < tasks.data() + tasks.size();
  }
  bool HintsHeldBack() const {
    return std::any_of(held_back.begin(), held_back.end(),
                       [this](const auto& cut) { return OfHints(cut.first); });
  }

  // Called after a group's commit: lets the log grow again if no group is beyond its end.
  void GrowAgain(Log* log) {
    const auto cut = held_back.find(log);
    if (cut == held_back.end()) return;
    const bool beyond = std::any_of(assignments.begin(), assignments.end(), [&](const auto* each) {
      return each->log == log && each->committed > each->end();
    });
    if (!beyond) LetGrow(log);
  }
  // A takeover that knew the end of the log has begun to drop. The next owner finds no pos:.
  void DropBegun(const ResetRange& reset) {
    Log& log = tasks[static_cast<size_t>(reset.range)];
    if (reset.position && reset.position->offset <= static_cast<int64_t>(log.size())) LetGrow(&log);
  }
  void LetGrow(Log* log) {
    const auto cut = held_back.find(log);
    if (cut == held_back.end()) return;
    for (Record& record : cut->second) {
      record.offset = static_cast<int64_t>(log->size());
      log->push_back(std::move(record));
    }
    held_back.erase(cut);
    if (OfHints(log)) snapshot = redis;
  }

  void Attach(std::vector<Log>& topic, std::vector<Assignment>& group) {
    for (size_t i = 0; i < group.size(); ++i) {
      group[i].log = &topic[i];
      assignments.push_back(&group[i]);
    }
  }
  void AppendHint(Range range, const Hint& hint) {
    const Odd& of = character.odd;
    if (of.damaged > 0 && Strikes(of.damaged)) {
      Count(Letter::kHintDamaged);
      return Append(tasks, range, odd_hints.Damage());
    }
    const bool newer = of.newer > 0 && Chance(of.newer);
    Append(tasks, range, newer ? OddHints::OfNewer(EncodeHint(hint)) : EncodeHint(hint));
  }
  void AppendAll(const AppendHints& hints) {
    for (const auto& [range, hint] : hints.hints) AppendHint(range, hint);
  }

  // LogAppendTime: a record has the broker's time.
  void AppendRelation(const RelationMessage& message) {
    announced.Appended(message);
    const std::string key = RelationLogKey(KeyOf(message));
    Append(relation_log, static_cast<int32_t>(Crc32(key) % kRelationPartitions),
           EncodeRelationMessage(message));
  }

  // The user whose own posts belong in a page or a rebuild of the reader.
  std::optional<UserId> Own(UserId reader) const {
    return timeline::OwnOf(reader, character.own_posts);
  }
  // Whether the author's posts belong in the reader's timeline, by the truth.
  bool Reads(UserId reader, UserId author) const {
    if (reader == author) return character.own_posts;
    const auto edge = mysql.relations.forward().find({reader, author});
    return edge != mysql.relations.forward().end() && edge->second.brings();
  }

  // And reposts among them.
  bool ReadsReposts(UserId reader, UserId author) const {
    if (reader == author) return true;
    return mysql.relations.forward().at({reader, author}).delivery != Delivery::kNoReposts;
  }

  // What a page shows for a post, if it can be seen: itself, or the original of a repost. If that
  // is a repost, too, what its row says.
  std::optional<Original> ShownBy(const Item& post) const {
    if (!post.original) return Original{post.post, post.author};
    const auto& rows = mysql.posts();
    auto row = rows.find(post.original.key());
    if (row != rows.end() && row->second.original) row = rows.find(row->second.original.key());
    const bool seen = row != rows.end() && row->second.visible() && !row->second.original;
    return seen ? std::optional(Original{row->first.second, row->first.first}) : std::nullopt;
  }

  bool AnyAway() const {
    return std::any_of(away_until.begin(), away_until.end(),
                       [this](UnixMs until) { return now.unix_ms < until; });
  }
  bool NodeAway(uint32_t node) const { return now.unix_ms < node_away_until[node]; }
  bool OwnersAway() const { return now.unix_ms < owners_away_until; }
  bool Away(Shard shard) const { return now.unix_ms < away_until[shard]; }
  // Somebody's transaction holds a row of the user.
  bool Locked(UserId user) {
    const Shard shard = shards.ShardOf(user);
    if (now.unix_ms >= locked_until[shard] || locked_user[shard] != user) return false;
    Count(Letter::kLockedRow);
    return true;
  }

  // Sends an action that nobody waits for. It happens after any length of time.
  template <typename F>
  void Later(std::string name, F action) {
    const auto carry_out = [action = std::move(action)] {
      action();
      return std::function<void()>([] {});
    };
    network.Send({std::move(name), carry_out, {}, 0, false});
  }

  void Tick(int64_t most_ms) {
    const auto passed = static_cast<int64_t>(Pick(static_cast<uint64_t>(most_ms)));
    now.mono += std::chrono::milliseconds(passed);
    now.unix_ms += passed;
    mysql.relations.now = now.unix_ms;
    redis.full = now.unix_ms < full_until;
  }
};

}  // namespace fanline::sim
