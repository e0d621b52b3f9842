// The log scan's look at log1: each change is compared with its rows once more, minutes after it
// was written. Finds what relation-log never said or has lost: a row that was marked by hand, a log
// that was cut; and friendships that one of their two edges lost.
//
//   page of rows behind the shard's place, old enough
//     an edge's row that is done:       compared (edge_comparer.h)
//     a friendship's row that is done:  both edges have its version, or it is logged again
//     a row that is pending:            the mirror's, passed
//   -> all of the page is finished -> the place moves behind it -> the next page
//
// A friendship that is logged again goes the way of every friendship's change (change_log.h), and
// its new row is looked at in turn. It is logged again, too, if an edge's shard is away and nobody
// knows.
//
// A shard is scanned by whoever holds its partition of relation-log in the group of the later look
// (later_reconciler.h). Shards are spread over all partitions, because a member of the group holds
// those that stand side by side. Two who scan one shard only repeat each other's work. After a
// crash the page is read again. In mode pause no page is read; in dry_run a friendship is
// only reported.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "fanline/ports/log_scan.h"
#include "reconciler/edge_comparer.h"

namespace fanline::reconciler {

struct LogScanLimits {
  Duration after = std::chrono::minutes(10);  // how old a row is when it is looked at
  uint32_t rows = 1'000;                      // of a page
  Duration poll_every = std::chrono::seconds(10);
  Backoff again{};  // a shard that is away
};

using LogScanInput = std::variant<ComparerReply, LoggedRead, LogScanMoved, FriendVersionsRead,
                                  LoggedAgain, RepairLogged>;

class LogScanner {
 public:
  struct Ports {
    EdgeComparer::Ports comparer;
    Port<ReadLogged, MoveLogScan, ReadFriendVersions, LogAgain> log;
    Port<LogRepair> repairs;
    Metrics& metrics;
  };

  // `partitions`: of relation-log. `gate` outlives this.
  LogScanner(const Ports& ports, const Checker::Setup& setup, uint32_t partitions,
             const EdgeComparer::Limits& comparing, const LogScanLimits& limits, RepairGate& gate);

  [[nodiscard]] Progress Step(std::span<LogScanInput> inputs, Now now);

  // The partitions that are ours. Of a shard that is no longer ours, the page under way is
  // finished.
  void Own(const std::vector<int32_t>& partitions);

  // From now on no page is begun; keep stepping until drained().
  void StopTaking();
  bool drained() const { return under_way_ == 0 && comparer_.idle(); }

 private:
  struct ShardState {
    bool ours = false;
    bool busy = false;  // a page is under way
    LoggedRead page;
    size_t open = 0;              // of the page: edges and friendships
    bool failed = false;          // one of these could not be finished: the page is read again
    std::optional<UnixMs> up_to;  // what was written up to then was scanned
    uint32_t attempts = 0;
    Time next_at{};
  };
  // A friendship's change of a page: which of its edges have it.
  struct Friends {
    Shard shard = 0;  // of the page
    LoggedChange change;
    size_t awaited = 0;                  // answers
    bool lacking = false, known = true;  // an edge lacks it; all edges could be read
  };

  void On(const ComparerReply& reply, Now now) { comparer_.On(reply, now); }
  void On(const LoggedRead& read, Now now);
  void On(const LogScanMoved& moved, Now now);
  void On(const FriendVersionsRead& read, Now now);
  void On(const LoggedAgain& logged, Now now);
  void On(const RepairLogged& logged, Now now);

  void Begin(Shard shard, Now now);
  void CompareFriends(Shard shard, const std::vector<LoggedChange>& changes);
  void Judge(uint64_t id, Now now);
  void LogAgainFor(uint64_t id);
  void Finish(uint64_t friends, bool done, Now now);
  void FinishOne(Shard shard, bool done, Now now);
  void Fail(Shard shard, Now now);
  void Report(Now now);
  uint64_t Asked() {
    ++under_way_;
    return ++ids_;
  }

  const Ports ports_;
  const EdgeShards shards_;
  const uint32_t partitions_;
  const LogScanLimits limits_;
  RepairGate& gate_;
  EdgeComparer comparer_;
  std::mt19937_64 random_;
  bool taking_ = true;
  size_t under_way_ = 0;
  uint64_t ids_ = 0;  // of tickets and requests
  std::vector<ShardState> states_;
  std::unordered_map<uint64_t, Shard> pages_, moves_, tickets_;
  std::unordered_map<uint64_t, Friends> friends_;
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>> asked_;  // friends, ver
  std::unordered_map<uint64_t, uint64_t> recording_, logging_;  // request -> friends
};

}  // namespace fanline::reconciler
