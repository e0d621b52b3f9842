#include "mirror/applier.h"

#include <algorithm>

#include "fanline/check.h"

namespace fanline::mirror {
namespace {

template <class Map>
typename Map::mapped_type Take(Map& requests, uint64_t id) {
  const auto found = requests.find(id);
  FANLINE_CHECK(found != requests.end(), "a reply to a request never sent");
  auto value = std::move(found->second);
  requests.erase(found);
  return value;
}

std::vector<uint64_t> TakeFront(std::deque<uint64_t>& waiting, size_t most) {
  const auto end =
      waiting.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(waiting.size(), most));
  std::vector<uint64_t> taken(waiting.begin(), end);
  waiting.erase(waiting.begin(), end);
  return taken;
}

Duration Since(UnixMs then, Now now) {
  return std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - then));
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
      reverse_(setup_.shards.shards()),
      marks_(setup_.shards.shards()),
      lookups_(setup_.shards.shards()) {}

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
  const uint64_t id = ids_.Next();
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
  reverse_[setup_.shards.ShardOf(job.written.edge.dst)].waiting.push_back(id);
}

std::string Applier::WhyTooOld(const Record& record, Now now) const {
  if (record.timestamp <= 0 || Since(record.timestamp, now) <= limits_.oldest_record) return {};
  return "the record is older than tombstones are kept (its timestamp is " +
         std::to_string(record.timestamp) + " ms)";
}

Progress Applier::Send(Now now) {
  while (!batch_retries_.empty() && batch_retries_.begin()->first <= now.mono) {
    Batch batch = std::move(batch_retries_.begin()->second);
    batch_retries_.erase(batch_retries_.begin());
    Advance(std::move(batch));
  }
  while (!letter_retries_.empty() && letter_retries_.begin()->first <= now.mono) {
    const uint64_t id = letter_retries_.begin()->second;
    letter_retries_.erase(letter_retries_.begin());
    SendToDeadLetters(id, jobs_.at(id).reason);
  }
  if (partitions_.Moved()) {
    for (Queue& queue : reverse_) ForgetTaken(queue);
    for (Queue& queue : marks_) ForgetTaken(queue);
  }
  if (partitions_.Crowded(jobs_.size())) {
    for (Queue& queue : reverse_) GiveBack(queue, now);
    for (Queue& queue : marks_) LeaveUnmarked(queue, now);
  }
  for (Shard shard = 0; shard < reverse_.size(); ++shard) {
    SendTransactions(shard, now);
    SendMarks(shard, now);
    SendLookup(shard);
  }
  Progress progress = partitions_.Order({jobs_.size()}, !taking_, now);
  if (!batch_retries_.empty()) progress.StepBy(batch_retries_.begin()->first);
  if (!letter_retries_.empty()) progress.StepBy(letter_retries_.begin()->first);
  for (const auto* queues : {&reverse_, &marks_}) {
    for (const Queue& queue : *queues) progress.StepBy(queue.retry_at);
  }
  return progress;
}

// ---- reverse rows ---------------------------------------------------------------------------

void Applier::SendTransactions(Shard shard, Now now) {
  Queue& queue = reverse_[shard];
  if (queue.retry_at && *queue.retry_at > now.mono) return;
  queue.retry_at.reset();
  while (queue.in_flight < limits_.transactions_in_flight) {
    Jobs jobs;
    if (!queue.halves.empty()) {
      jobs = std::move(queue.halves.front());
      queue.halves.pop_front();
    } else {
      jobs = TakeFront(queue.waiting, limits_.edges_per_transaction);
    }
    if (jobs.empty()) return;
    ApplyEdges request{ids_.Next(), shard, {}};
    for (uint64_t id : jobs) request.edges.push_back(jobs_.at(id).written.edge);
    ++queue.in_flight;
    transactions_.emplace(request.id, std::move(jobs));
    ports_.reverse.Submit(std::move(request));
  }
}

void Applier::On(const EdgesApplied& applied, Now now) {
  Jobs jobs = Take(transactions_, applied.id);
  Queue& queue = reverse_[setup_.shards.ShardOf(jobs_.at(jobs.front()).written.edge.dst)];
  --queue.in_flight;
  if (applied.status.later()) return Wait(queue, jobs, applied.status, now);
  if (applied.status.never()) {
    if (jobs.size() == 1) return SendToDeadLetters(jobs.front(), applied.status.message);
    const auto middle = jobs.begin() + static_cast<std::ptrdiff_t>(jobs.size() / 2);
    queue.halves.emplace_back(jobs.begin(), middle);
    queue.halves.emplace_back(middle, jobs.end());
    return;
  }
  queue.attempts = 0;
  queue.away_since.reset();
  if (applied.below_zero > 0) ports_.metrics.BelowZero(applied.below_zero);
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs_.at(jobs[i]);
    job.mirrored = applied.applied.at(i).ver;
    ports_.metrics.Applied(applied.applied[i].written, Since(job.record.timestamp, now));
  }
  Advance({std::move(jobs)});
}

// The shard is away: the oldest stay in front.
void Applier::Wait(Queue& queue, const Jobs& jobs, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  queue.waiting.insert(queue.waiting.begin(), jobs.begin(), jobs.end());
  ForgetTaken(queue);
  queue.retry_at = now.mono + limits_.backoff.Delay(++queue.attempts, random_());
  if (!queue.away_since) queue.away_since = now.mono;
}

void Applier::ForgetTaken(Queue& queue) {
  std::erase_if(queue.waiting, [this](uint64_t id) {
    const bool taken = !partitions_.Holds(jobs_.at(id).place);
    if (taken) Done(id);
    return taken;
  });
}

// ---- a shard that is away for long ------------------------------------------------------------

// What is due for another try is tried first: the shard may be back.
bool Applier::AwayForLong(const Queue& queue, Now now) const {
  if (!queue.away_since || now.mono < *queue.away_since + limits_.keep_waiting) return false;
  return queue.retry_at && *queue.retry_at > now.mono;
}

void Applier::GiveBack(Queue& queue, Now now) {
  if (!AwayForLong(queue, now)) return;
  for (const Jobs& half : queue.halves) {
    queue.waiting.insert(queue.waiting.end(), half.begin(), half.end());
  }
  queue.halves.clear();
  ForgetTaken(queue);  // it was under way, or in doubt, when its partition went
  std::deque<uint64_t> kept;
  Jobs anew;
  for (const uint64_t id : queue.waiting) {
    const Job& job = jobs_.at(id);
    if (job.written.log_id != 0 && !job.not_pending) {
      lookups_[setup_.shards.ShardOf(job.written.edge.src)].rows.emplace(job.written.log_id, id);
    } else if (now.mono >= job.taken_at + limits_.keep_waiting) {
      anew.push_back(id);
    } else {
      kept.push_back(id);  // or it would go round as fast as the log is read
    }
  }
  queue.waiting = std::move(kept);
  AppendAnew(anew);
}

// All that follows from these changes is acknowledged. A relay may send them again, at no harm.
void Applier::LeaveUnmarked(Queue& queue, Now now) {
  if (!AwayForLong(queue, now) || queue.waiting.empty()) return;
  ports_.metrics.GivenBack(queue.waiting.size());
  for (const uint64_t id : queue.waiting) Done(id);
  queue.waiting.clear();
}

void Applier::SendLookup(Shard shard) {
  Lookup& lookup = lookups_[shard];
  if (lookup.reading || lookup.rows.empty()) return;
  lookup.reading = true;
  const uint64_t id = ids_.Next();
  reads_.emplace(id, shard);
  lookup.after = lookup.rows.begin()->first - 1;
  ports_.log.Submit(ReadPending{id, shard, lookup.after, limits_.rows_per_read});
}

// The pending rows from the lowest one in doubt on: each read settles at least that one. Ids are
// not enough, a shard that lost its tail gives them out again.
void Applier::On(const PendingRead& read, Now) {
  Lookup& lookup = lookups_[Take(reads_, read.id)];
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
      reverse_[setup_.shards.ShardOf(edge.dst)].waiting.push_back(id);
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

// ---- what is appended -----------------------------------------------------------------------

void Applier::Advance(Batch batch) {
  const uint64_t id = ids_.Next();
  if (batch.anew) {
    AppendRelations request{id, {}};
    for (uint64_t each : batch.jobs) request.messages.emplace_back(jobs_.at(each).written);
    appends_.emplace(id, std::move(batch));
    ports_.relations.Submit(std::move(request));
  } else if (!batch.hinted) {
    AppendHints request{id, {}, {}};
    for (uint64_t each : batch.jobs) {
      const Edge& edge = jobs_.at(each).written.edge;
      request.hints.emplace_back(setup_.layout.RangeOf(edge.src), Hint::OfSync(edge.src, edge.dst));
    }
    appends_.emplace(id, std::move(batch));
    ports_.hints.Submit(std::move(request));
  } else {
    AppendRelations request{id, {}};
    for (uint64_t each : batch.jobs) {
      const Job& job = jobs_.at(each);
      request.messages.emplace_back(EdgeMirrored{job.written.edge.key(), job.mirrored});
    }
    appends_.emplace(id, std::move(batch));
    ports_.relations.Submit(std::move(request));
  }
}

void Applier::On(const HintsAppended& appended, Now now) {
  Batch batch = Take(appends_, appended.id);
  if (appended.status.never()) return SendAllToDeadLetters(batch.jobs, appended.status.message);
  if (appended.status.later()) return RetryLater(std::move(batch), appended.status, now);
  batch.hinted = true;
  batch.attempts = 0;
  Advance(std::move(batch));
}

void Applier::On(const RelationsAppended& appended, Now now) {
  Batch batch = Take(appends_, appended.id);
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
  const Time at = now.mono + limits_.backoff.Delay(++batch.attempts, random_());
  batch_retries_.emplace(at, std::move(batch));
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
  letter_retries_.emplace(now.mono + limits_.backoff.Delay(++job.attempts, random_()), appended.id);
}

void Applier::Close(uint64_t id) {
  const EdgeWritten& written = jobs_.at(id).written;
  if (written.log_id == 0) return Done(id);
  marks_[setup_.shards.ShardOf(written.edge.src)].waiting.push_back(id);
}

// One statement at a time: what comes meanwhile travels with the next.
void Applier::SendMarks(Shard shard, Now now) {
  Queue& queue = marks_[shard];
  if (queue.in_flight > 0 || queue.waiting.empty()) return;
  if (queue.retry_at && *queue.retry_at > now.mono) return;
  queue.retry_at.reset();
  Jobs jobs = TakeFront(queue.waiting, limits_.rows_per_mark);
  MarkDone request{ids_.Next(), shard, {}};
  for (uint64_t id : jobs) request.rows.push_back(RowOf(jobs_.at(id).written));
  ++queue.in_flight;
  mark_requests_.emplace(request.id, std::move(jobs));
  ports_.log.Submit(std::move(request));
}

void Applier::On(const MarkedDone& marked, Now now) {
  const Jobs jobs = Take(mark_requests_, marked.id);
  Queue& queue = marks_[setup_.shards.ShardOf(jobs_.at(jobs.front()).written.edge.src)];
  --queue.in_flight;
  if (!marked.status.done()) return Wait(queue, jobs, marked.status, now);
  queue.attempts = 0;
  queue.away_since.reset();
  for (uint64_t id : jobs) Done(id);
}

void Applier::Done(uint64_t id) {
  const auto found = jobs_.find(id);
  partitions_.Finished(found->second.place);
  jobs_.erase(found);
}

}  // namespace fanline::mirror
