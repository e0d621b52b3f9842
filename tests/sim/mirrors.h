// Mirrors with the real logic, over rows and logs that lose, repeat and delay. Two orders are
// looked at in each call: no reverse row is written before its msg1 is acknowledged, and none by a
// row of log1 that was read long ago. Some mutations of the mirror are simulated here, in what its
// calls do. In a quarter of the schedules the shards have bells that ring now and then, of rows
// that are there, that are done, and that are none.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "mirror/mirror.h"
#include "tests/sim/members.h"

namespace fanline::sim {

// A mirror that forgets edges answers as if it had written them.
inline EdgesApplied ApplyReverse(Caller& caller, const ApplyEdges& request,
                                 const std::vector<Edge>& forgotten) {
  if (caller.Away(request.shard)) return {request.id, AwayStatus(), {}, 0};
  World& world = caller.world;
  for (const Edge& edge : request.edges) {
    if (world.Locked(edge.dst)) return {request.id, LockedStatus(), {}, 0};
  }
  auto& relations = world.mysql.relations;
  EdgesApplied reply{request.id, {}, {}, 0};
  for (const Edge& edge : request.edges) {
    const bool forgets = std::find(forgotten.begin(), forgotten.end(), edge) != forgotten.end();
    reply.applied.push_back({edge.ver, true});
    if (forgets) continue;
    reply.applied.back() = relations.Do(ApplyEdges{0, request.shard, {edge}}).applied[0];
    if (!world.options.guards.mirror_versions) relations.Overwrite(edge);
  }
  return reply;
}

struct MirrorProcess
    : ServesAll<MirrorProcess, ApplyEdges, ChangeEdge, ReadPending, AskPending, MarkDone, PurgeDone,
                AppendHints, AppendRelations, AppendDeadLetter, ReadMirrorMode, HearLog>,
      Caller,
      Consumes<mirror::Mirror, mirror::MirrorInput> {
  using Caller::Caller;

  mirror::Metrics metrics;
  std::set<std::pair<EdgeKey, uint64_t>> forgotten;            // between msg1 and the reverse row
  std::set<EdgeKey> stale;                                     // their last change wrote nothing
  std::map<std::pair<EdgeKey, uint64_t>, Time> found_pending;  // when that was asked, the last time
  UnixMs hung_until = 0;
  // Draws apart, so that schedules without bells keep their draws.
  std::mt19937_64 of_bells{world.options.seed ^ World::kBells};
  const bool has_bells = of_bells() % 4 == 0;
  std::map<Shard, Submitted<HearLog>> listens;

  static constexpr Duration kFreshFor = std::chrono::milliseconds(60);

  bool hangs() const { return world.now.unix_ms < hung_until; }

  static constexpr const char* kSyncHints = "sync hints";
  // Of a call to it.
  static const char* NameOfLog1(Shard shard) {
    constexpr const char* kNames[kShards] = {"log1 of shard 0", "log1 of shard 1"};
    return kNames[shard];
  }

  // ---- rows -----------------------------------------------------------------------------------
  void Serve(const ApplyEdges& request, ReplyTo<EdgesApplied> to) {
    for (const Edge& edge : request.edges) {
      if (!world.announced.Written(edge.key(), edge.ver)) {
        world.trouble = "a reverse row is written before its msg1";
      }
      const auto found = found_pending.find({edge.key(), edge.ver});
      if (found == found_pending.end() || found->second + kFreshFor < world.now.mono) {
        world.trouble = "a change is applied as it was read long ago";
      }
    }
    if (!world.options.guards.hint_after_truth) {
      for (const Edge& edge : request.edges) AppendSync(edge.key());
    }
    std::vector<Edge> now_forgotten;
    for (const Edge& edge : request.edges) {
      if (!world.Strikes(world.character.unmirrored)) continue;
      // A scan alone would find it.
      if (world.left_to_mirrors.contains({edge.key(), edge.ver})) continue;
      now_forgotten.push_back(edge);
      world.unmirrored.emplace(edge.key(), edge.ver);
      forgotten.emplace(edge.key(), edge.ver);
    }
    const int patience = world.Chance(50) ? world.character.mirror_lag : 0;
    const auto apply = [this, request, now_forgotten] {
      EdgesApplied applied = ApplyReverse(*this, request, now_forgotten);
      for (size_t i = 0; i < applied.applied.size(); ++i) {
        const EdgeKey edge = request.edges[i].key();
        applied.applied[i].written ? (void)stale.erase(edge) : (void)stale.insert(edge);
      }
      return applied;
    };
    Ask(to, "reverse rows", EdgesApplied{request.id, {}, {}, 0}, apply, patience);
  }

  void Serve(const ChangeEdge& request, ReplyTo<EdgeChanged> to) {
    const EdgeChanged failed{request.id, AwayStatus(), {}};
    Ask(to, "forward row", failed, [this, request, failed] {
      if (Away(world.shards.ShardOf(request.change.src))) return failed;
      if (world.Locked(request.change.src)) return EdgeChanged{request.id, LockedStatus(), {}};
      return world.mysql.relations.Do(request);
    });
  }

  void Serve(const ReadMirrorMode& request, ReplyTo<MirrorModeRead> to) {
    to({request.id, {}, has_bells ? MirrorMode::kLog : MirrorMode::kAsync});
  }
  void Serve(const HearLog& request, ReplyTo<LogHeard> to) {
    listens.insert_or_assign(request.shard, Submitted<HearLog>{request, to});
  }
  // One call in four finds that there was something to tell.
  void MayRing(Shard shard) {
    if (of_bells() % 4 != 0) return;
    auto listening = listens.extract(shard);
    if (listening.empty()) return;
    const auto& [request, to] = listening.mapped();
    LogHeard heard{request.id, {}, {}};
    if (of_bells() % 16 == 0) {
      heard.status = AwayStatus();
    } else {
      const auto found = world.mysql.relations.Do(ReadPending{0, shard, 0, 100});
      const uint64_t last = found.changes.empty() ? found.newest : found.changes.back().id;
      for (const LoggedChange& each : found.changes) {
        if (of_bells() % 2 == 0) heard.log_ids.push_back(each.id);
      }
      heard.log_ids.push_back(last + of_bells() % 3);
      heard.log_ids.push_back(1 + of_bells() % (last + 1));
    }
    to(std::move(heard));
  }

  template <class R>
  void Serve(const R& request, ReplyTo<typename R::Reply> to) {
    MayRing(request.shard);
    typename R::Reply failed;
    failed.id = request.id;
    failed.status = AwayStatus();
    const Time asked_at = world.now.mono;
    Ask(to, NameOfLog1(request.shard), failed, [this, request, failed, asked_at] {
      if (Away(request.shard)) return failed;
      typename R::Reply reply = world.mysql.relations.Do(request);
      if constexpr (std::is_same_v<R, ReadPending>) Found(reply.changes, asked_at);
      if constexpr (std::is_same_v<R, AskPending>) {
        world.Count(Letter::kAskedAgain);
        Found(reply.pending, asked_at);
      }
      return reply;
    });
  }

  void Found(const std::vector<LoggedChange>& changes, Time asked_at) {
    for (const LoggedChange& change : changes) {
      Time& last = found_pending[{change.edge.key(), change.edge.ver}];
      last = std::max(last, asked_at);
    }
  }

  // ---- logs -----------------------------------------------------------------------------------
  void AppendSync(const EdgeKey& edge) {
    world.Trace("sync hint of " + ToString(edge.src) + " and " + ToString(edge.dst));
    world.AppendHint(RangeLayout(kRanges).RangeOf(edge.src), Hint::OfSync(edge.src, edge.dst));
  }

  void Serve(AppendHints request, ReplyTo<HintsAppended> to) {
    const Guards& guards = world.options.guards;
    const HintsAppended done{request.id, {}};
    const auto failed = HintsAppended::Of(request.id, AwayStatus(), request.hints.size());
    if (!guards.hint_after_truth) request.hints.clear();  // the hints were sent already
    if (!guards.stale_applies_hint) {
      std::erase_if(request.hints, [this](const auto& each) {
        const Hint& hint = each.second;
        return stale.contains({std::get<Hint::Sync>(hint.what).reader, hint.author});
      });
    }
    const auto append = [this, request, done] {
      world.AppendAll(request);
      return done;
    };
    if (guards.hint_before_msg2) return Ask(to, kSyncHints, failed, append);
    to(done);
    if (!world.Strikes(30)) world.Later(kSyncHints, append);  // otherwise lost with a crash
  }

  void Serve(AppendRelations request, ReplyTo<RelationsAppended> to) {
    for (const RelationMessage& message : request.messages) world.announced.Sent(message);
    std::erase_if(request.messages, [this](const RelationMessage& message) {
      const auto* mirrored = std::get_if<EdgeMirrored>(&message);
      if (mirrored == nullptr) return false;
      if (forgotten.contains({mirrored->edge, mirrored->ver})) return true;
      return world.Strikes(world.character.lose_msg2);
    });
    const int copies = world.Strikes(world.character.repeat) ? 3 : 1;
    const RelationsAppended done{request.id, {}};
    Ask(to, "relation-log", done, [this, request, done, copies] {
      for (int copy = 0; copy < copies; ++copy) {
        for (const RelationMessage& message : request.messages) world.AppendRelation(message);
      }
      return done;
    });
  }

  void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended>) {
    world.trouble = "a mirror gave up: " + request.letter.reason;
  }

  void Start() {
    forgotten.clear();
    stale.clear();
    listens.clear();
    found_pending.clear();
    hung_until = 0;
    using std::chrono::milliseconds;
    const mirror::Limits limits{.backoff = {milliseconds(2), milliseconds(20)},
                                .rows_per_pair = 12,
                                .fresh_for = kFreshFor,
                                .rows_per_read = 4,
                                .poll_every = milliseconds(4),
                                .belled_poll_every = milliseconds(40),
                                .late_every = milliseconds(40),
                                .late_for = milliseconds(1'000),
                                .late_ids = 5,
                                .sweep_every = milliseconds(400),
                                .sweep_pace = milliseconds(4),
                                .polled_for = milliseconds(200),
                                .edges_per_transaction = 3,
                                .friendships_in_flight = 2,
                                .rows_per_question = 5,
                                .keep_done = std::chrono::seconds(1),
                                .purge_every = milliseconds(200)};
    logic = std::make_unique<mirror::Mirror>(
        mirror::Mirror::Ports{{*this, inbox},
                              {*this, inbox},
                              {*this, inbox},
                              {{*this, inbox},
                               {*this, inbox},
                               {*this, inbox},
                               {*this, inbox},
                               {*this, inbox},
                               metrics}},
        mirror::Mirror::Setup{
            {RangeLayout(kRanges), world.shards, world.random(), world.options.guards.logic},
            kEventPartitions,
            Duration::zero()},
        limits);
  }
};

}  // namespace fanline::sim
