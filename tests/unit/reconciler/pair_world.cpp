#include "tests/unit/reconciler/pair_world.h"

#include <algorithm>

#include "fanline/wire/edge_fold.h"
#include "reconciler/verdict.h"

namespace fanline::reconciler {
namespace {

// Two edges lie in each partition; two of them are of one followed user.
constexpr EdgeKey kEdge[] = {
    {UserId{1}, UserId{2}}, {UserId{1}, UserId{3}}, {UserId{2}, UserId{3}}, {UserId{3}, UserId{2}}};
constexpr size_t PartitionOf(size_t edge) { return edge % 2; }

// What a number drawn for an action means. Different faults of one action add different numbers.
bool Strikes(bool allowed, uint32_t fate) { return allowed && fate % 4 == 0; }
bool Twice(uint32_t fate) { return fate % 8 == 1; }
constexpr uint32_t kNoFate = 5;

template <class T>
T TakeOut(std::vector<T>& from, size_t index) {
  T taken = std::move(from[index]);
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
  return taken;
}

}  // namespace

PairWorld::PairWorld(const Faults& faults, const Limits& limits, const Guards& guards)
    : faults_(faults), limits_(limits), guards_(guards) {
  for (auto& reconciler : reconcilers_) {
    reconciler = MakeTracker();
  }
  for (size_t number = 0; number < kPartitions; ++number) {
    partitions_[number].owner = number % kReconcilers;
    Step(partitions_[number].owner, {PartitionAssigned{static_cast<int32_t>(number), 0, 0}});
  }
}

size_t PairWorld::NumberOf(const EdgeKey& edge) const {
  return static_cast<size_t>(std::find(std::begin(kEdge), std::end(kEdge), edge) - kEdge);
}

void PairWorld::Fail(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

// ---- rows -----------------------------------------------------------------------------------

void PairWorld::Write(uint32_t number) {
  const size_t edge = number % kEdges;
  EdgeState& row = forward_[edge];
  row = {row.ver + 1, !row.live, row.live ? row.pos : unix_ms_};
  last_op_[edge] = row;
  const Change change{edge, row, unix_ms_};
  to_relay_.push_back(change);
  to_apply_.push_back(change);
  ++counts_.writes;
}

// One transaction on the reverse shard.
void PairWorld::Commit(const std::vector<Change>& batch) {
  std::vector<Edge> messages, rows;
  for (const Change& change : batch) messages.push_back(EdgeOf(kEdge[change.edge], change.state));
  for (const EdgeKey& key : EdgesToLock(messages)) {
    EdgeState row = reverse_[NumberOf(key)];
    if (row.ver == 0) continue;
    if (!guards_.apply_by_version) row.ver = 0;
    rows.push_back(EdgeOf(key, row));
  }
  const Folded folded = Fold(messages, rows);
  for (const Edge& row : folded.rows) {
    EdgeState& reverse = reverse_[NumberOf(row.key())];
    if (row.ver < reverse.ver) Fail("I4: a reverse row went back to an older version");
    reverse = row.state();
  }
  for (const auto& counter : folded.counters) {
    int64_t& count = fans_[Raw(counter.user)];
    count += counter.by;
    if (count < 0) Fail("I2: a counter is negative");
  }
}

void PairWorld::Hint(size_t edge) { hinted_[edge] = reverse_[edge].ver; }

void PairWorld::Apply(uint32_t which, uint32_t fate) {
  std::vector<Change> batch;
  for (uint32_t more = 1 + fate / 8 % 3; more > 0 && !to_apply_.empty(); --more) {
    const size_t index = which % to_apply_.size();
    batch.push_back(Twice(fate) ? to_apply_[index] : TakeOut(to_apply_, index));
  }
  if (batch.empty()) return;
  if (Strikes(faults_.lose_applies && !resting_, fate)) {
    counts_.lost_applies += batch.size();
    return;
  }
  Commit(batch);
  if (Strikes(faults_.lose_hints && !resting_, fate + 2)) {
    counts_.lost_hints += batch.size();
    return;
  }
  for (const Change& change : batch) {
    Hint(change.edge);
    to_answer_.push_back({change.edge, reverse_[change.edge].ver, change.written_at});
  }
}

// ---- the log --------------------------------------------------------------------------------

void PairWorld::Append(PairRecord::Kind kind, size_t edge, const EdgeState& state) {
  const size_t number = PartitionOf(edge);
  auto& log = partitions_[number].log;
  log.push_back({kind, static_cast<int32_t>(number), static_cast<int64_t>(log.size()), unix_ms_,
                 kEdge[edge], state.ver, state.live, state.pos});
}

void PairWorld::Relay(uint32_t which, uint32_t fate) {
  if (to_relay_.empty()) return;
  const size_t index = which % to_relay_.size();
  const Change change = Twice(fate) ? to_relay_[index] : TakeOut(to_relay_, index);
  Append(PairRecord::Kind::kWritten, change.edge, change.state);
}

void PairWorld::Answer(uint32_t which, uint32_t fate) {
  if (to_answer_.empty()) return;
  const size_t index = which % to_answer_.size();
  const Mirrored msg2 = Twice(fate) ? to_answer_[index] : TakeOut(to_answer_, index);
  if (Strikes(faults_.lose_msg2s && !resting_, fate)) {
    ++counts_.lost_msg2s;
    return;
  }
  Append(PairRecord::Kind::kMirrored, msg2.edge, {msg2.ver, false, 0});
  answered_[msg2.edge] = std::max(answered_[msg2.edge], msg2.ver);
}

// I11: for each msg1 below a committed offset an answer or a later msg1 stands.
void PairWorld::Commit(size_t number, int64_t offset) {
  Partition& partition = partitions_[number];
  const auto& log = partition.log;
  for (; partition.committed < offset; ++partition.committed) {
    const PairRecord& passed = log[static_cast<size_t>(partition.committed)];
    if (passed.kind != PairRecord::Kind::kWritten) continue;
    const auto stands_for_it = [&](const PairRecord& later) {
      return later.kind == passed.kind && later.edge == passed.edge && later.ver >= passed.ver;
    };
    if (answered_[NumberOf(passed.edge)] >= passed.ver) continue;
    if (std::none_of(log.begin() + offset, log.end(), stands_for_it)) {
      Fail("I11: committed " + std::to_string(offset) + " beyond the msg1 pending at " +
           std::to_string(passed.offset));
    }
  }
  partition.committed = offset;
}

// ---- reconcilers ----------------------------------------------------------------------------

void PairWorld::Step(size_t reconciler, std::vector<PairInput> inputs) {
  const PairProgress progress = reconcilers_[reconciler]->Step(inputs, now());
  const auto part = [&](int32_t number) -> Partition& {
    return partitions_[static_cast<size_t>(number)];
  };
  for (const auto& seek : progress.orders.seek) part(seek.partition).position = seek.offset;
  for (int32_t number : progress.orders.pause) part(number).paused = true;
  for (int32_t number : progress.orders.resume) part(number).paused = false;
  for (const auto& commit : progress.orders.commit) {
    Commit(static_cast<size_t>(commit.partition), commit.offset);
  }
  watermarks_.insert(watermarks_.end(), progress.watermarks.begin(), progress.watermarks.end());
  for (const Check& check : progress.checks) checks_.push_back({reconciler, check, {}});
  for (const Retry& retry : progress.retries) retries_.push_back({reconciler, retry});
  counts_.checks += progress.checks.size();
}

void PairWorld::Consume(uint32_t number, uint32_t records) {
  Partition& partition = partitions_[number % kPartitions];
  std::vector<PairInput> inputs;
  const auto end = static_cast<int64_t>(partition.log.size());
  while (!partition.paused && partition.position < end && inputs.size() < records) {
    inputs.emplace_back(partition.log[static_cast<size_t>(partition.position++)]);
  }
  Step(partition.owner, std::move(inputs));
}

void PairWorld::TellWatermark(uint32_t which, uint32_t fate) {
  if (watermarks_.empty()) return;
  const WatermarkWanted wanted = TakeOut(watermarks_, which % watermarks_.size());
  if (fate % 4 == 0 && !resting_) return;  // could not be read, and nobody said so
  const Partition& partition = partitions_[static_cast<size_t>(wanted.partition)];
  Step(partition.owner, {HighWatermark{wanted.partition, wanted.asked_at,
                                       static_cast<int64_t>(partition.log.size())}});
}

void PairWorld::Restart(uint32_t which) {
  if (!faults_.restart) return;
  const size_t reconciler = which % kReconcilers;
  reconcilers_[reconciler] = MakeTracker();
  std::erase_if(checks_, [&](const auto& open) { return open.reconciler == reconciler; });
  std::erase_if(retries_, [&](const auto& open) { return open.reconciler == reconciler; });
  for (size_t number = 0; number < kPartitions; ++number) {
    Partition& partition = partitions_[number];
    if (partition.owner != reconciler) continue;
    partition.paused = false;
    Step(reconciler, {PartitionAssigned{static_cast<int32_t>(number), partition.committed, 0}});
  }
  ++counts_.restarts;
}

void PairWorld::Move(uint32_t which) {
  if (!faults_.restart) return;
  const auto number = static_cast<int32_t>(which % kPartitions);
  Partition& partition = partitions_[which % kPartitions];
  Step(partition.owner, {PartitionRevoked{number}});
  partition.owner = (partition.owner + 1) % kReconcilers;
  partition.paused = false;
  Step(partition.owner, {PartitionAssigned{number, partition.committed, 0}});
  ++counts_.moves;
}

void PairWorld::Lag(uint32_t milliseconds) {
  if (!faults_.lag) return;
  for (size_t reconciler = 0; reconciler < kReconcilers; ++reconciler) {
    Step(reconciler, {MirrorLag{std::chrono::milliseconds(milliseconds)}});
  }
}

// ---- checks and retries ---------------------------------------------------------------------

// Carries out the verdict on the two rows; returns whether it resolves the pair.
bool PairWorld::Judged(const EdgeKey& key, const EdgeClaim& claim, const EdgeState& reverse,
                       const EdgeState& forward, uint32_t attempt, bool fail) {
  const size_t edge = NumberOf(key);
  EdgeState compared = reverse;
  if (!guards_.judge_versions && compared.live == forward.live) compared = forward;
  const Verdict verdict = Judge(compared, forward, claim);
  if (verdict.action == Verdict::Action::kBump || verdict.action == Verdict::Action::kReport) {
    Fail("a check takes a sound forward row for one that lost a change");
    return false;
  }
  if (verdict.guarded && attempt < 2) return false;
  if (verdict.action == Verdict::Action::kApply) {
    ++counts_.repairs;
    Commit({{edge, verdict.state, unix_ms_}});
  } else {
    ++counts_.false_alarms;
  }
  if (fail) {
    ++counts_.lost_hints;
    return false;
  }
  Hint(edge);
  if (verdict.action == Verdict::Action::kApply) {
    to_answer_.push_back({edge, reverse_[edge].ver, unix_ms_});
  }
  return true;
}

// Reads one row; the next call reads the other and acts on both.
void PairWorld::RunCheck(uint32_t which, uint32_t fate) {
  if (checks_.empty()) return;
  const size_t index = which % checks_.size();
  OpenCheck& open = checks_[index];
  const size_t edge = NumberOf(open.check.edge);
  if (!open.first_read) {
    open.first_read = guards_.read_reverse_first ? reverse_[edge] : forward_[edge];
    if (!resting_) return;
  }
  const OpenCheck done = TakeOut(checks_, index);
  EdgeState reverse = *done.first_read, forward = forward_[edge];
  if (!guards_.read_reverse_first) reverse = reverse_[edge], forward = *done.first_read;
  const bool away = Strikes(faults_.fail_checks && !resting_, fate);
  const bool dies = Strikes(faults_.lose_hints && !resting_, fate + 1);
  const Check& check = done.check;
  const bool resolved =
      !away && Judged(check.edge, check.claim, reverse, forward, check.attempt, dies);
  if (resolved) answered_[edge] = std::max(answered_[edge], check.claim.state.ver);
  Step(done.reconciler, {Checked{check.partition, check.id, check.edge, resolved}});
}

void PairWorld::RunRetry(uint32_t which, uint32_t fate) {
  if (retries_.empty()) return;
  const OpenRetry open = TakeOut(retries_, which % retries_.size());
  const Retry& retry = open.retry;
  const bool away = Strikes(faults_.fail_retries && !resting_, fate);
  // A retry that timed out may have been written all the same.
  const bool timed_out = Strikes(faults_.fail_retries && !resting_, fate + 1);
  if (!away) {
    const size_t edge = NumberOf(retry.edge);
    stuck_.push_back({retry.edge, retry.claim});
    answered_[edge] = std::max(answered_[edge], retry.claim.state.ver);
  }
  Step(open.reconciler,
       {RetryAppended{retry.partition, retry.id, retry.edge, !away && !timed_out}});
}

void PairWorld::ConsumeRetry(uint32_t which, uint32_t fate) {
  if (stuck_.empty() || Strikes(faults_.fail_checks && !resting_, fate)) return;
  const size_t index = which % stuck_.size();
  StuckPair& stuck = stuck_[index];
  const size_t edge = NumberOf(stuck.edge);
  const bool dies = Strikes(faults_.lose_hints && !resting_, fate + 1);
  if (Judged(stuck.edge, stuck.claim, reverse_[edge], forward_[edge], ++stuck.attempts, dies)) {
    TakeOut(stuck_, index);
  }
}

// ---- time -----------------------------------------------------------------------------------

void PairWorld::Pass(uint32_t milliseconds) {
  if (!faults_.late) MeetDeadlines(unix_ms_ + milliseconds);
  mono_ += std::chrono::milliseconds(milliseconds);
  unix_ms_ += milliseconds;
  for (size_t reconciler = 0; reconciler < kReconcilers; ++reconciler) Step(reconciler, {});
}

// A mirror that keeps up: msg2 is in the log before the grace of msg1 is over.
void PairWorld::MeetDeadlines(UnixMs until) {
  const UnixMs grace = std::chrono::duration_cast<std::chrono::milliseconds>(limits_.grace).count();
  const auto run_due = [&](const auto& waiting, auto run) {
    for (size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].written_at + grace <= until) run(static_cast<uint32_t>(i));
    }
  };
  run_due(to_relay_, [&](uint32_t i) { Relay(i, kNoFate); });
  run_due(to_apply_, [&](uint32_t i) { Apply(i, kNoFate); });
  run_due(to_answer_, [&](uint32_t i) { Answer(i, kNoFate); });
}

// ---- at rest --------------------------------------------------------------------------------

void PairWorld::Rest() {
  resting_ = true;
  Lag(0);
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds && wrong_.empty(); ++round) {
    while (!to_relay_.empty()) Relay(0, kNoFate);
    while (!to_apply_.empty()) Apply(0, kNoFate);
    while (!to_answer_.empty()) Answer(0, kNoFate);
    for (uint32_t number = 0; number < kPartitions; ++number) Consume(number, 1'000);
    while (!watermarks_.empty()) TellWatermark(0, kNoFate);
    while (!checks_.empty()) RunCheck(0, kNoFate);
    while (!retries_.empty()) RunRetry(0, kNoFate);
    for (size_t left = stuck_.size(); left > 0; --left) {
      ConsumeRetry(static_cast<uint32_t>(left - 1), kNoFate);
    }
    if (AtRest()) {
      CheckAtRest();
      resting_ = false;
      return;
    }
    Pass(3'000);
  }
  Fail("does not come to rest");
}

bool PairWorld::AtRest() const {
  for (const Partition& partition : partitions_) {
    if (partition.committed != static_cast<int64_t>(partition.log.size())) return false;
  }
  for (const auto& reconciler : reconcilers_) {
    if (reconciler->pending() != 0) return false;
  }
  return to_answer_.empty() && checks_.empty() && retries_.empty() && stuck_.empty();
}

void PairWorld::CheckAtRest() {
  std::array<int64_t, kEdges + 2> fans{};
  for (size_t edge = 0; edge < kEdges; ++edge) {
    const std::string name = ToString(kEdge[edge].src) + ":" + ToString(kEdge[edge].dst);
    if (forward_[edge] != last_op_[edge]) Fail("I3: the forward row of " + name + " changed");
    if (reverse_[edge] != forward_[edge]) {
      Fail("I1: the rows of " + name + " differ: forward version " +
           std::to_string(forward_[edge].ver) + ", reverse " + std::to_string(reverse_[edge].ver));
    }
    if (hinted_[edge] != forward_[edge].ver) Fail("no hint about the last change of " + name);
    fans[Raw(kEdge[edge].dst)] += reverse_[edge].live ? 1 : 0;
  }
  if (fans != fans_) Fail("I2: a counter is not the number of its rows");
  if (!faults_.healthy()) return;
  const uint64_t retries = counts_.retries[0] + counts_.retries[1];
  if (counts_.checks + retries > 0) {
    Fail("I9: a healthy run made " + std::to_string(counts_.checks) + " checks and " +
         std::to_string(retries) + " retries");
  }
}

}  // namespace fanline::reconciler
