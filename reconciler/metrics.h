// What a reconciler reports about itself, one method per event, so that the logic needs no metric
// library. The default does nothing and serves the tests.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/model/net.h"
#include "reconciler/reposts/repost_metrics.h"
#include "reconciler/verdict.h"

namespace fanline::reconciler {

// What the log scan looks at.
enum class Scan { kRelationLog, kLog1 };
inline constexpr const char* kScans[] = {"relation-log", "log1"};

// How the full scans of this reconciler stand.
struct FullScanReport {
  Duration unpassed{};     // since every table was last passed
  double done = 1;         // part of the rows, of the passes under way and the last ones
  Duration left{};         // until the slowest pass is at its end
  uint64_t stopped = 0;    // tables that wait for an operator
  Duration replica_lag{};  // how long a replica has lacked what was written
};

// Why a pair, or an edge that a scan could not read, went to the retries.
enum class RetryCause { kChecksFailed, kTooMany };

class Metrics : public RepostMetrics {
 public:
  // What became of a msg1. A msg2 came after it, or before it; or the msg1 was seen already; or a
  // newer one came before it was answered.
  virtual void Matched(Duration /*from_msg1_to_msg2*/) {}
  virtual void Early() {}
  virtual void Duplicate() {}
  virtual void Coalesced() {}
  // The grace of a msg1 is over and its edge is being checked. Once per msg1.
  virtual void TimedOut() {}
  // A check found the row of log1 pending: the mirror has not come to it.
  virtual void LeftToMirror() {}
  // The grace of a msg2 without its msg1 is over. The msg1 is lost, or lies below where reading
  // began, or somebody else wrote the reverse row.
  virtual void EarlyExpired() {}
  virtual void SentToRetry(RetryCause) {}
  // A record that this reconciler does not know.
  virtual void Undecodable(const std::string& /*why*/) {}

  // A scan found the rows of an edge different, twice, and gave it to the retries.
  virtual void Differs(const EdgeKey&, Finding) {}
  // A check compared the two rows of an edge.
  virtual void Checked(Net, Finding) {}
  // The rows agree now, so long after the change was made that they lacked.
  virtual void Repaired(Net, const Verdict&, Duration /*age*/) {}
  // A friendship that one of its edges lacked was logged again, so long after its change.
  virtual void FriendshipRepaired(Duration /*age*/) {}
  // The log scan compares so many changes. How long ago the oldest was made that it has not come
  // to.
  virtual void Scanned(Scan, uint64_t /*changes*/) {}
  virtual void Unscanned(Scan, Duration) {}
  // The full scan has compared so many rows of `table`, "forward" or "reverse".
  virtual void FullScanned(const std::string& /*table*/, uint64_t /*rows*/) {}
  virtual void FullScanStopped(const std::string& /*table*/, Shard, const std::string& /*why*/) {}
  virtual void FullScan(const FullScanReport&) {}
  // A repair was not made: in a dry run, or because the breaker is open.
  virtual void WouldRepair(const EdgeKey&, const Verdict&) {}
  // No check can resolve this edge: an operator must see to it.
  virtual void Hopeless(const EdgeKey&, const std::string& /*why*/) {}
  // Removals of this shard of reverse rows are held back until an operator allows them again.
  virtual void BreakerOpen(Shard, bool /*open*/) {}
  // The throttle made checks wait for this long.
  virtual void Throttled(Duration) {}

  // Called about once a second. `commit_lag`: records between the committed offsets and those
  // consumed last, all partitions of this process together.
  virtual void Pending(uint64_t /*pairs*/, Duration /*oldest*/, uint64_t /*commit_lag*/) {}
  virtual void MirrorLagged(Duration) {}  // an application's own mirror
  // How many counters of a shard are marked as wrong, up to CounterLimits::per_poll.
  virtual void CountersMarked(Shard, uint64_t) {}
  // The sweep has looked at so many users, and marked so many counters that had drifted.
  virtual void CountersSwept(uint64_t /*users*/, uint64_t /*marked*/) {}
  // A counter was wrong by `drift`.
  virtual void CounterRepaired(int64_t /*drift*/) {}
  // What was unfollowed on a shard before then may be forgotten. Tombstones of one direction were
  // deleted.
  virtual void HorizonRaised(UnixMs) {}
  virtual void TombstonesCollected(bool /*reverse*/, uint64_t) {}
  // Entries of the retries that this reconciler holds until they are due.
  virtual void RetriesHeld(uint64_t) {}
};

}  // namespace fanline::reconciler
