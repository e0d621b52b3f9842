// The tables, logs and positions of a reconciler, in memory. Each request is carried out and
// answered when the test says so. A call named in `away` does nothing and answers kLater.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/edge_comparer.h"
#include "reconciler/pair_reconciler.h"
#include "reconciler/retry_reconciler.h"
#include "tests/fakes/requests.h"

namespace fanline::reconciler {

// What a repair did to an edge: wrote a live reverse row, an ended one, or the forward row anew.
enum class RepairKind { kAdd, kRemove, kBump };

struct RepairWorld : ServesAll<RepairWorld, AskPending, ReadPending, ReadEdges, ApplyEdges,
                               AdoptEdge, LogRepair, TakeRemovals, ReadReconcilerMode, AppendHints,
                               AppendRelations, AppendRetries, AppendDeadLetter, ReadGroupOffsets>,
                     Metrics {
  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    requests.push_back({fakes::Asked<R>{std::move(request), to}});
  }

  template <class To>
  Checker::Ports PortsTo(To& to) {
    return {{*this, to}, {*this, to}, {*this, to}, {*this, to}, *this};
  }

  // Carries out, removes and answers the first request.
  void Answer();

  // A row of log1 that is pending.
  void Log(uint64_t log_id, const Edge& edge) {
    log1[log_id] = {log_id, ChangeKind::kEdge, edge, server_clock};
  }

  void LeftToMirror() override { ++left_to_mirror; }
  void Differs(const EdgeKey&, Finding finding) override { ++differing[finding]; }
  void Checked(Net, Finding finding) override { ++found[finding]; }
  void Repaired(Net net, const Verdict& verdict, Duration age) override {
    ++by_net[net];
    last_age = age;
    const bool bumps = verdict.action == Verdict::Action::kBump;
    ++repaired[bumps                ? RepairKind::kBump
               : verdict.state.live ? RepairKind::kAdd
                                    : RepairKind::kRemove];
  }
  void WouldRepair(const EdgeKey&, const Verdict&) override { ++withheld; }
  void Hopeless(const EdgeKey&, const std::string&) override { ++hopeless; }
  void BreakerOpen(Shard shard, bool is_open) override { open[shard] = is_open; }
  void Throttled(Duration waited) override { throttled += waited; }
  void Pending(uint64_t, Duration, uint64_t behind) override { commit_lag = behind; }

  std::deque<fakes::Request<AskPending, ReadPending, ReadEdges, ApplyEdges, AdoptEdge, LogRepair,
                            TakeRemovals, ReadReconcilerMode, AppendHints, AppendRelations,
                            AppendRetries, AppendDeadLetter, ReadGroupOffsets>>
      requests;
  std::map<EdgeKey, EdgeState> forward, reverse;
  std::map<uint64_t, LoggedChange> log1;  // what is pending, of all shards
  uint64_t newest_log_id = 0;
  std::vector<AskPending> asked;
  std::vector<size_t> read;       // how many edges each request read
  std::vector<std::string> done;  // the requests carried out, in order
  std::vector<LogRepair> repairs;
  std::vector<RelationRetry> retries;
  std::vector<DeadLetter> letters;
  uint64_t commit_lag = 0;  // the last one reported
  ReconcilerMode mode = ReconcilerMode::kRun;
  uint64_t closings = 0;
  UnixMs horizon = 0;  // of every shard
  std::map<Shard, RemovalAllowance> allowances;
  UnixMs server_clock = 1'700'000'000'000;
  std::set<std::string>
      away;  // "log1_N", "store", "log", "removals", "adopt", "apply", "hints", "msg2", "retries"
  std::set<std::string> refused;  // the same names; these answer kNever
  std::set<std::string> hangs;    // "log1_N": does not answer
  std::map<int32_t, int64_t> ends, committed;

  std::map<Finding, int> found, differing;
  std::map<RepairKind, int> repaired;
  std::map<Net, int> by_net;
  Duration last_age{};
  int withheld = 0, hopeless = 0, left_to_mirror = 0;
  std::map<Shard, bool> open;
  Duration throttled{};

 private:
  Status Do(const std::string& what);
  PendingAsked Reply(const AskPending& request);
  PendingRead Reply(const ReadPending& request);
  EdgesRead Reply(const ReadEdges& request);
  EdgesApplied Reply(const ApplyEdges& request);
  EdgeAdopted Reply(const AdoptEdge& request);
  RepairLogged Reply(const LogRepair& request);
  RemovalsTaken Reply(const TakeRemovals& request);
  ReconcilerModeRead Reply(const ReadReconcilerMode& request);
  HintsAppended Reply(const AppendHints& request) { return {request.id, Do("hints")}; }
  RelationsAppended Reply(const AppendRelations& request) { return {request.id, Do("msg2")}; }
  RetriesAppended Reply(const AppendRetries& request);
  DeadLetterAppended Reply(const AppendDeadLetter& request);
  GroupOffsetsRead Reply(const ReadGroupOffsets& request);
};

}  // namespace fanline::reconciler
