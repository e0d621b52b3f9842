// Two mirrors, each the real relay and applier, over rows and logs that lose, repeat and delay. A
// mutation of the mirror is played here, by what its calls do.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mirror/mirror.h"
#include "tests/sim/spine.h"

namespace fanline::sim {

struct Mirrors : Spine {
  using Spine::Spine;

  struct MirrorProcess : ServesAll<MirrorProcess, ApplyEdges, ChangeEdge, ReadPending, MarkDone,
                                   PurgeDone, AppendHints, AppendRelations, AppendDeadLetter>,
                         Process<mirror::Mirror, mirror::MirrorInput> {
    Mirrors* world = nullptr;
    mirror::Metrics metrics;
    std::set<std::pair<EdgeKey, uint64_t>> forgotten;  // between msg1 and the reverse row
    void Serve(ApplyEdges request, ReplyTo<EdgesApplied> to) {
      world->SendReverse(*this, std::move(request), to);
    }
    void Serve(const ChangeEdge& request, ReplyTo<EdgeChanged> to) {
      const EdgeChanged failed{request.id, AwayStatus(), {}};
      world->Ask(*this, to, "forward row", failed, [world = world, request, failed] {
        const bool away = world->Away(world->shards.ShardOf(request.change.src));
        return away ? failed : world->mysql.relations.Do(request);
      });
    }
    template <class R>
    void Serve(const R& request, ReplyTo<typename R::Reply> to) {
      world->SendChange(*this, request, to);
    }
    void Serve(AppendHints request, ReplyTo<HintsAppended> to) {
      world->SendMirrorHints(*this, std::move(request), to);
    }
    void Serve(AppendRelations request, ReplyTo<RelationsAppended> to) {
      world->SendRelations(*this, std::move(request), to);
    }
    void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended>) {
      world->trouble = "a mirror gave up: " + request.letter.reason;
    }
  };

  std::vector<std::unique_ptr<MirrorProcess>> mirrors;

  // ---- rows -----------------------------------------------------------------------------------
  void SendReverse(MirrorProcess& process, ApplyEdges request, ReplyTo<EdgesApplied> to) {
    if (!options.guards.hint_after_truth) {
      for (const Edge& edge : request.edges) AppendSync(edge.key());
    }
    std::vector<Edge> forgotten;
    for (const Edge& edge : request.edges) {
      if (!faults || !Chance(character.unmirrored)) continue;
      forgotten.push_back(edge);
      process.forgotten.emplace(edge.key(), edge.ver);
    }
    const int patience = Chance(50) ? character.mirror_lag : 0;
    Ask(
        process, to, "reverse rows", EdgesApplied{request.id, {}, {}, 0},
        [this, request, forgotten] { return Apply(request, forgotten); }, patience);
  }

  // A mirror that forgets edges answers as one that has written them.
  EdgesApplied Apply(const ApplyEdges& request, const std::vector<Edge>& forgotten) {
    if (Away(request.shard)) return {request.id, AwayStatus(), {}, 0};
    ApplyEdges written{request.id, request.shard, {}};
    EdgesApplied reply{request.id, {}, {}, 0};
    for (const Edge& edge : request.edges) {
      const bool forgets = std::find(forgotten.begin(), forgotten.end(), edge) != forgotten.end();
      reply.applied.push_back({edge.ver, true});
      if (forgets) continue;
      reply.applied.back() = mysql.relations.Do(ApplyEdges{0, request.shard, {edge}}).applied[0];
      if (!options.guards.mirror_versions) mysql.relations.Overwrite(edge);
    }
    return reply;
  }

  template <typename R>
  void SendChange(MirrorProcess& process, const R& request, ReplyTo<typename R::Reply> to) {
    typename R::Reply failed;
    failed.id = request.id;
    failed.status = AwayStatus();
    Ask(process, to, "log1", failed, [this, request, failed] {
      if (Away(request.shard)) return failed;
      typename R::Reply reply = mysql.relations.Do(request);
      if constexpr (std::is_same_v<R, ReadPending>) {
        if (!options.guards.log1_done_last) MarkAll(request.shard, reply);
      }
      return reply;
    });
  }

  // The mutation: rows count as done as soon as a relay has them.
  void MarkAll(Shard shard, const PendingRead& read) {
    MarkDone done{0, shard, {}};
    for (const LoggedChange& change : read.changes) done.rows.push_back(change.row());
    mysql.relations.Do(done);
  }

  // ---- logs -----------------------------------------------------------------------------------
  void AppendSync(const EdgeKey& edge) {
    Trace("sync hint of " + ToString(edge.src) + " and " + ToString(edge.dst));
    AppendHint(RangeLayout(kRanges).RangeOf(edge.src), Hint::OfSync(edge.src, edge.dst));
  }

  void SendMirrorHints(MirrorProcess& process, AppendHints request, ReplyTo<HintsAppended> to) {
    const HintsAppended done{request.id, {}};
    if (!options.guards.hint_after_truth) request.hints.clear();  // the hints are out already
    if (!options.guards.hint_before_msg2) {
      to(done);
      if (faults && Chance(30)) return;  // lost with a crash of the sender
    }
    const auto append = [this, request, done] {
      for (const auto& [range, hint] : request.hints) AppendHint(range, hint);
      return done;
    };
    if (options.guards.hint_before_msg2) return Ask(process, to, "sync hints", done, append);
    Later("sync hints", 0, append);
  }

  // Sends an action that nobody waits for; it happens after a while, however long.
  template <typename F>
  void Later(std::string name, int patience, F action) {
    const auto carry_out = [action = std::move(action)] {
      action();
      return std::function<void()>([] {});
    };
    network.Send({std::move(name), carry_out, {}, 0, false, patience});
  }

  void SendRelations(MirrorProcess& process, AppendRelations request,
                     ReplyTo<RelationsAppended> to) {
    std::erase_if(request.messages, [&](const RelationMessage& message) {
      const auto* mirrored = std::get_if<EdgeMirrored>(&message);
      if (mirrored == nullptr) return false;
      if (process.forgotten.contains({mirrored->edge, mirrored->ver})) return true;
      return faults && Chance(character.lose_msg2);
    });
    const int copies = faults && Chance(character.repeat) ? 3 : 1;
    const RelationsAppended done{request.id, {}};
    Ask(process, to, "relation-log", done, [this, request, done, copies] {
      for (int copy = 0; copy < copies; ++copy) {
        for (const RelationMessage& message : request.messages) AppendRelation(message);
      }
      return done;
    });
  }

  // ---- starting, crashing, moving ---------------------------------------------------------------
  void StartMirror(MirrorProcess& process) {
    process.world = this;
    Renew(process);
    process.forgotten.clear();
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
    const auto to_applier = AsPart<mirror::ApplierReply>(process.inbox);
    const auto to_relay = AsPart<mirror::RelayReply>(process.inbox);
    process.logic = std::make_unique<mirror::Mirror>(
        mirror::Mirror::Ports{
            {{process, to_applier},
             {process, to_applier},
             {process, to_applier},
             {process, to_applier},
             {process, to_applier},
             process.metrics},
            {{process, to_relay}, {process, to_relay}, {process, to_relay}, process.metrics}},
        mirror::Mirror::Setup{RangeLayout(kRanges), shards, kRelationPartitions, random()}, limits);
  }

  void CrashMirror(int index) {
    Trace("crash of mirror " + std::to_string(index));
    Crash(mirror_group, mirrors, index, [this](MirrorProcess& process) { StartMirror(process); });
  }

  void MoveMirror(int partition) {
    Move(mirror_group, mirrors, partition, static_cast<int>(Pick(mirrors.size())));
  }
};

}  // namespace fanline::sim
