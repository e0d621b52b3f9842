#include "dispatcher/dispatcher.h"

#include <algorithm>
#include <utility>

#include "fanline/check.h"

namespace fanline::dispatcher {
namespace {

std::string ContentType(const Record& record) {
  for (const auto& [name, value] : record.headers) {
    if (name == "content-type") return value;
  }
  return {};
}

// What travels on with the hints: everything but what describes the event's own encoding.
Headers TravelOn(const Headers& headers) {
  Headers out;
  for (const auto& header : headers) {
    if (header.first != "content-type") out.push_back(header);
  }
  return out;
}

uint64_t Mix(uint64_t value) {  // SplitMix64's finalizer: spreads post ids evenly
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

int64_t Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

Dispatcher::Dispatcher(Ports ports, Setup setup, Limits limits)
    : ports_(ports),
      setup_(std::move(setup)),
      limits_(limits),
      random_(setup_.seed),
      // What is parked holds the oldest unfinished offset, while others go on behind it.
      partitions_({limits_.events_open, limits_.events_span_per_partition, limits_.commit_every},
                  ports.metrics),
      shards_(setup_.shards.shards()),
      room_(setup_.shards.shards(), limits_.parked_bytes_per_shard) {}

Progress Dispatcher::Step(std::span<Input> inputs, Now now) {
  for (Input& input : inputs) {
    std::visit([&](auto& value) { On(value, now); }, input);
  }
  if (partitions_.Moved()) {
    for (ShardQueue& queue : shards_) {
      std::erase_if(queue.waiting, [this](uint64_t id) { return ForgetTaken(id); });
    }
  }
  RetryDue(now);
  SendTransactions(now);
  Progress progress = partitions_.Order(
      {jobs_.size() - room_.parked(), room_.full(), room_.roomy()}, !taking_, now);
  if (!retries_.empty()) progress.StepBy(retries_.begin()->first);
  for (const ShardQueue& queue : shards_) progress.StepBy(queue.retry_at);
  ports_.metrics.Buffered(jobs_.size(), room_.parked());
  return progress;
}

// ---- the consumer ---------------------------------------------------------------------------

// Kept, every rebalance would add all that is parked once more.
bool Dispatcher::ForgetTaken(uint64_t id) {
  const auto found = jobs_.find(id);
  const Job& job = found->second;
  if (partitions_.Holds(job.place)) return false;
  room_.Finished(*job.shard, job.record);
  jobs_.erase(found);
  return true;
}

void Dispatcher::On(Record& record, Now now) {
  if (!taking_) return;
  const auto place = partitions_.Received(record);
  if (!place) return;
  const uint64_t id = ++ids_;
  Job& job = jobs_[id];
  job.record = std::move(record);
  job.place = *place;
  auto decoded = DecodeEvent(job.record.value, ContentType(job.record));
  if (const auto* rejection = std::get_if<Rejection>(&decoded)) {
    SendToDeadLetters(id, job, rejection->reason);
    return;
  }
  job.event = std::get<FeedEvent>(decoded);
  ports_.metrics.EventReceived(job.event.kind);
  if (auto reason = Validate(job.record, job.event, now); !reason.empty()) {
    SendToDeadLetters(id, job, reason);
    return;
  }
  job.shard = setup_.shards.ShardOf(job.event.author);
  room_.Took(*job.shard, job.record);
  shards_[*job.shard].waiting.push_back(id);
}

std::string Dispatcher::Validate(const Record& record, const FeedEvent& event, Now now) const {
  if (record.timestamp > 0 &&
      now.unix_ms - record.timestamp > Milliseconds(limits_.oldest_record)) {
    return "the record is older than rows are kept (its timestamp is " +
           std::to_string(record.timestamp) + " ms): publish the event anew";
  }
  if (event.kind == EventKind::kPublished &&
      event.created_at - now.unix_ms > Milliseconds(limits_.furthest_future)) {
    return "created_at_ms " + std::to_string(event.created_at) +
           " lies further in the future than allowed: is it in milliseconds since 1970?";
  }
  return {};
}

// ---- rows -----------------------------------------------------------------------------------

void Dispatcher::SendTransactions(Now now) {
  for (Shard shard = 0; shard < shards_.size(); ++shard) {
    ShardQueue& queue = shards_[shard];
    if (queue.retry_at && *queue.retry_at > now.mono) continue;
    queue.retry_at.reset();
    while (queue.in_flight < limits_.transactions_in_flight) {
      std::vector<uint64_t> jobs;
      if (!queue.halves.empty()) {
        jobs = std::move(queue.halves.front());
        queue.halves.pop_front();
      } else {
        const size_t count = std::min<size_t>(queue.waiting.size(), limits_.events_per_transaction);
        const auto end = queue.waiting.begin() + static_cast<std::ptrdiff_t>(count);
        jobs.assign(queue.waiting.begin(), end);
        queue.waiting.erase(queue.waiting.begin(), end);
      }
      if (jobs.empty()) break;
      SendTransaction(shard, std::move(jobs));
    }
  }
}

void Dispatcher::SendTransaction(Shard shard, std::vector<uint64_t> jobs) {
  ApplyEvents request{++ids_, shard, {}};
  request.events.reserve(jobs.size());
  for (uint64_t id : jobs) request.events.push_back(jobs_.at(id).event);
  ports_.metrics.TransactionSent(jobs.size());
  ++shards_[shard].in_flight;
  transactions_.emplace(request.id, std::move(jobs));
  ports_.posts.Submit(std::move(request));
}

void Dispatcher::On(EventsApplied& applied, Now now) {
  auto answered = transactions_.extract(applied.id);
  FANLINE_CHECK(!answered.empty(), "a reply to a transaction never sent");
  std::vector<uint64_t> jobs = std::move(answered.mapped());
  const Shard shard = *jobs_.at(jobs.front()).shard;
  ShardQueue& queue = shards_[shard];
  --queue.in_flight;
  room_.Answered(shard, applied.status.later());

  if (applied.status.later()) {
    ports_.metrics.Parked(applied.status.resource);
    std::erase_if(jobs, [this](uint64_t id) { return ForgetTaken(id); });
    queue.waiting.insert(queue.waiting.begin(), jobs.begin(), jobs.end());
    queue.retry_at = now.mono + limits_.backoff.Delay(++queue.attempts, random_());
    return;
  }
  if (applied.status.never()) {
    if (jobs.size() == 1) {
      SendToDeadLetters(jobs.front(), jobs_.at(jobs.front()), applied.status.message);
      return;
    }
    const auto middle = jobs.begin() + static_cast<std::ptrdiff_t>(jobs.size() / 2);
    queue.halves.emplace_back(jobs.begin(), middle);
    queue.halves.emplace_back(middle, jobs.end());
    return;
  }
  queue.attempts = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs_.at(jobs[i]);
    job.pushed = applied.applied.at(i).pushed;
    job.followers = applied.applied.at(i).followers;
    if (job.pushed) {
      Append(jobs[i], job);
    } else {
      Done(jobs[i], now);  // merged at read: nothing to fan out
    }
  }
}

// ---- hints ----------------------------------------------------------------------------------

// By the post's id, so that a redelivered event is sampled again.
bool Dispatcher::sampled(const FeedEvent& event) const {
  if (event.kind != EventKind::kPublished) return false;
  const double place = static_cast<double>(Mix(Raw(event.post)) >> 11) * 0x1.0p-53;  // [0, 1)
  return place < limits_.sample_rate;
}

void Dispatcher::Append(uint64_t id, Job& job) {
  job.stage = Job::Stage::kAppending;
  const uint32_t parts = setup_.layout.partitions();
  const bool sample = sampled(job.event);
  AppendHints request{id, {}, TravelOn(job.record.headers)};
  request.hints.reserve(parts);
  for (uint32_t part = 0; part < parts; ++part) {
    std::optional<DeliverySample> measured;
    if (sample) measured = DeliverySample{part, parts, job.record.timestamp, job.followers};
    request.hints.emplace_back(static_cast<Range>(part),
                               Hint::OfPost(job.event.author, job.event.post, measured));
  }
  ports_.hints.Submit(std::move(request));
}

void Dispatcher::On(HintsAppended& appended, Now now) {
  const auto found = jobs_.find(appended.id);
  FANLINE_CHECK(found != jobs_.end(), "a reply about hints never appended");
  if (appended.status.done()) {
    ports_.metrics.HintsAppended(setup_.layout.partitions());
    Done(appended.id, now);
  } else if (appended.status.never()) {
    SendToDeadLetters(appended.id, found->second, appended.status.message);
  } else {
    RetryLater(appended.id, found->second, appended.status, now);
  }
}

// ---- ends -----------------------------------------------------------------------------------

void Dispatcher::SendToDeadLetters(uint64_t id, Job& job, const std::string& reason) {
  if (job.reason.empty()) {
    job.reason = reason;
    ports_.metrics.EventRejected(reason);
  }
  job.stage = Job::Stage::kDeadLettering;
  ports_.dead_letters.Submit({id, {job.record, "dispatcher", job.reason}});
}

void Dispatcher::On(DeadLetterAppended& appended, Now now) {
  const auto found = jobs_.find(appended.id);
  FANLINE_CHECK(found != jobs_.end(), "a reply about a letter never sent");
  if (appended.status.done()) {
    Done(appended.id, now);
  } else {
    RetryLater(appended.id, found->second, appended.status, now);
  }
}

void Dispatcher::RetryLater(uint64_t id, Job& job, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  retries_.emplace(now.mono + limits_.backoff.Delay(++job.attempts, random_()), id);
}

void Dispatcher::RetryDue(Now now) {
  while (!retries_.empty() && retries_.begin()->first <= now.mono) {
    const uint64_t id = retries_.begin()->second;
    retries_.erase(retries_.begin());
    Job& job = jobs_.at(id);
    if (job.stage == Job::Stage::kDeadLettering) {
      SendToDeadLetters(id, job, job.reason);
    } else {
      Append(id, job);
    }
  }
}

void Dispatcher::Done(uint64_t id, Now now) {
  const auto found = jobs_.find(id);
  const Job& job = found->second;
  if (job.shard) room_.Finished(*job.shard, job.record);
  partitions_.Finished(job.place);
  ports_.metrics.EventDone(
      std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - job.record.timestamp)));
  jobs_.erase(found);
}

}  // namespace fanline::dispatcher
