// Reconcilers with the real logic for relation-log, for the retries and, in some schedules, for the
// log scan, behind one gate.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "reconciler/later_reconciler.h"
#include "reconciler/log_scanner.h"
#include "reconciler/pair_reconciler.h"
#include "reconciler/retry_reconciler.h"
#include "tests/sim/members.h"

namespace fanline::sim {

// Where no forward shard loses what it acknowledged, a check that reads in the right order never
// finds the reverse row ahead.
struct ReconcilerMetrics : reconciler::Metrics {
  explicit ReconcilerMetrics(World& given) : world(given) {}
  void Checked(Net, reconciler::Finding finding) override {
    ++world.counts.checks;
    if (world.character.odd.lose_changes + world.character.escapes > 0) return;
    if (finding == reconciler::Finding::kAhead || finding == reconciler::Finding::kOrphan ||
        finding == reconciler::Finding::kCorrupt || finding == reconciler::Finding::kLost) {
      world.trouble = "a check found a change that no forward row explains";
    }
  }
  void Repaired(Net net, const reconciler::Verdict&, Duration) override {
    ++world.counts.repairs;
    if (net == Net::kLog) world.Count(Letter::kEscaped);
  }
  void SentToRetry(reconciler::RetryCause) override { ++world.counts.sent_to_retries; }
  World& world;
};

// The requests of the logic for relation-log and for the retries.
struct ReconcilerCalls
    : ServesAll<ReconcilerCalls, AskPending, ReadPending, ReadEdges, ApplyEdges, AdoptEdge,
                LogRepair, TakeRemovals, ReadReconcilerMode, AppendHints, AppendRelations,
                AppendRetries, AppendDeadLetter, ReadGroupOffsets, ReadLogged, MoveLogScan,
                ReadFriendVersions, LogAgain>,
      Caller {
  using Caller::Caller;

  ReconcilerMetrics metrics{world};

  template <typename Inbox>
  reconciler::Checker::Ports CheckerPorts(Inbox& inbox) {
    const auto to = AsPart<reconciler::CheckerReply>(inbox);
    return {{*this, to}, {*this, to}, {*this, to}, {*this, to}, metrics};
  }

  // `reply` is the answer if nothing fails; `act` may still change it.
  template <typename R, typename F>
  void AskWith(ReplyTo<R> to, const char* name, R reply, F act) {
    Ask(to, name, reply, [reply, act]() mutable {
      act(reply);
      return reply;
    });
  }

  // ---- rows -----------------------------------------------------------------------------------
  void Serve(const AskPending& request, ReplyTo<AskPending::Reply> to) {
    AskWith(to, "question about log1", PendingAsked{request.id, {}, {}},
            [this, request](PendingAsked& reply) {
              if (Away(request.shard)) {
                reply.status = AwayStatus();
              } else {
                reply = world.mysql.relations.Do(request);
                LeaveToMirrors(reply);
              }
            });
  }

  void Serve(const ReadPending& request, ReplyTo<PendingRead> to) { AskShard(request, to); }
  void Serve(const ReadLogged& request, ReplyTo<LoggedRead> to) { AskShard(request, to); }
  void Serve(const MoveLogScan& request, ReplyTo<LogScanMoved> to) { AskShard(request, to); }
  void Serve(const ReadFriendVersions& request, ReplyTo<FriendVersionsRead> to) {
    AskShard(request, to);
  }
  void Serve(const LogAgain& request, ReplyTo<LoggedAgain> to) { AskShard(request, to); }
  template <class R>
  void AskShard(const R& request, ReplyTo<typename R::Reply> to) {
    AskWith(to, "log scan", FailureOf(request, {}), [this, request](typename R::Reply& reply) {
      if (Away(request.shard)) {
        reply.status = AwayStatus();
      } else {
        reply = world.mysql.relations.Do(request);
      }
    });
  }

  // A change that a mirror has dropped is marked soon: here it is so already.
  void LeaveToMirrors(PendingAsked& asked) {
    std::erase_if(asked.pending, [this](const LoggedChange& change) {
      return world.unmirrored.contains({change.edge.key(), change.edge.ver});
    });
    for (const LoggedChange& change : asked.pending) {
      world.left_to_mirrors.emplace(change.edge.key(), change.edge.ver);
    }
  }

  // Both rows of each edge, one direction after the other: anything may happen in between.
  void Serve(const ReadEdges& request, ReplyTo<ReadEdges::Reply> to) {
    EdgesRead rows{request.id, AwayStatus(), {}};
    const uint64_t owner = incarnation;
    const bool reverse_first = world.options.guards.reverse_first;
    const auto failed = DeliverTo(owner, to, rows);
    rows = {request.id, {}, std::vector<RowsOfEdge>(request.edges.size())};
    const auto second = [this, owner, to, request, failed, reverse_first](EdgesRead read) {
      if (incarnation != owner) return;
      world.network.Send({"second rows",
                          [this, owner, to, request, read, reverse_first]() mutable {
                            ReadSide(request, !reverse_first, read);
                            return DeliverTo(owner, to, read);
                          },
                          failed, owner, false});
    };
    world.network.Send({"first rows",
                        [this, request, rows, reverse_first, second]() mutable {
                          ReadSide(request, reverse_first, rows);
                          return std::function<void()>([second, rows] { second(rows); });
                        },
                        failed, owner, false});
  }

  void ReadSide(const ReadEdges& request, bool reverse, EdgesRead& read) {
    const auto& edges = reverse ? world.mysql.relations.reverse() : world.mysql.relations.forward();
    for (size_t i = 0; i < request.edges.size(); ++i) {
      const EdgeKey& key = request.edges[i];
      if (Away(world.shards.ShardOf(reverse ? key.dst : key.src))) read.status = AwayStatus();
      const auto found = edges.find(key);
      const EdgeState state = found == edges.end() ? EdgeState{} : found->second;
      (reverse ? read.rows[i].reverse : read.rows[i].forward) = state;
    }
  }

  void Serve(const ApplyEdges& request, ReplyTo<ApplyEdges::Reply> to) {
    for (const Edge& edge : request.edges) {
      world.counts.first_rows += world.mysql.relations.reverse().contains(edge.key()) ? 0 : 1;
    }
    AskWith(to, "repair of a reverse row", EdgesApplied{request.id, {}, {}, 0},
            [this, request](EdgesApplied& reply) {
              if (Away(request.shard)) {
                reply.status = AwayStatus();
              } else if (std::any_of(request.edges.begin(), request.edges.end(),
                                     [this](const Edge& edge) { return world.Locked(edge.dst); })) {
                reply.status = LockedStatus();
              } else {
                reply = world.mysql.relations.Do(request);
              }
            });
  }

  void Serve(const AdoptEdge& request, ReplyTo<AdoptEdge::Reply> to) {
    AskWith(to, "adoption", EdgeAdopted{request.id, {}, false, {}},
            [this, request](EdgeAdopted& reply) {
              if (Away(world.shards.ShardOf(request.edge.src))) {
                reply.status = AwayStatus();
              } else {
                reply = world.mysql.relations.Do(request);
              }
            });
  }

  void Serve(const LogRepair& request, ReplyTo<LogRepair::Reply> to) {
    AskWith(to, "repair_log", RepairLogged{request.id, {}}, [](RepairLogged&) {});
  }

  void Serve(const TakeRemovals& request, ReplyTo<TakeRemovals::Reply> to) {
    AskWith(to, "removals", RemovalsTaken{request.id, {}, request.wanted}, [](RemovalsTaken&) {});
  }

  void Serve(const ReadReconcilerMode& request, ReplyTo<ReadReconcilerMode::Reply> to) {
    AskWith(to, "mode", ReconcilerModeRead{request.id, {}, ReconcilerMode::kRun, 0},
            [this](ReconcilerModeRead& reply) { reply.mode = world.reconciler_mode; });
  }

  // ---- logs -----------------------------------------------------------------------------------
  void Serve(const AppendHints& request, ReplyTo<HintsAppended> to) {
    AskWith(to, "repair hints", HintsAppended{request.id, {}}, [this, request](HintsAppended&) {
      if (world.options.guards.repairs_hint) world.AppendAll(request);
    });
  }

  void Serve(const AppendRelations& request, ReplyTo<RelationsAppended> to) {
    AskWith(to, "repair msg2", RelationsAppended{request.id, {}},
            [this, request](RelationsAppended&) {
              for (const auto& message : request.messages) world.AppendRelation(message);
            });
  }

  void Serve(const AppendRetries& request, ReplyTo<RetriesAppended> to) {
    AskWith(to, "retries", RetriesAppended{request.id, {}}, [this, request](RetriesAppended&) {
      for (const auto& retry : request.retries) {
        world.Append(world.retry_log, 0, EncodeRelationRetry(retry));
      }
    });
  }

  void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended>) {
    world.trouble = "a reconciler gave up: " + request.letter.reason;
  }

  // ---- positions ------------------------------------------------------------------------------
  void Serve(const ReadGroupOffsets& request, ReplyTo<ReadGroupOffsets::Reply> to) {
    AskWith(to, "mirror's offsets", GroupOffsetsRead{request.id, {}, {}},
            [this, request](GroupOffsetsRead& reply) {
              for (const int32_t partition : request.partitions) {
                const Log& log = world.relation_log[static_cast<size_t>(partition)];
                reply.committed.push_back({partition, static_cast<int64_t>(log.size())});
              }
            });
  }
};

struct PairsPart : ReconcilerCalls,
                   Consumes<reconciler::PairReconciler, reconciler::PairReconcilerInput> {
  using ReconcilerCalls::ReconcilerCalls;

  // Its consumer looks now and then where the logs end.
  void SeeEnds() {
    for (const int32_t partition : believes) {
      const Log& log = world.relation_log[static_cast<size_t>(partition)];
      inbox.emplace_back(LogEndSeen{partition, static_cast<int64_t>(log.size()), world.now.mono});
    }
  }

  void Start(const reconciler::Checker::Setup& checker, reconciler::RepairGate& gate) {
    using std::chrono::milliseconds;
    const milliseconds grace(world.character.grace_ms);
    reconciler::Limits limits{.grace = grace,
                              .remember = std::max<Duration>(milliseconds(200), 2 * grace),
                              .commit_every = milliseconds(5)};
    if (world.character.few_pairs) {
      limits.pending = limits.remembered = limits.checks_in_flight = limits.retries_in_flight = 3;
    }
    logic = std::make_unique<reconciler::PairReconciler>(
        reconciler::PairReconciler::Ports{
            CheckerPorts(inbox), {*this, inbox}, {*this, inbox}, {*this, inbox}, metrics},
        reconciler::PairReconciler::Setup{checker, false, {milliseconds(20), milliseconds(60)}},
        limits, gate);
  }
};

struct RetriesPart : ReconcilerCalls,
                     Consumes<reconciler::RetryReconciler, reconciler::RetryInput> {
  using ReconcilerCalls::ReconcilerCalls;
  void Start(const reconciler::Checker::Setup& checker, reconciler::RepairGate& gate) {
    using std::chrono::milliseconds;
    const reconciler::RetryLimits limits{.commit_every = milliseconds(5),
                                         .patience = {milliseconds(20), milliseconds(100)},
                                         .append_again = {milliseconds(2), milliseconds(20)}};
    logic = std::make_unique<reconciler::RetryReconciler>(
        reconciler::RetryReconciler::Ports{
            CheckerPorts(inbox), {*this, inbox}, {*this, inbox}, metrics},
        checker, limits, gate);
  }
};

// The log scan: of relation-log, and of log1.
struct LaterPart : ReconcilerCalls, Consumes<reconciler::LaterReconciler, reconciler::LaterInput> {
  using ReconcilerCalls::ReconcilerCalls;

  fakes::Inbox<reconciler::LogScanInput> scan_inbox;
  std::unique_ptr<reconciler::LogScanner> scanner;

  void Start(const reconciler::Checker::Setup& checker, reconciler::RepairGate& gate) {
    using std::chrono::milliseconds;
    const milliseconds grace(world.character.grace_ms);
    const reconciler::EdgeComparer::Limits comparing{
        .edges_per_read = 3,
        .grace = grace,
        .patience = {milliseconds(20), milliseconds(60)},
        .again = {milliseconds(2), milliseconds(20)}};
    logic = std::make_unique<reconciler::LaterReconciler>(
        reconciler::LaterReconciler::Ports{ComparerPorts(inbox), {*this, inbox}, metrics},
        reconciler::LaterReconciler::Setup{checker, false}, comparing,
        reconciler::LaterLimits{.after = kScanAfter,
                                .held = 50,
                                .batch = 7,
                                .open = 20,
                                .commit_every = milliseconds(5),
                                .look_every = milliseconds(10)},
        gate);
    scan_inbox.clear();
    scanner = std::make_unique<reconciler::LogScanner>(
        reconciler::LogScanner::Ports{
            ComparerPorts(scan_inbox), {*this, scan_inbox}, {*this, scan_inbox}, metrics},
        checker, kRelationPartitions, comparing,
        reconciler::LogScanLimits{.after = kScanAfter,
                                  .rows = 5,
                                  .poll_every = milliseconds(40),
                                  .again = {milliseconds(2), milliseconds(20)}},
        gate);
  }

  template <class Inbox>
  reconciler::EdgeComparer::Ports ComparerPorts(Inbox& to_inbox) {
    const auto to = AsPart<reconciler::ComparerReply>(to_inbox);
    return {{*this, to}, {*this, to}, {*this, to}, metrics};
  }

  void TurnOfScanner() {
    if (!world.options.guards.scans_log1) return;
    scanner->Own({believes.begin(), believes.end()});
    fakes::Inbox<reconciler::LogScanInput> inputs;
    inputs.swap(scan_inbox);
    (void)scanner->Step(inputs, world.now);
  }
};

// A reconciler is a member of two groups, of three if it scans: a part in each, behind one gate.
struct Reconcilers {
  World& world;
  Members<PairsPart> pairs{world, "reconciler", world.pair_group};
  Members<RetriesPart> retries{world, "reconciler", world.retry_group};
  Members<LaterPart> later{world, "log scan", world.later_group};
  std::vector<std::unique_ptr<reconciler::RepairGate>> gates{};

  size_t size() const { return gates.size(); }

  void Add() {
    pairs.Enter();
    retries.Enter();
    if (world.character.scans) later.Enter();
    gates.emplace_back();
    Start(static_cast<int>(size()) - 1);
  }

  void Start(int index) {
    using std::chrono::milliseconds;
    const reconciler::GateLimits limits{.second_check_after =
                                            milliseconds(world.character.grace_ms)};
    auto& gate = gates[static_cast<size_t>(index)];
    gate = std::make_unique<reconciler::RepairGate>(limits, world.shards.shards());
    gate->SetMode(ReconcilerMode::kRun);
    const reconciler::Checker::Setup checker{.layout = RangeLayout(kRanges),
                                             .shards = {world.shards, world.shards},
                                             .batch = 3,
                                             .backoff = {milliseconds(2), milliseconds(20)},
                                             .seed = world.random(),
                                             .guards = world.options.guards.logic};
    pairs.at(index).Start(checker, *gate);
    retries.at(index).Start(checker, *gate);
    if (world.character.scans) later.at(index).Start(checker, *gate);
  }

  void CrashAny() {
    const int index = pairs.AnyOne();
    pairs.TellCrash(index);
    pairs.Die(index);
    retries.Die(index);
    if (world.character.scans) later.Die(index);
    Start(index);
    pairs.GiveAway(index);
    retries.GiveAway(index);
    if (world.character.scans) later.GiveAway(index);
  }

  // Partitions of relation-log, then the one of the retries.
  void MoveAny() {
    if (world.character.scans && world.Chance(40)) return later.MoveAny();
    const int partition = world.PickInt(kRelationPartitions + 1);
    if (partition < static_cast<int>(kRelationPartitions)) return pairs.MoveToAny(partition);
    retries.MoveToAny(0);
  }

  void Turn(size_t which, bool notice) {
    pairs.at(static_cast<int>(which)).SeeEnds();
    pairs.Turn(which, notice);
    retries.Turn(which, notice);
    if (world.character.scans) TurnOfLater(which, notice);
  }
  void TurnOfLater(size_t which, bool notice) {
    if (world.options.guards.looks_later) {
      later.Turn(which, notice);
    } else {
      for (Assignment& assignment : world.later_group) assignment.committed = assignment.end();
    }
    later.at(static_cast<int>(which)).TurnOfScanner();
  }
  void TurnOfAll() {
    for (size_t i = 0; i < size(); ++i) Turn(i, true);
  }
};

}  // namespace fanline::sim
