#include "mirror/applier.h"

#include <algorithm>

#include "fanline/consuming/answered.h"
#include "fanline/wire/dead_letter.h"

namespace fanline::mirror {
namespace {

Duration Since(UnixMs then, Now now) {
  return std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - then));
}

// Of a msg1 that is appended anew: all that it had, and since when it is in the log. Going round
// makes no message younger.
Headers HeadersAnew(const Record& record) {
  Headers headers = record.headers;
  const UnixMs first = FirstAppended(record);
  if (first > 0 && !HeaderOf(record, kFirstAppendedHeader)) {
    headers.emplace_back(kFirstAppendedHeader, std::to_string(first));
  }
  return headers;
}

LogRow RowOf(const EdgeWritten& written) {
  return {written.log_id, ChangeKind::kEdge, written.edge.key(), written.edge.ver};
}

}  // namespace

Applier::Applier(Ports ports, Setup setup, const Limits& limits)
    : ports_(ports),
      setup_(std::move(setup)),
      limits_(limits),
      random_(setup_.seed),
      partitions_({limits.records_open, limits.records_open_per_partition, limits.commit_every},
                  ports.metrics),
      reverse_(setup_.shards.shards(), ShardQueue({limits.edges_per_transaction,
                                                   limits.transactions_in_flight, limits.backoff})),
      // One statement at a time: marks that come meanwhile travel with the next.
      marks_(setup_.shards.shards(), ShardQueue({limits.rows_per_mark, 1, limits.backoff})),
      lookups_(setup_.shards.shards()),
      batch_retries_(limits.backoff),
      letter_retries_(limits.backoff) {}

void Applier::On(Record& record, Now now) {
  if (!taking_) return;
  const auto place = partitions_.Received(record);
  if (!place) return;
  const auto decoded = DecodeRelationMessage(record.value);
  const auto* message = std::get_if<RelationMessage>(&decoded);
  if (message != nullptr && std::holds_alternative<EdgeMirrored>(*message)) {
    partitions_.Finished(*place);  // msg2: the reconciler's
    return;
  }
  const uint64_t id = ++ids_;
  Job& job = jobs_[id];
  job.record = std::move(record);
  job.place = *place;
  job.taken_at = now.mono;
  if (message == nullptr) return SendToDeadLetters(id, std::get<Rejection>(decoded).reason);
  job.written = std::get<EdgeWritten>(*message);
  if (auto old = WhyTooOld(job.record, now); !old.empty()) {
    ports_.metrics.OldMessageRejected();
    return SendToDeadLetters(id, old);
  }
  reverse_[setup_.shards.ShardOf(job.written.edge.dst)].Push(id);
}

std::string Applier::WhyTooOld(const Record& record, Now now) const {
  const UnixMs since = FirstAppended(record);
  if (since <= 0 || Since(since, now) <= limits_.oldest_record) return {};
  return "the record is older than tombstones are kept (its timestamp is " + std::to_string(since) +
         " ms)";
}

Progress Applier::Send(Now now) {
  while (auto batch = batch_retries_.Take(now.mono)) Advance(*std::move(batch));
  while (const auto id = letter_retries_.Take(now.mono)) {
    SendToDeadLetters(*id, jobs_.at(*id).reason);
  }
  if (partitions_.Moved()) {
    for (ShardQueue& queue : reverse_) ForgetTaken(queue);
    for (ShardQueue& queue : marks_) ForgetTaken(queue);
  }
  if (partitions_.Crowded(jobs_.size())) {
    for (ShardQueue& queue : reverse_) GiveBack(queue, now);
    for (ShardQueue& queue : marks_) LeaveUnmarked(queue, now);
  }
  for (Shard shard = 0; shard < reverse_.size(); ++shard) {
    SendTransactions(shard, now);
    SendMarks(shard, now);
    SendLookup(shard);
  }
  Progress progress = partitions_.Order({jobs_.size()}, !taking_, now);
  progress.StepBy(batch_retries_.timer());
  progress.StepBy(letter_retries_.timer());
  for (const auto* queues : {&reverse_, &marks_}) {
    for (const ShardQueue& queue : *queues) progress.StepBy(queue.timer());
  }
  return progress;
}

// ---- reverse rows ---------------------------------------------------------------------------

void Applier::SendTransactions(Shard shard, Now now) {
  while (auto jobs = reverse_[shard].Take(now.mono)) {
    ApplyEdges request{++ids_, shard, {}};
    for (uint64_t id : *jobs) request.edges.push_back(jobs_.at(id).written.edge);
    transactions_.emplace(request.id, *std::move(jobs));
    ports_.reverse.Submit(std::move(request));
  }
}

void Applier::On(const EdgesApplied& applied, Now now) {
  Jobs jobs = TakeAnswered(transactions_, applied.id);
  ShardQueue& queue = reverse_[setup_.shards.ShardOf(jobs_.at(jobs.front()).written.edge.dst)];
  if (applied.status.later()) return Wait(queue, jobs, applied.status, now);
  if (applied.status.never()) {
    if (queue.Split(jobs)) return;
    return SendToDeadLetters(jobs.front(), applied.status.message);
  }
  queue.Done();
  if (applied.below_zero > 0) ports_.metrics.BelowZero(applied.below_zero);
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs_.at(jobs[i]);
    job.mirrored = applied.applied.at(i).ver;
    ports_.metrics.Applied(applied.applied[i].written, Since(job.record.timestamp, now));
  }
  Advance({std::move(jobs)});
}

void Applier::Wait(ShardQueue& queue, Jobs jobs, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  std::erase_if(jobs, [this](uint64_t id) { return ForgetTaken(id); });
  queue.Away(jobs, now.mono, random_());
}

bool Applier::ForgetTaken(uint64_t id) {
  if (partitions_.Holds(jobs_.at(id).place)) return false;
  Done(id);
  return true;
}

void Applier::ForgetTaken(ShardQueue& queue) {
  queue.Forget([this](uint64_t id) { return ForgetTaken(id); });
}

// ---- a shard that is away for long ------------------------------------------------------------

// Does nothing while another try is due, because the shard may be back.
void Applier::GiveBack(ShardQueue& queue, Now now) {
  if (!queue.AwayFor(limits_.keep_waiting, now.mono)) return;
  Jobs anew;
  for (const uint64_t id : queue.TakeWaiting()) {
    if (ForgetTaken(id)) continue;  // it was under way or looked up when its partition went
    const Job& job = jobs_.at(id);
    if (job.written.log_id != 0 && !job.not_pending) {
      lookups_[setup_.shards.ShardOf(job.written.edge.src)].rows.emplace(job.written.log_id, id);
    } else if (now.mono >= job.taken_at + limits_.keep_waiting) {
      anew.push_back(id);
    } else {
      queue.Push(id);  // appended now, it would circulate as fast as the log is read
    }
  }
  AppendAnew(anew);
}

// These jobs lack nothing but the mark. A relay may send their changes again, at no harm.
void Applier::LeaveUnmarked(ShardQueue& queue, Now now) {
  if (!queue.AwayFor(limits_.keep_waiting, now.mono)) return;
  const Jobs jobs = queue.TakeWaiting();
  if (jobs.empty()) return;
  ports_.metrics.GivenBack(jobs.size());
  for (const uint64_t id : jobs) Done(id);
}

void Applier::SendLookup(Shard shard) {
  Lookup& lookup = lookups_[shard];
  if (lookup.reading || lookup.rows.empty()) return;
  lookup.reading = true;
  const uint64_t id = ++ids_;
  reads_.emplace(id, shard);
  lookup.after = lookup.rows.begin()->first - 1;
  ports_.log.Submit(ReadPending{id, shard, lookup.after, limits_.rows_per_read});
}

// Each read begins at the lowest row in doubt, so it settles at least that one. Whole rows are
// compared, since a shard that lost its tail gives ids out again.
void Applier::On(const PendingRead& read, Now) {
  Lookup& lookup = lookups_[TakeAnswered(reads_, read.id)];
  lookup.reading = false;
  if (read.status.later()) ports_.metrics.Parked(read.status.resource);
  const bool all = !read.status.done() || read.changes.size() < limits_.rows_per_read;
  const uint64_t last = all ? UINT64_MAX : read.changes.back().id;
  uint64_t given_back = 0;
  auto change = read.changes.begin();
  auto next = lookup.rows.upper_bound(lookup.after);
  while (next != lookup.rows.end() && next->first <= last) {
    const auto [row, id] = *next;
    next = lookup.rows.erase(next);
    while (change != read.changes.end() && change->id < row) ++change;
    Job& job = jobs_.at(id);
    const Edge& edge = job.written.edge;
    if (change != read.changes.end() && change->row() == RowOf(job.written)) {
      ++given_back;
      Done(id);
    } else {
      job.not_pending = true;
      reverse_[setup_.shards.ShardOf(edge.dst)].Push(id);
    }
  }
  if (given_back > 0) ports_.metrics.GivenBack(given_back);
}

void Applier::AppendAnew(const Jobs& jobs) {
  for (size_t first = 0; first < jobs.size(); first += limits_.edges_per_transaction) {
    const size_t last = std::min<size_t>(jobs.size(), first + limits_.edges_per_transaction);
    const auto at = [&](size_t i) { return jobs.begin() + static_cast<std::ptrdiff_t>(i); };
    Advance({.jobs = {at(first), at(last)}, .anew = true});
  }
}

// ---- appends --------------------------------------------------------------------------------

void Applier::Advance(Batch batch) {
  const uint64_t id = ++ids_;
  if (batch.anew) {
    AppendRelations request{id, {}, {}};
    for (uint64_t each : batch.jobs) {
      const Job& job = jobs_.at(each);
      request.messages.emplace_back(job.written);
      request.headers.push_back(HeadersAnew(job.record));
    }
    appends_.emplace(id, std::move(batch));
    ports_.relations.Submit(std::move(request));
  } else if (!batch.hinted) {
    batch = SendSlow(std::move(batch));
    if (!batch.jobs.empty()) SendHints(std::move(batch));
  } else {
    AppendRelations request{id, {}, {}};
    for (uint64_t each : batch.jobs) {
      const Job& job = jobs_.at(each);
      request.messages.emplace_back(EdgeMirrored{job.written.edge.key(), job.mirrored});
    }
    appends_.emplace(id, std::move(batch));
    ports_.relations.Submit(std::move(request));
  }
}

Range Applier::RangeOf(uint64_t id) const {
  return setup_.layout.RangeOf(jobs_.at(id).written.edge.src);
}

// Sends the hints to slow ranges, each range's apart, and returns the rest of the batch.
Applier::Batch Applier::SendSlow(Batch batch) {
  std::map<Range, Batch> apart;
  std::erase_if(batch.jobs, [&](uint64_t id) {
    const Range range = RangeOf(id);
    if (!slow_.contains(range)) return false;
    Batch& of_range = apart[range];
    of_range.attempts = batch.attempts;
    of_range.jobs.push_back(id);
    return true;
  });
  for (auto& [range, of_range] : apart) SendHints(std::move(of_range));
  return batch;
}

void Applier::SendHints(Batch batch) {
  AppendHints request{++ids_, {}, {}};
  for (uint64_t each : batch.jobs) {
    const Edge& edge = jobs_.at(each).written.edge;
    request.hints.emplace_back(setup_.layout.RangeOf(edge.src), Hint::OfSync(edge.src, edge.dst));
  }
  appends_.emplace(request.id, std::move(batch));
  ports_.hints.Submit(std::move(request));
}

// Edges whose hints are acknowledged go on; the hints of the others alone are appended again.
void Applier::On(const HintsAppended& appended, Now now) {
  const Batch batch = TakeAnswered(appends_, appended.id);
  Batch hinted, again;
  hinted.hinted = true;
  again.attempts = batch.attempts;
  Status why;  // these are appended again
  const bool some = appended.failed.size() < batch.jobs.size();
  auto failed = appended.failed.begin();
  for (size_t hint = 0; hint < batch.jobs.size(); ++hint) {
    const uint64_t id = batch.jobs[hint];
    if (failed == appended.failed.end() || failed->hint != hint) {
      hinted.jobs.push_back(id);
      continue;
    }
    const Status& status = (failed++)->status;
    if (status.never()) {
      SendToDeadLetters(id, status.message);
      continue;
    }
    again.jobs.push_back(id);
    why = status;
    if (some) slow_.insert(RangeOf(id));
  }
  for (const uint64_t id : hinted.jobs) slow_.erase(RangeOf(id));
  if (!again.jobs.empty()) RetryLater(std::move(again), why, now);
  if (!hinted.jobs.empty()) Advance(std::move(hinted));
}

void Applier::On(const RelationsAppended& appended, Now now) {
  Batch batch = TakeAnswered(appends_, appended.id);
  if (appended.status.never()) return SendAllToDeadLetters(batch.jobs, appended.status.message);
  if (appended.status.later()) return RetryLater(std::move(batch), appended.status, now);
  if (!batch.anew) {
    for (uint64_t id : batch.jobs) Close(id);
    return;
  }
  ports_.metrics.GivenBack(batch.jobs.size());
  for (uint64_t id : batch.jobs) Done(id);
}

void Applier::RetryLater(Batch batch, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  const uint32_t attempt = ++batch.attempts;
  batch_retries_.Add(std::move(batch), attempt, now.mono, random_());
}

// ---- ends -----------------------------------------------------------------------------------

void Applier::SendAllToDeadLetters(const Jobs& jobs, const std::string& reason) {
  for (uint64_t id : jobs) SendToDeadLetters(id, reason);
}

void Applier::SendToDeadLetters(uint64_t id, const std::string& reason) {
  Job& job = jobs_.at(id);
  if (job.reason.empty()) {
    job.reason = reason;
    ports_.metrics.Rejected(reason);
  }
  ports_.dead_letters.Submit({id, {job.record, "mirror", job.reason}});
}

void Applier::On(const DeadLetterAppended& appended, Now now) {
  if (appended.status.done()) return Close(appended.id);
  Job& job = jobs_.at(appended.id);
  ports_.metrics.Parked(appended.status.resource);
  letter_retries_.Add(appended.id, ++job.attempts, now.mono, random_());
}

void Applier::Close(uint64_t id) {
  const EdgeWritten& written = jobs_.at(id).written;
  if (written.log_id == 0) return Done(id);
  marks_[setup_.shards.ShardOf(written.edge.src)].Push(id);
}

void Applier::SendMarks(Shard shard, Now now) {
  auto jobs = marks_[shard].Take(now.mono);
  if (!jobs) return;
  MarkDone request{++ids_, shard, {}};
  for (uint64_t id : *jobs) request.rows.push_back(RowOf(jobs_.at(id).written));
  mark_requests_.emplace(request.id, *std::move(jobs));
  ports_.log.Submit(std::move(request));
}

void Applier::On(const MarkedDone& marked, Now now) {
  const Jobs jobs = TakeAnswered(mark_requests_, marked.id);
  ShardQueue& queue = marks_[setup_.shards.ShardOf(jobs_.at(jobs.front()).written.edge.src)];
  if (!marked.status.done()) return Wait(queue, jobs, marked.status, now);
  queue.Done();
  for (uint64_t id : jobs) Done(id);
}

void Applier::Done(uint64_t id) {
  const auto found = jobs_.find(id);
  partitions_.Finished(found->second.place);
  jobs_.erase(found);
}

}  // namespace fanline::mirror
