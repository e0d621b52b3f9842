// Mirrors with the real relay and applier, over rows and logs that lose, repeat and delay.
// Mutations of the mirror are simulated here, in what its calls do.
#pragma once

#include <algorithm>
#include <memory>
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

struct MirrorProcess : ServesAll<MirrorProcess, ApplyEdges, ChangeEdge, ReadPending, MarkDone,
                                 PurgeDone, AppendHints, AppendRelations, AppendDeadLetter>,
                       Caller,
                       Consumes<mirror::Mirror, mirror::MirrorInput> {
  using Caller::Caller;

  mirror::Metrics metrics;
  std::set<std::pair<EdgeKey, uint64_t>> forgotten;  // dropped between msg1 and the reverse row
  std::set<EdgeKey> stale;                           // their last message wrote nothing

  // ---- rows -----------------------------------------------------------------------------------
  void Serve(const ApplyEdges& request, ReplyTo<EdgesApplied> to) {
    if (!world.options.guards.hint_after_truth) {
      for (const Edge& edge : request.edges) AppendSync(edge.key());
    }
    std::vector<Edge> now_forgotten;
    for (const Edge& edge : request.edges) {
      if (!world.Strikes(world.character.unmirrored)) continue;
      now_forgotten.push_back(edge);
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
      const bool away = Away(world.shards.ShardOf(request.change.src));
      return away ? failed : world.mysql.relations.Do(request);
    });
  }

  template <class R>
  void Serve(const R& request, ReplyTo<typename R::Reply> to) {
    typename R::Reply failed;
    failed.id = request.id;
    failed.status = AwayStatus();
    Ask(to, "log1", failed, [this, request, failed] {
      if (Away(request.shard)) return failed;
      typename R::Reply reply = world.mysql.relations.Do(request);
      if constexpr (std::is_same_v<R, ReadPending>) {
        if (!world.options.guards.log1_done_last) MarkAll(request.shard, reply);
      }
      return reply;
    });
  }

  // The mutation: rows are done as soon as a relay has read them.
  void MarkAll(Shard shard, const PendingRead& read) {
    MarkDone done{0, shard, {}};
    for (const LoggedChange& change : read.changes) done.rows.push_back(change.row());
    world.mysql.relations.Do(done);
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
    if (guards.hint_before_msg2) return Ask(to, "sync hints", failed, append);
    to(done);
    if (!world.Strikes(30)) world.Later("sync hints", append);  // otherwise lost with a crash
  }

  void Serve(AppendRelations request, ReplyTo<RelationsAppended> to) {
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
    mirror::Limits limits;
    limits.records_open = 24;
    limits.records_open_per_partition = 12;
    limits.commit_every = std::chrono::milliseconds(5);
    limits.backoff = {std::chrono::milliseconds(2), std::chrono::milliseconds(20)};
    limits.edges_per_transaction = 3;
    limits.keep_waiting = std::chrono::milliseconds(50);
    limits.rows_per_read = 4;
    limits.rows_under_way = 16;
    limits.poll_every = std::chrono::milliseconds(4);
    limits.pass_every = std::chrono::milliseconds(40);
    limits.relay_again = {std::chrono::milliseconds(100), std::chrono::milliseconds(400)};
    limits.purge_every = std::chrono::milliseconds(200);
    limits.keep_done = std::chrono::seconds(1);
    const auto to_applier = AsPart<mirror::ApplierReply>(inbox);
    const auto to_relay = AsPart<mirror::RelayReply>(inbox);
    logic = std::make_unique<mirror::Mirror>(
        mirror::Mirror::Ports{
            {{*this, to_applier},
             {*this, to_applier},
             {*this, to_applier},
             {*this, to_applier},
             {*this, to_applier},
             metrics},
            {{*this, to_relay}, {*this, to_relay}, {*this, to_relay}, {*this, to_relay}, metrics}},
        mirror::Mirror::Setup{RangeLayout(kRanges), world.shards, kRelationPartitions,
                              world.random()},
        limits);
  }
};

}  // namespace fanline::sim
