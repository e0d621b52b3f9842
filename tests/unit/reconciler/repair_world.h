// The tables, logs and positions a reconciler works on, in memory. Each request is carried out and
// answered when the test says so; what is `away` answers kLater and does nothing.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "reconciler/pair_reconciler.h"
#include "reconciler/retry_reconciler.h"

namespace fanline::reconciler {

using AnyRequest = std::variant<ReadEdges, ApplyEdges, AdoptEdge, LogRepair, TakeRemovals,
                                ReadReconcilerMode, AppendHints, AppendRelations, AppendRetries,
                                AppendDeadLetter, ReadLogEnd, ReadGroupOffsets>;
using AnyReply = std::variant<EdgesRead, EdgesApplied, EdgeAdopted, RepairLogged, RemovalsTaken,
                              ReconcilerModeRead, HintsAppended, RelationsAppended, RetriesAppended,
                              DeadLetterAppended, LogEndRead, GroupOffsetsRead>;

struct RepairWorld : RepairStore,
                     HintLog,
                     RelationLog,
                     RetryLog,
                     DeadLetters,
                     LogPositions,
                     Metrics {
  void Submit(RepairRequest request) override {
    std::visit([this](auto& each) { requests.emplace_back(std::move(each)); }, request);
  }
  void Submit(AppendHints request) override { requests.emplace_back(std::move(request)); }
  void Submit(AppendRelations request) override { requests.emplace_back(std::move(request)); }
  void Submit(AppendRetries request) override { requests.emplace_back(std::move(request)); }
  void Submit(AppendDeadLetter request) override { requests.emplace_back(std::move(request)); }
  void Submit(PositionRequest request) override {
    std::visit([this](auto& each) { requests.emplace_back(std::move(each)); }, request);
  }

  // Carries out the first request and takes it away.
  AnyReply Answer();

  void Checked(Finding finding) override { ++found[finding]; }
  void Repaired(RepairKind kind, Duration) override { ++repaired[kind]; }
  void WouldRepair(const EdgeKey&, const Verdict&) override { ++withheld; }
  void BreakerOpen(Shard shard, bool is_open) override { open[shard] = is_open; }
  void Throttled(Duration waited) override { throttled += waited; }
  void Pending(uint64_t, Duration, uint64_t behind) override { commit_lag = behind; }

  std::deque<AnyRequest> requests;
  std::map<EdgeKey, EdgeState> forward, reverse;
  std::vector<std::string> done;  // what was carried out, in order
  std::vector<LogRepair> repairs;
  std::vector<RelationRetry> retries;
  std::vector<DeadLetter> letters;
  uint64_t commit_lag = 0;  // told last
  ReconcilerMode mode = ReconcilerMode::kRun;
  uint64_t closings = 0;
  std::map<Shard, RemovalAllowance> allowances;
  UnixMs server_clock = 1'700'000'000'000;
  std::set<std::string>
      away;  // "store", "log", "removals", "adopt", "apply", "hints", "msg2", "retries"
  std::map<int32_t, int64_t> ends, committed;

  std::map<Finding, int> found;
  std::map<RepairKind, int> repaired;
  int withheld = 0;
  std::map<Shard, bool> open;
  Duration throttled{};

 private:
  Status Do(const std::string& what);
  AnyReply Reply(const ReadEdges& request);
  AnyReply Reply(const ApplyEdges& request);
  AnyReply Reply(const AdoptEdge& request);
  AnyReply Reply(const LogRepair& request);
  AnyReply Reply(const TakeRemovals& request);
  AnyReply Reply(const ReadReconcilerMode& request);
  AnyReply Reply(const AppendHints& request) { return HintsAppended{request.id, Do("hints")}; }
  AnyReply Reply(const AppendRelations& request) {
    return RelationsAppended{request.id, Do("msg2")};
  }
  AnyReply Reply(const AppendRetries& request);
  AnyReply Reply(const AppendDeadLetter& request);
  AnyReply Reply(const ReadLogEnd& request);
  AnyReply Reply(const ReadGroupOffsets& request);
};

}  // namespace fanline::reconciler
