// The full scan: compares every row of both tables of edges with the row of the other table, for
// ever, at a bounded rate. Finds what no message and no row of log1 tells of: rows that were
// changed by hand, restored from a backup, or lost long ago.
//
//   place of the table -> page of rows behind it, with their digests, perhaps from a replica
//   -> digests of the same edges by the other table's servers, kDigestEdges at a time
//     equal:  nothing more is done
//     differ: all edges of the digest are looked at on primaries, past a grace (edge_comparer.h)
//   -> few of the page differ: the retries get them, as from every net, to check and repair
//      many do: the place says why it has stopped, and an operator must see to it
//   -> all of the page is finished -> the place moves behind it
//
// Rows of which only one table has one are seen from that table's side, so both are scanned. Each
// shard of each table has a place of its own (fanline/ports/full_scan.h). A table is scanned by
// whoever holds its partition of relation-log (Own). Tables are spread over all partitions, because
// a member of the group holds those that stand side by side. Two who scan one table only repeat
// each other's work: the place is moved by compare-and-set. After a crash a page is read again.
//
// "Many" is more than a tenth, and more than 100 rows, of those that one shard of the other table
// must have, or of the page. If a page has few rows of a shard, those of pages before count, too.
// So a shard that was wiped, restored or rolled back stops the scan before it is filled from its
// counterpart, however many shards there are.
//
// A page is followed by a rest: as long as its rows may take at the given rate, and as long as its
// reads took. So a server that is slow is asked less. A replica that lags gets no page until it has
// caught up; its lag is seen by whether it has the table's place. In mode pause, and while an
// application's mirror is behind, no page is read. A shard that is away holds up every table.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "fanline/consuming/answered.h"
#include "fanline/consuming/consumer.h"
#include "fanline/ports/full_scan.h"
#include "reconciler/edge_comparer.h"

namespace fanline::reconciler {

struct FullScanLimits {
  uint32_t rows_per_second = 2'000;         // of each table and shard; 0: nothing is scanned
  uint32_t rows = 5'000;                    // of a page
  uint64_t differing = 100;                 // more rows that differ, and more than a tenth, stop it
  Duration every = std::chrono::hours(24);  // from one pass's beginning to the next
  Duration poll_every = std::chrono::seconds(10);  // while nothing is due, or it has stopped
  Duration lag_every = std::chrono::seconds(1);    // while a replica lags
  Backoff again{.first = std::chrono::seconds(1), .most = std::chrono::minutes(1)};
};

using FullScanInput =
    std::variant<ComparerReply, FullScanRead, FullScanMoved, ScanPageRead, EdgesDigested>;

class FullScanner {
 public:
  struct Ports {
    EdgeComparer::Ports comparer;
    Port<ReadFullScan, MoveFullScan, ReadScanPage, DigestEdges> scan;
    Metrics& metrics;
  };

  // `partitions`: of relation-log. `gate` outlives this.
  FullScanner(const Ports& ports, const Checker::Setup& setup, uint32_t partitions,
              const EdgeComparer::Limits& comparing, const FullScanLimits& limits,
              RepairGate& gate);

  [[nodiscard]] Progress Step(std::span<FullScanInput> inputs, Now now);

  // The partitions that are ours. Of a table that is no longer ours, the page under way is
  // finished.
  void Own(const std::vector<int32_t>& partitions);

  // From now on no page is begun; keep stepping until drained().
  void StopTaking();
  bool drained() const { return under_way_ == 0 && comparer_.idle(); }

 private:
  // Of the rows compared last: all, and how many of them differed.
  struct Seen {
    uint64_t rows = 0, differing = 0;
  };
  struct Table {
    EdgeTableId id;
    bool ours = false;
    bool busy = false;  // a page is under way
    FullScanPlace place;
    UnixMs now = 0;  // the server's, when the place was read
    Time read_at{};
    std::optional<Time> ours_since;
    uint64_t total = 0;  // rows, as the server guesses
    ScanPageRead page;
    Time asked_at{};
    Duration took{};                // by the page's reads
    size_t open = 0;                // of the page: digests, then edges
    bool failed = false;            // one of these is not known: the page is read again
    std::string never;              // why one of them can never be known
    std::vector<EdgeKey> suspects;  // of digests that differ; then edges that differ
    std::vector<Seen> seen;         // by shard of the other table; the last: of all
    std::optional<Time> lags_since;
    Duration lag{};  // of its replica
    uint32_t attempts = 0;
    Time next_at{};
  };
  struct Expected {
    Table* table = nullptr;
    std::vector<EdgeKey> edges;
    std::vector<uint64_t> digests;  // of each kDigestEdges of them
  };

  void On(const ComparerReply& reply, Now now) { comparer_.On(reply, now); }
  void On(const FullScanRead& read, Now now);
  void On(const ScanPageRead& read, Now now);
  void On(const EdgesDigested& digested, Now now);
  void On(const FullScanMoved& moved, Now now);

  void Begin(Table& table, Now now);
  void AskDigests(Table& table);
  void Look(Table& table, Now now);
  bool TakeResults(Now now);
  void Judge(Table& table, Now now);
  std::string CountSeen(Table& table);
  void Advance(Table& table);
  void Stop(Table& table, const std::string& why);
  void Move(Table& table, const FullScanPlace& to);
  void Fail(Table& table, const Status& status, Now now);
  void Again(Table& table, Now now);
  void Rest(Table& table, Time until);
  void Report(Now now);

  Shard OtherOf(const Table& table, const EdgeKey& edge) const {
    return table.id.reverse ? shards_.forward.ShardOf(edge.src) : shards_.reverse.ShardOf(edge.dst);
  }
  template <class Map, class What>
  uint64_t Asked(Map& map, What what) {
    ++under_way_;
    map.emplace(++ids_, std::move(what));
    return ids_;
  }
  template <class Map>
  auto Answered(Map& map, uint64_t id) {
    --under_way_;
    return TakeAnswered(map, id);
  }

  const Ports ports_;
  const EdgeShards shards_;
  const uint32_t partitions_;
  const FullScanLimits limits_;
  RepairGate& gate_;
  EdgeComparer comparer_;
  std::mt19937_64 random_;
  bool taking_ = true;
  size_t under_way_ = 0;       // requests of its own
  uint64_t ids_ = 0;           // of requests and tickets
  std::vector<Table> tables_;  // stays as it was made: others point into it
  std::unordered_map<uint64_t, Table*> places_, pages_;                   // by request
  std::unordered_map<uint64_t, Expected> digests_;                        // the same
  std::unordered_map<uint64_t, std::pair<Table*, FullScanPlace>> moves_;  // the same
  std::unordered_map<uint64_t, std::pair<Table*, EdgeKey>> looks_;        // by ticket
  std::unordered_map<uint64_t, Table*> given_;                            // the same
};

}  // namespace fanline::reconciler
