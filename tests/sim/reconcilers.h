// Two reconcilers, each the real logic for relation-log and for the retries behind one gate.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reconciler/pair_reconciler.h"
#include "reconciler/retry_reconciler.h"
#include "tests/sim/mirrors.h"

namespace fanline::sim {

struct Reconcilers : Mirrors {
  using Mirrors::Mirrors;

  // No forward shard loses what it acknowledged, so a check that reads in the right order never
  // finds the reverse row ahead.
  struct ReconcilerMetrics : reconciler::Metrics {
    Reconcilers* world = nullptr;
    void Checked(reconciler::Finding finding) override {
      ++world->counts.checks;
      if (finding == reconciler::Finding::kAhead || finding == reconciler::Finding::kOrphan ||
          finding == reconciler::Finding::kCorrupt) {
        world->trouble = "a check found a reverse row that no forward row explains";
      }
    }
    void Repaired(reconciler::RepairKind, Duration) override { ++world->counts.repairs; }
    void SentToRetry(reconciler::RetryCause) override { ++world->counts.sent_to_retries; }
  };

  template <typename Logic, typename Input>
  struct Part : ServesAll<Part<Logic, Input>, ReadEdges, ApplyEdges, AdoptEdge, LogRepair,
                          TakeRemovals, ReadReconcilerMode, AppendHints, AppendRelations,
                          AppendRetries, AppendDeadLetter, ReadLogEnd, ReadGroupOffsets>,
                Process<Logic, Input> {
    Reconcilers* world = nullptr;
    template <class R>
    void Serve(const R& request, ReplyTo<typename R::Reply> to) {
      world->Send(*this, request, to);
    }
  };

  struct Reconciler {
    ReconcilerMetrics metrics;
    std::unique_ptr<reconciler::RepairGate> gate;
    Part<reconciler::PairReconciler, reconciler::PairReconcilerInput> pairs;
    Part<reconciler::RetryReconciler, reconciler::RetryInput> retries;
  };

  std::vector<std::unique_ptr<Reconciler>> reconcilers;
  ReconcilerMode reconciler_mode = ReconcilerMode::kRun;

  // `reply` is the answer when all goes well; `act` may still change it.
  template <typename P, typename R, typename F>
  void AskPart(P& process, ReplyTo<R> to, const char* name, R reply, F act) {
    Ask(process, to, name, reply, [reply, act]() mutable {
      act(reply);
      return reply;
    });
  }

  // ---- rows -----------------------------------------------------------------------------------
  // Both rows of each edge, one direction after the other: anything may happen in between.
  template <typename P>
  void Send(P& process, const ReadEdges& request, ReplyTo<ReadEdges::Reply> to) {
    EdgesRead rows{request.id, {}};
    for (size_t i = 0; i < request.edges.size(); ++i) rows.rows.push_back({AwayStatus(), {}, {}});
    const uint64_t owner = process.incarnation;
    const bool reverse_first = options.guards.reverse_first;
    const auto failed = DeliverTo(process, owner, to, rows);
    for (auto& row : rows.rows) row.status = {};
    const auto second = [this, &process, owner, to, request, failed,
                         reverse_first](EdgesRead read) {
      if (process.incarnation != owner) return;
      network.Send({"second rows",
                    [this, &process, owner, to, request, read, reverse_first]() mutable {
                      ReadSide(request, !reverse_first, read);
                      return DeliverTo(process, owner, to, read);
                    },
                    failed, owner, false});
    };
    network.Send({"first rows",
                  [this, request, rows, reverse_first, second]() mutable {
                    ReadSide(request, reverse_first, rows);
                    return std::function<void()>([second, rows] { second(rows); });
                  },
                  failed, owner, false});
  }

  void ReadSide(const ReadEdges& request, bool reverse, EdgesRead& read) const {
    const auto& edges = reverse ? mysql.relations.reverse() : mysql.relations.forward();
    for (size_t i = 0; i < request.edges.size(); ++i) {
      const EdgeKey& key = request.edges[i];
      if (Away(shards.ShardOf(reverse ? key.dst : key.src))) read.rows[i].status = AwayStatus();
      const auto found = edges.find(key);
      const EdgeState state = found == edges.end() ? EdgeState{} : found->second;
      (reverse ? read.rows[i].reverse : read.rows[i].forward) = state;
    }
  }

  template <typename P>
  void Send(P& process, const ApplyEdges& request, ReplyTo<ApplyEdges::Reply> to) {
    AskPart(process, to, "repair of a reverse row", EdgesApplied{request.id, {}, {}, 0},
            [this, request](EdgesApplied& reply) {
              if (Away(request.shard)) {
                reply.status = AwayStatus();
              } else {
                reply = mysql.relations.Do(request);
              }
            });
  }

  template <typename P>
  void Send(P& process, const AdoptEdge& request, ReplyTo<AdoptEdge::Reply> to) {
    AskPart(process, to, "adoption", EdgeAdopted{request.id, {}, false, {}},
            [this, request](EdgeAdopted& reply) {
              if (Away(shards.ShardOf(request.edge.src))) {
                reply.status = AwayStatus();
              } else {
                reply = mysql.relations.Do(request);
              }
            });
  }

  template <typename P>
  void Send(P& process, const LogRepair& request, ReplyTo<LogRepair::Reply> to) {
    AskPart(process, to, "repair_log", RepairLogged{request.id, {}}, [](RepairLogged&) {});
  }

  template <typename P>
  void Send(P& process, const TakeRemovals& request, ReplyTo<TakeRemovals::Reply> to) {
    AskPart(process, to, "removals", RemovalsTaken{request.id, {}, request.wanted},
            [](RemovalsTaken&) {});
  }

  template <typename P>
  void Send(P& process, const ReadReconcilerMode& request, ReplyTo<ReadReconcilerMode::Reply> to) {
    AskPart(process, to, "mode", ReconcilerModeRead{request.id, {}, ReconcilerMode::kRun, 0},
            [this](ReconcilerModeRead& reply) { reply.mode = reconciler_mode; });
  }

  // ---- logs -----------------------------------------------------------------------------------
  template <typename P>
  void Send(P& process, const AppendHints& request, ReplyTo<HintsAppended> to) {
    AskPart(process, to, "repair hints", HintsAppended{request.id, {}},
            [this, request](HintsAppended&) {
              for (const auto& [range, hint] : request.hints) AppendHint(range, hint);
            });
  }

  template <typename P>
  void Send(P& process, const AppendRelations& request, ReplyTo<RelationsAppended> to) {
    AskPart(process, to, "repair msg2", RelationsAppended{request.id, {}},
            [this, request](RelationsAppended&) {
              for (const auto& message : request.messages) AppendRelation(message);
            });
  }

  template <typename P>
  void Send(P& process, const AppendRetries& request, ReplyTo<RetriesAppended> to) {
    AskPart(process, to, "retries", RetriesAppended{request.id, {}},
            [this, request](RetriesAppended&) {
              for (const auto& retry : request.retries) {
                Append(retry_log, 0, EncodeRelationRetry(retry));
              }
            });
  }

  template <typename P>
  void Send(P&, const AppendDeadLetter& request, ReplyTo<DeadLetterAppended>) {
    trouble = "a reconciler gave up: " + request.letter.reason;
  }

  // ---- positions ------------------------------------------------------------------------------
  template <typename P>
  void Send(P& process, const ReadLogEnd& request, ReplyTo<ReadLogEnd::Reply> to) {
    AskPart(process, to, "log end", LogEndRead{request.id, {}, -1},
            [this, request](LogEndRead& reply) {
              const Log& log = relation_log[static_cast<size_t>(request.partition)];
              reply.offset = static_cast<int64_t>(log.size());
            });
  }

  template <typename P>
  void Send(P& process, const ReadGroupOffsets& request, ReplyTo<ReadGroupOffsets::Reply> to) {
    AskPart(process, to, "mirror's offsets", GroupOffsetsRead{request.id, {}, {}},
            [this, request](GroupOffsetsRead& reply) {
              for (const int32_t partition : request.partitions) {
                const auto& of = mirror_group[static_cast<size_t>(partition)];
                reply.committed.push_back({partition, of.committed});
              }
            });
  }

  // ---- starting, crashing, moving ---------------------------------------------------------------
  void StartReconciler(Reconciler& process) {
    using std::chrono::milliseconds;
    const milliseconds grace(character.grace_ms);
    process.metrics.world = this;
    reconciler::GateLimits gate;
    gate.second_check_after = grace;
    process.pairs.logic.reset();
    process.retries.logic.reset();
    process.gate = std::make_unique<reconciler::RepairGate>(gate, shards.shards());
    process.gate->SetMode(ReconcilerMode::kRun);
    const reconciler::Checker::Setup checker{.layout = RangeLayout(kRanges),
                                             .reverse = shards,
                                             .forward = shards,
                                             .batch = 3,
                                             .backoff = {milliseconds(2), milliseconds(20)},
                                             .seed = random()};
    reconciler::Limits limits;
    limits.grace = grace;
    limits.remember = std::max<Duration>(milliseconds(200), 2 * grace);
    limits.longest_deferral = 3 * grace;
    limits.commit_every = milliseconds(5);
    if (character.few_pairs) limits.pending = 3;
    StartPart(process.pairs);
    process.pairs.logic = std::make_unique<reconciler::PairReconciler>(
        reconciler::PairReconciler::Ports{CheckerPorts(process.pairs, process.metrics),
                                          {process.pairs, process.pairs.inbox},
                                          {process.pairs, process.pairs.inbox},
                                          {process.pairs, process.pairs.inbox},
                                          process.metrics},
        reconciler::PairReconciler::Setup{
            checker, true, {milliseconds(20), milliseconds(60)}, options.guards.logic},
        limits, *process.gate);
    reconciler::RetryLimits retries;
    retries.commit_every = milliseconds(5);
    retries.patience = {milliseconds(20), milliseconds(100)};
    retries.append_again = {milliseconds(2), milliseconds(20)};
    StartPart(process.retries);
    process.retries.logic = std::make_unique<reconciler::RetryReconciler>(
        reconciler::RetryReconciler::Ports{CheckerPorts(process.retries, process.metrics),
                                           {process.retries, process.retries.inbox},
                                           {process.retries, process.retries.inbox},
                                           process.metrics},
        checker, retries, *process.gate);
  }

  template <typename P>
  reconciler::Checker::Ports CheckerPorts(P& part, ReconcilerMetrics& metrics) {
    const auto to = AsPart<reconciler::CheckerReply>(part.inbox);
    return {{part, to}, {part, to}, {part, to}, metrics};
  }

  template <typename P>
  void StartPart(P& part) {
    part.world = this;
    Renew(part);
  }

  void CrashReconciler(int index) {
    Trace("crash of reconciler " + std::to_string(index));
    Reconciler& process = *reconcilers[static_cast<size_t>(index)];
    network.Orphan(process.pairs.incarnation);
    network.Orphan(process.retries.incarnation);
    StartReconciler(process);
    // What it owned goes to a random reconciler, or comes back.
    for (int partition = 0; partition <= static_cast<int>(kRelationPartitions); ++partition) {
      Assignment& assignment = AssignmentOf(partition);
      if (assignment.owner != index) continue;
      assignment.owner = -1;
      MovePairsTo(partition, faults ? static_cast<int>(Pick(reconcilers.size())) : index);
    }
  }

  // Partitions of relation-log, then the one of the retries.
  Assignment& AssignmentOf(int partition) {
    const auto at = static_cast<size_t>(partition);
    return at < pair_group.size() ? pair_group[at] : retry_group[at - pair_group.size()];
  }
  void MovePairs(int partition) {
    MovePairsTo(partition, static_cast<int>(Pick(reconcilers.size())));
  }
  void RevokeAllPairs() {
    for (Assignment& assignment : pair_group) assignment.owner = -1;
    for (Assignment& assignment : retry_group) assignment.owner = -1;
    for (size_t i = 0; i < reconcilers.size(); ++i) {
      NoticeRevocations(pair_group, reconcilers[i]->pairs, static_cast<int>(i));
      NoticeRevocations(retry_group, reconcilers[i]->retries, static_cast<int>(i));
    }
    for (int i = 0; i <= static_cast<int>(kRelationPartitions); ++i) MovePairs(i);
  }
  void MovePairsTo(int partition, int to) {
    Reconciler& process = *reconcilers[static_cast<size_t>(to)];
    const auto at = static_cast<size_t>(partition);
    if (at < pair_group.size()) return Hand(pair_group[at], process.pairs, partition, to);
    Hand(retry_group[at - pair_group.size()], process.retries,
         partition - static_cast<int>(pair_group.size()), to);
  }
};

}  // namespace fanline::sim
