// Compares many edges with what a scan knows of them, and hands only those over that differ: to the
// retries (retry_reconciler.h), which check and repair. Reads many at a time, from both sides.
//
//   order -> its row of log1 is pending: the mirror's; held, and asked about again
//         -> both rows are read: they agree, at the claimed version or above: finished
//         -> held for a grace, and while the mirror is behind -> read again: they agree: finished
//         -> in the retries, under the scan's net: finished
//
// A repair writes a row, then tells whoever serves timelines. A scan that repaired, and died
// between the two, would pass the edge the next time, as equal. An entry of the retries stays until
// all is done.
//
// A scan meets edges that change meanwhile. So a difference counts only if it is still there a
// grace later. If the forward row is newer than the claim, its own change may be on its way,
// however long the mirror takes: the edge is held until log1 has no older row pending. A change in
// between begins the wait anew. An application's own tables have no log1; whoever orders waits for
// its mirror (later_reconciler.h). A row of log1 that is pending may have been carried already, and
// what was carried be lost by a failover before the row is marked: so it is waited for.
//
// A shard that is away ends all comparisons that wait for it: they go to the retries, too. It is
// left alone for a back-off. In mode pause nothing is asked.
//
// Who wants to know before anything is handed over orders only a look: then the answer is whether
// the rows differ after all of this, or that it is unknown. What then goes to the retries is not
// compared again (HandOver).
//
// Passive: no thread, no clock, no sleep. Not thread-safe. The caller bounds what is open.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/base/backoff.h"
#include "fanline/base/throttle.h"
#include "fanline/consuming/retry_queue.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/ports/repair_store.h"
#include "reconciler/checker.h"

namespace fanline::reconciler {

using ComparerReply = std::variant<PendingAsked, PendingRead, EdgesRead, RetriesAppended>;

struct CompareOrder {
  uint64_t ticket = 0;  // given back when the edge is finished
  EdgeKey edge;
  EdgeClaim claim;  // what the edge must have at least; ver 0: the rows must only agree
  bool only_look = false;
};
struct Looked {
  enum class What { kEqual, kDiffers, kUnknown };
  uint64_t ticket = 0;
  What what = What::kEqual;
};

class EdgeComparer {
 public:
  struct Ports {
    Port<AskPending, ReadPending> log;
    Port<ReadEdges> store;
    Port<AppendRetries> retries;
    Metrics& metrics;
  };
  struct Limits {
    uint32_t edges_per_read = 300;
    uint32_t edges_per_second = 5'000;  // read first, per shard of reverse rows
    Duration grace = std::chrono::seconds(3);
    Backoff patience{};  // until the first check of what could not be read
    Backoff again{};     // a shard that is away, the retries while Kafka is
  };

  // `gate` outlives this.
  EdgeComparer(Net net, const Ports& ports, const Checker::Setup& setup, const Limits& limits,
               RepairGate& gate);

  void Compare(const CompareOrder& order);
  // Gives an edge that a look found different to the retries.
  void HandOver(const CompareOrder& order, Now now);
  void On(const ComparerReply& reply, Now now) {
    std::visit([&](const auto& each) { Take(each, now); }, reply);
  }

  // After the inputs of a step: sends what is due. Returns when to step again at the latest.
  [[nodiscard]] std::optional<Time> Send(Now now);
  // Tickets of edges that are finished, since the last call. Each ticket comes once.
  [[nodiscard]] std::vector<uint64_t> TakeFinished();
  // The same of those that were only looked at.
  [[nodiscard]] std::vector<Looked> TakeLooked();

  // Edges that were ordered and are not finished.
  size_t open() const { return open_; }

  // From now on nothing is begun; what is under way goes on until idle().
  void StopTaking() { taking_ = false; }
  bool idle() const { return under_way_ == 0; }

 private:
  struct Item {
    CompareOrder order;
    bool pending = false;            // its row of log1 was, when that was asked for last
    uint64_t forward = 0;            // the forward row's version, as it was read last; 0: not yet
    bool newer = false;              // it is above the claim and above the reverse row
    std::optional<uint64_t> newest;  // row of log1, when that was asked for after the read
    bool again = false;              // a difference was seen before
    uint32_t failures = 0;           // appends to the retries
  };
  using Items = std::vector<Item>;
  // Items that ask one shard of log1, or that read rows of the same two shards.
  struct Queue {
    std::deque<Item> waiting;
    Items asking;  // those of the request under way, at most one
    uint32_t attempts = 0;
    Time retry_at{};
  };
  struct Held {
    std::deque<std::pair<Time, Item>> items;  // by time
    bool asking = false;                      // what log1 has pending
  };

  void Take(const PendingAsked& asked, Now now);
  void Take(const PendingRead& read, Now now);
  void Take(const EdgesRead& read, Now now);
  void Take(const RetriesAppended& appended, Now now);

  Shard ForwardOf(const EdgeKey& edge) const { return setup_.shards.forward.ShardOf(edge.src); }
  Queue& QueueOf(const EdgeKey& edge) { return reads_[setup_.shards.NumberOf(edge)]; }
  bool paused() const { return gate_.mode() == ReconcilerMode::kPause; }

  std::optional<Time> SendAsk(Shard shard, Now now);
  std::optional<Time> SendRead(size_t queue, Now now);
  std::optional<Time> LookAtHeld(Shard shard, Now now);
  template <class May>
  void Release(Held& held, Now now, May may);
  void Judged(Item item, const RowsOfEdge& rows, UnixMs horizon, Now now);
  void Hold(Item item, Now now);
  void FailAll(Queue& queue, const Status& status, Now now);
  void SendRetry(Item item, Duration wait, Now now);
  void Finish(const Item& item, Looked::What what = Looked::What::kEqual);
  template <class Map, class What>
  uint64_t Asked(Map& map, What what);

  const Net net_;
  const Ports ports_;
  const Checker::Setup setup_;
  const Limits limits_;
  RepairGate& gate_;
  std::mt19937_64 random_;
  bool taking_ = true;
  size_t open_ = 0;
  size_t under_way_ = 0;                               // requests of its own
  uint64_t ids_ = 0;                                   // of requests
  std::vector<Queue> asks_;                            // by shard of src
  std::vector<Queue> reads_;                           // by pair of shards
  std::vector<Held> held_;                             // by shard of src
  std::vector<Throttle> throttles_;                    // by shard of dst
  std::unordered_map<uint64_t, Shard> asked_, looks_;  // by request
  std::unordered_map<uint64_t, size_t> reading_;       // the same
  std::unordered_map<uint64_t, Item> retries_;         // by request
  RetryQueue<Item> append_again_;
  std::vector<uint64_t> finished_;
  std::vector<Looked> looked_;
};

}  // namespace fanline::reconciler
