// Repairs counters. Once a second it asks every shard for counters that are marked as wrong, and
// has them repaired, one of a shard at a time. A counter that could not be repaired stays marked.
// Its shard is polled again after `after_failure`: a count that takes too long must not become
// many. Several reconcilers may find the same counter; it is repaired once
// (backends/mysql/repairs/counter_repair.h).
//
// No write marks a counter that drifted upwards, and a user whose counter wrongly says 5,000 may
// never follow again. So between the polls a sweep compares all counters with their rows, at a
// bounded number of users per second and shard, and marks those that differ. A page takes long if
// its users have many rows; the sweep then rests for as long. In mode pause nothing is swept.
//
// In the modes dry_run and pause it only reports how many counters wait. It still polls: its
// daemon notices by this that a shard is away.
//
// It also keeps table repair_log bounded, in every mode: it deletes rows that are old enough, so
// many at a time, and again while there are more.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/ports/counter_store.h"
#include "fanline/ports/port.h"
#include "fanline/ports/repair_store.h"
#include "reconciler/metrics.h"
#include "reconciler/repair_gate.h"

namespace fanline::reconciler {

using CounterInput = std::variant<MarkedRead, CounterRepaired, CountersSwept, RepairsPurged>;

struct CounterLimits {
  Duration poll_every = std::chrono::seconds(1);
  uint32_t per_poll = 100;                            // counters, per shard
  Duration after_failure = std::chrono::seconds(30);  // to the next request to that shard
  Duration sweep_every = std::chrono::hours(24);      // from one beginning to the next
  uint32_t swept_per_second = 500;                    // users, per shard and process
  Duration ask_whether_due = std::chrono::minutes(1);
  Duration keep_repairs = std::chrono::hours(24 * 30);  // rows of repair_log
  Duration purge_every = std::chrono::hours(1);         // and once at the start
  uint32_t rows_per_purge = 10'000;
};

class CounterReconciler {
 public:
  using Store = Port<ReadMarked, RepairCounter, SweepCounters, PurgeRepairs>;

  // `metrics` and `gate` outlive this.
  CounterReconciler(const Store& store, Metrics& metrics, const RepairGate& gate, Shard shards,
                    const CounterLimits& limits = {});

  // Returns when to step again, even without input.
  [[nodiscard]] Progress Step(std::span<CounterInput> inputs, Now now);

  // From now on nothing more is asked; keep stepping until drained().
  void StopTaking() { taking_ = false; }
  bool drained() const { return asked_.empty(); }

 private:
  struct ShardState {
    bool asking = false;
    std::deque<UserCounter> waiting;
    Time next_poll_at{}, sweep_at{}, purge_at{};
    Time swept_from{};  // when its page was asked for
  };

  void On(const MarkedRead& read, Now now);
  void On(const CounterRepaired& repaired, Now now);
  void On(const CountersSwept& swept, Now now);
  void On(const RepairsPurged& purged, Now now);
  void Poll(Shard shard, Now now);
  void RepairNext(Shard shard);
  void Sweep(Shard shard, Now now);
  void Purge(Shard shard);
  uint64_t Ask(Shard shard);
  Shard Answered(uint64_t id);

  const Store store_;
  Metrics& metrics_;
  const RepairGate& gate_;
  const CounterLimits limits_;
  bool taking_ = true;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Shard> asked_;  // by request
  std::vector<ShardState> shards_;             // by shard
};

}  // namespace fanline::reconciler
