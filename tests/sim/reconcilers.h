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
  struct Part : RepairStore,
                HintLog,
                RelationLog,
                RetryLog,
                DeadLetters,
                LogPositions,
                Process<Logic, Input> {
    Reconcilers* world = nullptr;
    void Submit(RepairRequest request) override {
      std::visit([this](auto& each) { world->SendRepair(*this, std::move(each)); }, request);
    }
    void Submit(PositionRequest request) override {
      std::visit([this](auto& each) { world->SendPosition(*this, std::move(each)); }, request);
    }
    void Submit(AppendHints request) override {
      world->AskPart(*this, "repair hints", HintsAppended{request.id, {}},
                     [world = world, request](HintsAppended&) {
                       for (const auto& [range, hint] : request.hints) {
                         world->AppendHint(range, hint);
                       }
                     });
    }
    void Submit(AppendRelations request) override {
      world->AskPart(*this, "repair msg2", RelationsAppended{request.id, {}},
                     [world = world, request](RelationsAppended&) {
                       for (const auto& message : request.messages) world->AppendRelation(message);
                     });
    }
    void Submit(AppendRetries request) override {
      world->AskPart(*this, "retries", RetriesAppended{request.id, {}},
                     [world = world, request](RetriesAppended&) {
                       for (const auto& retry : request.retries) {
                         world->Append(world->retry_log, 0, EncodeRelationRetry(retry));
                       }
                     });
    }
    void Submit(AppendDeadLetter request) override {
      world->trouble = "a reconciler gave up: " + request.letter.reason;
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

  // `reply` as it is when all goes well; `act` may still change it. Each part takes different
  // replies.
  template <typename P, typename R, typename F>
  void AskPart(P& process, const char* name, R reply, F act) {
    using Input = typename std::decay_t<decltype(process.inbox)>::value_type;
    if constexpr (std::is_constructible_v<Input, R>) {
      Ask(process, name, reply, [reply, act]() mutable {
        act(reply);
        return reply;
      });
    }
  }

  // ---- rows -----------------------------------------------------------------------------------
  // Both rows of each edge, one direction after the other: anything may happen in between.
  template <typename P>
  void SendRepair(P& process, ReadEdges request) {
    EdgesRead rows{request.id, {}};
    for (size_t i = 0; i < request.edges.size(); ++i) rows.rows.push_back({AwayStatus(), {}, {}});
    const uint64_t owner = process.incarnation;
    const bool reverse_first = options.guards.reverse_first;
    const auto failed = DeliverTo(process, owner, rows);
    for (auto& row : rows.rows) row.status = {};
    const auto second = [this, &process, owner, request, failed, reverse_first](EdgesRead read) {
      if (process.incarnation != owner) return;
      network.Send({"second rows",
                    [this, &process, owner, request, read, reverse_first]() mutable {
                      ReadSide(request, !reverse_first, read);
                      return DeliverTo(process, owner, read);
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
  void SendRepair(P& process, ApplyEdges request) {
    AskPart(process, "repair of a reverse row", EdgesApplied{request.id, {}, {}, 0},
            [this, request](EdgesApplied& reply) {
              if (Away(request.shard)) {
                reply.status = AwayStatus();
              } else {
                reply = mysql.relations.Do(request);
              }
            });
  }

  template <typename P>
  void SendRepair(P& process, AdoptEdge request) {
    AskPart(process, "adoption", EdgeAdopted{request.id, {}, false, {}},
            [this, request](EdgeAdopted& reply) {
              if (Away(shards.ShardOf(request.edge.src))) {
                reply.status = AwayStatus();
              } else {
                reply = mysql.relations.Do(request);
              }
            });
  }

  template <typename P>
  void SendRepair(P& process, const LogRepair& request) {
    AskPart(process, "repair_log", RepairLogged{request.id, {}}, [](RepairLogged&) {});
  }

  template <typename P>
  void SendRepair(P& process, TakeRemovals request) {
    AskPart(process, "removals", RemovalsTaken{request.id, {}, request.wanted},
            [](RemovalsTaken&) {});
  }

  template <typename P>
  void SendRepair(P& process, ReadReconcilerMode request) {
    AskPart(process, "mode", ReconcilerModeRead{request.id, {}, ReconcilerMode::kRun, 0},
            [this](ReconcilerModeRead& reply) { reply.mode = reconciler_mode; });
  }

  // ---- positions ------------------------------------------------------------------------------
  template <typename P>
  void SendPosition(P& process, ReadLogEnd request) {
    AskPart(process, "log end", LogEndRead{request.id, request.partition, {}, -1},
            [this](LogEndRead& reply) {
              const Log& log = relation_log[static_cast<size_t>(reply.partition)];
              reply.offset = static_cast<int64_t>(log.size());
            });
  }

  template <typename P>
  void SendPosition(P& process, ReadGroupOffsets request) {
    AskPart(process, "mirror's offsets", GroupOffsetsRead{request.id, {}, {}},
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
        reconciler::PairReconciler::Ports{process.pairs, process.pairs, process.pairs,
                                          process.pairs, process.pairs, process.metrics},
        reconciler::PairReconciler::Setup{
            checker, true, {milliseconds(20), milliseconds(60)}, options.guards.logic},
        limits, *process.gate);
    reconciler::RetryLimits retries;
    retries.commit_every = milliseconds(5);
    retries.patience = {milliseconds(20), milliseconds(100)};
    retries.append_again = {milliseconds(2), milliseconds(20)};
    StartPart(process.retries);
    process.retries.logic = std::make_unique<reconciler::RetryReconciler>(
        reconciler::RetryReconciler::Ports{process.retries, process.retries, process.retries,
                                           process.retries, process.retries, process.metrics},
        checker, retries, *process.gate);
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
    // What it owned goes to a random one, or comes back.
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
