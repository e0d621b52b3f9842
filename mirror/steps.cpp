#include "mirror/steps.h"

#include <algorithm>

#include "fanline/consuming/answered.h"

namespace fanline::mirror {
namespace {

// The dead letter's record. Only an edge has a message: a replay of another kind's letter must not
// become a change.
Record RecordOf(Shard shard, const LoggedChange& change) {
  const bool edge = change.kind == ChangeKind::kEdge;
  return {.topic = kRelationLogTopic,
          .partition = static_cast<int32_t>(shard),
          .offset = static_cast<int64_t>(change.id),
          .timestamp = change.written_at,
          .key = RelationLogKey(change.edge.key()),
          .value = edge ? EncodeRelationMessage(EdgeWritten{change.edge, change.id}) : "",
          .headers = {}};
}

// Of a damaged row.
std::string WhyAside(Shard shard, const LoggedChange& change) {
  return "row " + std::to_string(change.id) + " of log1 on shard " + std::to_string(shard) + ": " +
         *WhyDamaged(change);
}

}  // namespace

Steps::Steps(Ports ports, const Setup& setup, const Limits& limits, Window& window)
    : ports_(ports),
      setup_(setup),
      limits_(limits),
      window_(window),
      random_(setup.seed),
      reverse_(setup.shards.shards(), ShardQueue({limits.edges_per_transaction,
                                                  limits.transactions_in_flight, limits.backoff})),
      append_retries_(limits.backoff),
      letter_retries_(limits.backoff),
      doubts_(setup.shards.shards(), 0) {}

void Steps::Begin(const std::vector<Ref>& rows) {
  Append msg1s;
  for (const Ref& ref : rows) {
    const Job& job = *window_.Find(ref.job);
    WindowRow& row = *window_.Find(ref.job, ref.row);
    const bool edge = job.key.kind == ChangeKind::kEdge;
    if (job.key.damaged != 0) {
      SetAside(ref.job, row, WhyAside(job.forward, row.change));
      continue;
    }
    if (edge) msg1s.refs.push_back(ref);
    if (!setup_.switches.mark_last) {
      row.step = RowStep::kMarking;
      Mark(ref.job);
    } else if (!edge || !setup_.switches.msg1_first) {
      row.step = RowStep::kAnnounced;
      Queue(ref.job);
    }
  }
  if (!msg1s.refs.empty()) SendAppend(std::move(msg1s));
}

void Steps::Again(uint64_t id, Now now) {
  Job* job = window_.Find(id);
  if (job == nullptr) return;
  const bool hinted = std::exchange(job->hinted, false) && job->Has(RowStep::kRunning);
  if (!hinted) return Push(id, *job);
  job->mirrored == 0 ? End(id) : SendMsg2s({{id}}, now);
}

void Steps::Forget() {
  const auto gone = [this](uint64_t id) { return window_.Find(id) == nullptr; };
  for (ShardQueue& queue : reverse_) queue.Forget(gone);
  for (auto& [pair, queue] : friends_) queue.Forget(gone);
}

ShardQueue& Steps::QueueOf(Shard forward, Shard reverse) {
  const ShardQueue::Limits limits{1, limits_.friendships_in_flight, limits_.backoff};
  return friends_.try_emplace({forward, reverse}, limits).first->second;
}

void Steps::Queue(uint64_t id) {
  Job* job = window_.Find(id);
  if (job == nullptr || job->queued || !job->Has(RowStep::kAnnounced)) return;
  job->queued = true;
  Push(id, *job);
}

void Steps::Push(uint64_t id, Job& job) {
  if (job.key.kind == ChangeKind::kMutes) {
    job.Move(RowStep::kAnnounced, RowStep::kRunning);
    if (taking_) SendAppend({What::kHints, {{id}}, 0});
  } else if (job.key.kind == ChangeKind::kFriendship) {
    QueueOf(job.forward, job.reverse).Push({id, Raw(job.key.edge.src)});
  } else {
    reverse_[job.reverse].Push({id, Raw(job.key.edge.dst)});
  }
}

void Steps::Send(Now now) {
  while (auto append = append_retries_.Take(now.mono)) {
    if (taking_) SendAppend(*std::move(append));
  }
  while (auto letter = letter_retries_.Take(now.mono)) {
    const bool known = window_.Find(letter->ref.job, letter->ref.row) != nullptr;
    if (taking_ && known) SendLetter(*std::move(letter));
  }
  if (!taking_) return;
  for (Shard shard = 0; shard < reverse_.size(); ++shard) SendTransactions(shard, now);
  for (auto& [pair, queue] : friends_) SendFriendships(queue, now);
}

std::optional<Time> Steps::timer() const {
  auto next = Earlier(append_retries_.timer(), letter_retries_.timer());
  for (const ShardQueue& queue : reverse_) next = Earlier(next, queue.timer());
  for (const auto& [pair, queue] : friends_) next = Earlier(next, queue.timer());
  return next;
}

// ---- writes ---------------------------------------------------------------------------------

bool Steps::IsOld(const WindowRow& row, Shard forward, Time now) const {
  const bool runs = row.step == RowStep::kAnnounced || row.step == RowStep::kRunning;
  const bool old = row.doubts != doubts_[forward] || row.read_at + limits_.fresh_for < now;
  return runs && old && setup_.switches.reread_old;
}

bool Steps::HasOld(const Job& job, Time now) const {
  return std::any_of(job.rows.begin(), job.rows.end(),
                     [&](const WindowRow& row) { return IsOld(row, job.forward, now); });
}

std::optional<Edge> Steps::Run(uint64_t id, Time now) {
  Job* job = window_.Find(id);
  if (job == nullptr) return std::nullopt;
  if (HasOld(*job, now)) {
    old_.push_back(id);
    return std::nullopt;
  }
  job->Move(RowStep::kAnnounced, RowStep::kRunning);
  std::optional<Edge> edge;
  for (const WindowRow& row : job->rows) {
    if (row.step != RowStep::kRunning) continue;
    const bool higher = edge && row.change.edge.ver > edge->ver;
    if (!edge || higher == setup_.switches.fold_highest) edge = row.change.edge;
  }
  if (!edge) job->queued = false;  // all its rows were done already
  return edge;
}

void Steps::SendTransactions(Shard reverse, Now now) {
  ShardQueue& queue = reverse_[reverse];
  while (auto batch = queue.Take(now.mono)) {
    ApplyEdges request{++ids_, reverse, {}};
    std::erase_if(batch->jobs, [&](const ShardQueue::Job& job) {
      const auto edge = Run(job.id, now.mono);
      if (edge) request.edges.push_back(*edge);
      return !edge;
    });
    if (batch->jobs.empty()) {
      queue.Drop(*batch);
      continue;
    }
    transactions_.emplace(request.id, Transaction{reverse, *std::move(batch)});
    ports_.reverse.Submit(std::move(request));
  }
}

void Steps::On(const EdgesApplied& applied, Now now) {
  Transaction transaction = TakeAnswered(transactions_, applied.id);
  ShardQueue& queue = reverse_[transaction.reverse];
  ShardQueue::Batch& batch = transaction.batch;
  if (applied.status.later()) {
    ports_.metrics.Parked(applied.status.resource);
    const bool locked = applied.status.cause == Cause::kLocked;
    return locked ? queue.Locked(std::move(batch), now.mono, random_())
                  : queue.Away(batch, now.mono, random_());
  }
  if (applied.status.never()) {
    if (!queue.Split(batch, now.mono)) SetAside(batch.jobs.front().id, applied.status.message);
    return;
  }
  queue.Done(batch, now.mono);
  if (applied.below_zero > 0) ports_.metrics.BelowZero(applied.below_zero);
  Append hints{What::kHints, {}, 0};
  for (size_t i = 0; i < batch.jobs.size(); ++i) {
    const uint64_t id = batch.jobs[i].id;
    Job* job = window_.Find(id);
    if (job == nullptr) continue;
    hints.refs.push_back({id});
    job->mirrored = applied.applied.at(i).ver;
    UnixMs written_at = 0;
    for (const WindowRow& row : job->rows) {
      if (row.step == RowStep::kRunning) written_at = std::max(written_at, row.change.written_at);
    }
    ports_.metrics.Applied(applied.applied[i].written, std::chrono::milliseconds(std::max<UnixMs>(
                                                           0, now.unix_ms - written_at)));
  }
  SendAppend(std::move(hints));
}

// ---- friendships ----------------------------------------------------------------------------

void Steps::SendFriendships(ShardQueue& queue, Now now) {
  while (auto batch = queue.Take(now.mono)) {
    const uint64_t id = batch->jobs.front().id;
    const auto pair = Run(id, now.mono);
    if (!pair) {
      queue.Drop(*batch);
      continue;
    }
    const Job& job = *window_.Find(id);
    const uint64_t run = ++ids_;
    friendships_.emplace(run, Friendship{job.forward, job.reverse, *std::move(batch), 2, {}});
    for (const EdgeChange& change : EdgesOfFriendship(*pair)) {
      halves_.emplace(++ids_, run);
      ports_.forward.Submit(ChangeEdge{ids_, change});
    }
  }
}

// Both edges carry the pair's version. The friendship is done when both are written, now or before.
void Steps::On(const EdgeChanged& changed, Now now) {
  if (changed.forward.below_zero) ports_.metrics.BelowZero(1);
  const uint64_t run = TakeAnswered(halves_, changed.id);
  Friendship& friendship = friendships_.at(run);
  if (!changed.status.done()) friendship.failed = changed.status;
  if (--friendship.unanswered > 0) return;
  const Friendship ended = std::move(friendship);
  friendships_.erase(run);
  ShardQueue& queue = QueueOf(ended.forward, ended.reverse);
  const uint64_t id = ended.batch.jobs.front().id;
  if (ended.failed && ended.failed->later()) {
    ports_.metrics.Parked(ended.failed->resource);
    const bool locked = ended.failed->cause == Cause::kLocked;
    return locked ? queue.Locked(ended.batch, now.mono, random_())
                  : queue.Away(ended.batch, now.mono, random_());
  }
  queue.Done(ended.batch, now.mono);
  ended.failed ? SetAside(id, ended.failed->message) : End(id);
}

// ---- appends --------------------------------------------------------------------------------

Range Steps::RangeOf(const Ref& ref) const {
  return setup_.layout.RangeOf(window_.Find(ref.job)->key.edge.src);
}

void Steps::SendAppend(Append append) {
  const bool msg1s = append.what == What::kMsg1;
  std::erase_if(append.refs, [&](const Ref& ref) {
    return msg1s ? window_.Find(ref.job, ref.row) == nullptr : window_.Find(ref.job) == nullptr;
  });
  if (append.what == What::kHints) SendSlow(append);
  if (!append.refs.empty()) Submit(std::move(append));
}

void Steps::SendSlow(Append& hints) {
  std::map<Range, Append> apart;
  std::erase_if(hints.refs, [&](const Ref& ref) {
    const Range range = RangeOf(ref);
    if (!slow_.contains(range)) return false;
    Append& of_range = apart[range];
    of_range.what = What::kHints;
    of_range.attempts = hints.attempts;
    of_range.refs.push_back(ref);
    return true;
  });
  for (auto& [range, of_range] : apart) Submit(std::move(of_range));
}

void Steps::Submit(Append append) {
  const uint64_t id = ++ids_;
  AppendHints hints{id, {}, {}};
  AppendRelations relations{id, {}, {}};
  for (const Ref& ref : append.refs) {
    const Job& job = *window_.Find(ref.job);
    const EdgeKey& edge = job.key.edge;
    if (append.what == What::kHints) {
      hints.hints.emplace_back(RangeOf(ref), Hint::OfSync(edge.src, edge.dst));
    } else if (append.what == What::kMsg2) {
      relations.messages.emplace_back(EdgeMirrored{edge, job.mirrored});
    } else {
      relations.messages.emplace_back(
          EdgeWritten{window_.Find(ref.job, ref.row)->change.edge, ref.row.id});
    }
  }
  const bool is_hints = append.what == What::kHints;
  appends_.emplace(id, std::move(append));
  is_hints ? ports_.hints.Submit(std::move(hints)) : ports_.relations.Submit(std::move(relations));
}

void Steps::Retry(Append append, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  const uint32_t attempt = ++append.attempts;
  append_retries_.Add(std::move(append), attempt, now.mono, random_());
}

// Edges whose hints are acknowledged go on. Only the other hints are appended again.
void Steps::On(const HintsAppended& appended, Now now) {
  const Append hints = TakeAnswered(appends_, appended.id);
  std::vector<Ref> hinted;
  Append again{What::kHints, {}, hints.attempts};
  Status why;  // why these are appended again
  const bool some = appended.failed.size() < hints.refs.size();
  auto failed = appended.failed.begin();
  for (size_t hint = 0; hint < hints.refs.size(); ++hint) {
    const Ref& ref = hints.refs[hint];
    const bool known = window_.Find(ref.job) != nullptr;
    if (failed == appended.failed.end() || failed->hint != hint) {
      hinted.push_back(ref);
      if (known) slow_.erase(RangeOf(ref));
      continue;
    }
    const Status& status = (failed++)->status;
    if (status.never()) {
      SetAside(ref.job, status.message);
      continue;
    }
    again.refs.push_back(ref);
    why = status;
    if (some && known) slow_.insert(RangeOf(ref));
  }
  if (!again.refs.empty()) Retry(std::move(again), why, now);
  std::erase_if(hinted, [this](const Ref& ref) {
    const Job* job = window_.Find(ref.job);
    const bool ends = job != nullptr && job->key.kind == ChangeKind::kMutes;
    if (ends) End(ref.job);
    return ends;
  });
  if (!hinted.empty()) SendMsg2s(std::move(hinted), now);
}

// The answer to an append of msg1s or msg2s.
void Steps::Appended(uint64_t id, const Status& status, Now now) {
  Append append = TakeAnswered(appends_, id);
  if (status.never()) return AppendNever(append, status.message);
  if (status.later()) return Retry(std::move(append), status, now);
  for (const Ref& ref : append.refs) {
    if (append.what == What::kMsg2) {
      End(ref.job);
      continue;
    }
    WindowRow* row = window_.Find(ref.job, ref.row);
    if (row != nullptr && row->step == RowStep::kRead) row->step = RowStep::kAnnounced;
    Queue(ref.job);
  }
}

// A msg2 ends the reconciler's interest in a change. So a forward shard that may have lost the
// change is asked for it first. If it has, no msg2 is sent, nor
// for the other rows of that run.
void Steps::SendMsg2s(std::vector<Ref> refs, Now now) {
  std::erase_if(refs, [&](const Ref& ref) {
    Job* job = window_.Find(ref.job);
    if (job == nullptr || !HasOld(*job, now.mono)) return false;
    job->hinted = true;
    old_.push_back(ref.job);
    return true;
  });
  SendAppend({What::kMsg2, std::move(refs), 0});
}

// The log refuses the append for good because of one message: halves find it.
void Steps::AppendNever(const Append& append, const std::string& reason) {
  const auto& refs = append.refs;
  if (refs.size() > 1) {
    const auto middle = refs.begin() + static_cast<std::ptrdiff_t>(refs.size() / 2);
    SendAppend({append.what, {refs.begin(), middle}, 0});
    return SendAppend({append.what, {middle, refs.end()}, 0});
  }
  if (append.what != What::kMsg1) return SetAside(refs.front().job, reason);
  WindowRow* row = window_.Find(refs.front().job, refs.front().row);
  if (row != nullptr) SetAside(refs.front().job, *row, reason);
}

// ---- ends -----------------------------------------------------------------------------------

// The job's run is over. Changes that came meanwhile are written next.
void Steps::End(uint64_t id) {
  Job* job = window_.Find(id);
  if (job == nullptr) return;
  job->queued = false;
  job->Move(RowStep::kRunning, RowStep::kMarking);
  Mark(id);
  Queue(id);
}

void Steps::Mark(uint64_t id) {
  Job& job = *window_.Find(id);
  if (!std::exchange(job.to_mark, true)) markable_.push_back(id);
}

void Steps::SetAside(uint64_t id, const std::string& reason) {
  Job* job = window_.Find(id);
  if (job == nullptr) return;
  job->queued = false;
  for (WindowRow& row : job->rows) {
    if (row.step == RowStep::kRunning) SetAside(id, row, reason);
  }
  Queue(id);
}

void Steps::SetAside(uint64_t id, WindowRow& row, const std::string& reason) {
  row.step = RowStep::kSetAside;
  ports_.metrics.Rejected(reason);
  const Shard shard = window_.Find(id)->forward;
  SendLetter({{id, row.change.row()}, {RecordOf(shard, row.change), "mirror", reason}, 0});
}

void Steps::SendLetter(Letter letter) {
  const uint64_t id = ++ids_;
  const DeadLetter sent = letter.letter;
  letters_.emplace(id, std::move(letter));
  ports_.dead_letters.Submit({id, sent});
}

void Steps::On(const DeadLetterAppended& appended, Now now) {
  Letter letter = TakeAnswered(letters_, appended.id);
  if (!appended.status.done()) {
    ports_.metrics.Parked(appended.status.resource);
    const uint32_t attempt = ++letter.attempts;
    return letter_retries_.Add(std::move(letter), attempt, now.mono, random_());
  }
  WindowRow* row = window_.Find(letter.ref.job, letter.ref.row);
  if (row == nullptr) return;
  row->step = RowStep::kMarking;
  Mark(letter.ref.job);
}

}  // namespace fanline::mirror
