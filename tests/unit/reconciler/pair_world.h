// A simulated environment of the pair tracker: the rows of both directions, the relay that writes
// msg1, the mirror that applies changes and writes msg2, the log, two reconcilers that share its
// partitions, the checks that they order, and the retries. Only the pair tracker, the mirror's Fold
// and Judge are real.
//
// Each member function is one possible event. Numbers are taken modulo what exists, and a function
// without anything to act on does nothing, so any sequence of calls is a run. The world checks its
// invariants all the time: wrong() is empty, or says which one is violated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fanline/model/edge.h"
#include "reconciler/pair_tracker.h"

namespace fanline::reconciler {

// The guards of the design. With any of them off, some run must go wrong.
struct Guards {
  MutationSwitches logic;
  bool judge_versions = true;      // off: rows are equal when their states are
  bool apply_by_version = true;    // off: the last change to come is written
  bool read_reverse_first = true;  // off: a check reads the forward row first
};

// The faults of a run. A run without any is healthy.
struct Faults {
  bool lose_applies = false;  // the mirror forgets a change
  bool lose_hints = false;    // the mirror or a check dies between commit and hint
  bool lose_msg2s = false;
  bool fail_checks = false;   // a shard is away
  bool fail_retries = false;  // the retries are away
  bool restart = false;       // reconcilers die and partitions move
  bool lag = false;           // the mirror is reported to lag
  bool late = false;          // msg2s may come after the grace

  bool healthy() const {
    return !(lose_applies || lose_hints || lose_msg2s || fail_checks || fail_retries || restart ||
             lag || late);
  }
};

class PairWorld {
 public:
  struct Counts {
    uint64_t writes = 0, lost_applies = 0, lost_hints = 0, lost_msg2s = 0, restarts = 0, moves = 0;
    uint64_t checks = 0, false_alarms = 0, repairs = 0, early = 0;
    std::array<uint64_t, 2> retries{};  // by RetryCause
  };

  PairWorld(const Faults& faults, const Limits& limits, const Guards& guards);

  void Write(uint32_t edge);                   // follow or unfollow
  void Relay(uint32_t which, uint32_t fate);   // msg1 goes into the log
  void Apply(uint32_t which, uint32_t fate);   // up to three changes, by the mirror
  void Answer(uint32_t which, uint32_t fate);  // msg2 goes into the log
  void Pass(uint32_t milliseconds);            // time
  void Consume(uint32_t partition, uint32_t records);
  void TellWatermark(uint32_t which, uint32_t fate);
  void RunCheck(uint32_t which, uint32_t fate);
  void RunRetry(uint32_t which, uint32_t fate);
  void ConsumeRetry(uint32_t which, uint32_t fate);
  void Restart(uint32_t reconciler);
  void Move(uint32_t partition);
  void Lag(uint32_t milliseconds);

  // Lets everything come to rest without faults, and checks what must hold at rest.
  void Rest();

  const std::string& wrong() const { return wrong_; }
  const Counts& counts() const { return counts_; }

 private:
  static constexpr size_t kEdges = 4, kPartitions = 2, kReconcilers = 2;

  struct Change {  // a forward row when it was committed
    size_t edge = 0;
    EdgeState state;
    UnixMs written_at = 0;
  };
  struct Mirrored {  // a msg2 under way
    size_t edge = 0;
    uint64_t ver = 0;
    UnixMs written_at = 0;
  };
  struct Partition {
    std::vector<PairRecord> log;
    int64_t committed = 0;
    int64_t position = 0;
    size_t owner = 0;
    bool paused = false;
  };
  struct OpenCheck {
    size_t reconciler = 0;
    Check check;
    std::optional<EdgeState> first_read;
  };
  struct OpenRetry {
    size_t reconciler = 0;
    Retry retry;
  };
  struct StuckPair {  // a record in the log of retries
    EdgeKey edge;
    EdgeClaim claim;
    uint32_t attempts = 0;
  };
  struct Counting : Metrics {
    explicit Counting(Counts& all) : counts(all) {}
    void Early() override { ++counts.early; }
    void SentToRetry(RetryCause cause) override { ++counts.retries[static_cast<size_t>(cause)]; }
    Counts& counts;
  };

  std::unique_ptr<PairTracker> MakeTracker() {
    return std::make_unique<PairTracker>(limits_, metrics_, EdgeShards{}, guards_.logic);
  }
  Now now() const { return {mono_, unix_ms_}; }
  size_t NumberOf(const EdgeKey& edge) const;
  void Fail(const std::string& what);
  void Step(size_t reconciler, std::vector<PairInput> inputs);
  void Commit(size_t partition, int64_t offset);
  void Append(PairRecord::Kind kind, size_t edge, const EdgeState& state);
  void Commit(const std::vector<Change>& batch);
  void Hint(size_t edge);
  bool Judged(const EdgeKey& edge, const EdgeClaim& claim, const EdgeState& reverse,
              const EdgeState& forward, uint32_t attempt, bool fail);
  void RunChange(const Change& change);
  void MeetDeadlines(UnixMs until);
  bool AtRest() const;
  void CheckAtRest();

  const Faults faults_;
  const Limits limits_;
  const Guards guards_;
  Counts counts_;
  Counting metrics_{counts_};
  std::string wrong_;
  bool resting_ = false;

  Time mono_{std::chrono::hours(1)};
  UnixMs unix_ms_ = 1'700'000'000'000;

  std::array<EdgeState, kEdges> forward_, reverse_, last_op_;
  std::array<uint64_t, kEdges> hinted_{};    // the reverse row's version at the last hint
  std::array<uint64_t, kEdges> answered_{};  // the version that a msg2, a check or a retry accounts
                                             // for
  std::array<int64_t, kEdges + 2> fans_{};
  std::vector<Change> to_relay_, to_apply_;
  std::vector<Mirrored> to_answer_;
  std::vector<WatermarkWanted> watermarks_;
  std::vector<OpenCheck> checks_;
  std::vector<OpenRetry> retries_;
  std::vector<StuckPair> stuck_;
  std::array<Partition, kPartitions> partitions_;
  std::array<std::unique_ptr<PairTracker>, kReconcilers> reconcilers_;
};

}  // namespace fanline::reconciler
