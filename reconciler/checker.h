// Compares the two rows of edges and repairs differences (verdict.h).
//
//   the claim names a row of log1: it is read on its primary
//     pending: the edge is the mirror's -> resolved; of an entry of the retries not, until it is
//     marked done or gone: as if the claim named none
//   the claim names none: reverse row, then forward row, read on primaries -> verdict
//     equal:   [hint sync(src, dst) acknowledged] -> resolved
//     differs: [removals granted] -> row of repair_log -> [forward row written anew]
//              -> reverse row committed -> hint acknowledged -> msg2 acknowledged -> resolved
//
// The mirror that holds the forward shard applies a pending row, however long that takes. So a
// mirror that is behind makes no work here. A pending row may have been carried, and what it wrote
// been lost, before it is marked: so an entry of the retries waits for the mark. A shard that lost
// the tail of log1 lost that row too. Then the claim says what the forward row must be.
//
// Repairs go the way of every change, so they race with nothing: the higher version wins. The row
// of repair_log comes first, so no repair goes unrecorded. A repair that fails after it is recorded
// again. The checker applies a forward row that it wrote anew at once, and the mirror applies it
// again.
//
// Equal rows whose msg2 did not come, or which a scan found different, have perhaps no hint either.
//
// A call that fails or must wait ends its check unresolved. The caller orders the check again
// later; repeating a check does no harm. If no check can resolve the edge (no state or version is
// left, a store refuses the repair), the result says why. A shard that is away ends all checks that
// wait for it, and is left alone for a back-off.
//
// A guarded verdict needs a second check, a grace after the first, that comes to the same verdict,
// and the breaker of its shard must let it pass. The removals of a step are asked for together
// (fanline/ports/removal_allowance.h). A crash at any point leaves rows that a check finds unequal,
// or equal rows whose hint goes out with the next check.
//
// Passive: no thread, no clock, no sleep. Not thread-safe. The caller bounds the open checks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/base/backoff.h"
#include "fanline/base/mutation_switches.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge_shards.h"
#include "fanline/model/net.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/ports/removal_allowance.h"
#include "fanline/ports/repair_store.h"
#include "fanline/ports/reverse_edges.h"
#include "reconciler/metrics.h"
#include "reconciler/repair_gate.h"

namespace fanline::reconciler {

using CheckerReply = std::variant<PendingAsked, EdgesRead, EdgesApplied, EdgeAdopted, RepairLogged,
                                  RemovalsTaken, HintsAppended, RelationsAppended>;

// Orders a check: whether the edge is the mirror's, and if not, whether its two rows differ; if
// they do, they are repaired. Each check gets one result.
struct CheckOrder {
  uint64_t ticket = 0;  // given back
  EdgeKey edge;
  EdgeClaim claim;       // what the pending message says
  Net net = Net::kPair;  // what found the edge
  // While its row of log1 is pending, it is not resolved.
  bool until_marked = false;
};

// The row of log1 that a claim names.
inline LogRow RowOf(const EdgeKey& edge, const EdgeClaim& claim) {
  return {claim.log_id, ChangeKind::kEdge, edge, claim.state.ver};
}

struct CheckResult {
  CheckOrder order;
  // The edge is the mirror's; or the rows agree at the claimed version or above, perhaps because
  // this check repaired them, and the hint sync(src, dst) is acknowledged if one was due. False:
  // neither, or unknown; the check is ordered again.
  bool resolved = false;
  std::string hopeless;  // why no further check can resolve the edge; "": one may
};

class Checker {
 public:
  struct Ports {
    Port<AskPending> log;
    Port<ReadEdges, ApplyEdges, AdoptEdge, LogRepair, TakeRemovals> store;
    Port<AppendHints> hints;
    Port<AppendRelations> relations;
    Metrics& metrics;
  };
  struct Setup {
    RangeLayout layout{16};
    EdgeShards shards{};
    // Off: the tables are an application's. They fill no timeline, and log1 does not know them.
    bool ours = true;
    uint32_t batch = 500;           // edges read at once
    uint32_t rows_per_ask = 1'024;  // of log1
    Backoff backoff{};
    uint64_t seed = 1;  // of the jitter
    MutationSwitches guards{};
  };

  // `gate` outlives this.
  Checker(Ports ports, Setup setup, RepairGate& gate);

  void Order(const CheckOrder& order);
  void On(const CheckerReply& reply, Now now) {
    std::visit([&](const auto& each) { On(each, now); }, reply);
  }

  // After the inputs of a step: sends what is due. Returns when to step again at the latest.
  [[nodiscard]] std::optional<Time> Send(Now now);
  // Results of the checks that ended since the last call.
  [[nodiscard]] std::vector<CheckResult> TakeResults();

  // Ends the checks that were not begun, unresolved. The others go on.
  void Drop();
  bool idle() const {
    return jobs_.empty() && taking_.empty() && removals_.empty() && waiting_ == 0;
  }

 private:
  // A check whose rows were read; it goes on alone, by the id of its request under way.
  struct Job {
    CheckOrder order;
    Verdict verdict;
    Edge edge;                   // to be applied
    EdgeState reverse, forward;  // as read
    uint64_t mirrored = 0;       // the reverse row's version, once a repair has committed it
  };
  // Removals of one shard that wait together until they are granted.
  struct Removals {
    TakeRemovals asked;
    std::vector<Job> jobs;
  };
  // Checks that ask one shard of log1, or that read rows of the same two shards. So a shard that is
  // away delays only its edges.
  struct Queue {
    std::deque<CheckOrder> waiting;
    std::vector<CheckOrder> reading;  // the checks of the request under way, at most one
    uint32_t attempts = 0;
    Time retry_at{};
    std::optional<Time> throttled_since;
  };

  void On(const PendingAsked& asked, Now now);
  void On(const EdgesRead& read, Now now);
  void On(const RepairLogged& logged, Now now);
  void On(const RemovalsTaken& taken, Now now);
  void On(const EdgeAdopted& adopted, Now now);
  void On(const EdgesApplied& applied, Now now);
  void On(const HintsAppended& appended, Now now);
  void On(const RelationsAppended& appended, Now now);

  Queue& QueueOf(const EdgeKey& edge) { return queues_[setup_.shards.NumberOf(edge)]; }
  // Each returns when to try again, if not all of the queue was sent.
  std::optional<Time> SendAsk(Shard shard, Now now);
  std::optional<Time> SendRead(size_t queue, Now now);
  void EndWaiting(Queue& queue);
  void FailAll(Queue& queue, const Status& status, Now now);
  void Decide(const CheckOrder& order, const RowsOfEdge& rows, UnixMs horizon, Now now);
  bool MayRepair(const CheckOrder& order, const Verdict& verdict, Now now);
  void Withhold(const Job& job);
  void SendRemovals();
  void SendLog(Job job);
  void SendApply(Job job);
  void SendHint(Job job);
  void SendMessage(Job job);
  void End(const CheckOrder& order, bool resolved) { results_.push_back({order, resolved, {}}); }
  void EndHopeless(const CheckOrder& order, const std::string& why);
  void Fail(const CheckOrder& order, const Status& status);  // a call that it needed
  // The job that the reply is for. None: the call failed, and the check ended.
  std::optional<Job> TakeIfDone(uint64_t id, const Status& status);

  Ports ports_;
  const Setup setup_;
  RepairGate& gate_;
  uint64_t ids_ = 0;  // of requests
  std::mt19937_64 random_;
  std::vector<Queue> asks_;                        // by shard of src
  std::vector<Queue> queues_;                      // by pair of shards
  size_t waiting_ = 0;                             // checks in both kinds of queues
  std::unordered_map<uint64_t, Shard> asked_;      // request -> asks_
  std::unordered_map<uint64_t, size_t> reads_;     // request -> queues_
  std::unordered_map<uint64_t, Job> jobs_;         // by request
  std::map<Shard, std::vector<Job>> removals_;     // not asked for yet
  std::unordered_map<uint64_t, Removals> taking_;  // by request
  std::vector<CheckResult> results_;
};

}  // namespace fanline::reconciler
