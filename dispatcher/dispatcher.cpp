#include "dispatcher/dispatcher.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "fanline/consuming/answered.h"
#include "fanline/model/created_at.h"
#include "fanline/model/headers.h"
#include "fanline/model/trace.h"
#include "fanline/wire/dead_letter.h"
#include "fanline/wire/event_form.h"

namespace fanline::dispatcher {
namespace {

// One range's share of what may be under way.
HintAppends::Limits ShareOf(const Limits& limits, size_t ranges) {
  return {.records = std::max<size_t>(
              1, std::min<size_t>(limits.hints_under_way / ranges, limits.events_open / 4)),
          .bytes = limits.hint_bytes_under_way / ranges,
          .parked_bytes = limits.parked_bytes_of_ranges,
          .backoff = limits.backoff};
}

uint64_t Mix(uint64_t value) {  // SplitMix64's finalizer: spreads post ids evenly
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

}  // namespace

Dispatcher::Dispatcher(Ports ports, Setup setup, Limits limits)
    : ports_(ports),
      setup_(std::move(setup)),
      limits_(limits),
      random_(setup_.seed),
      switches_(ports.posts, ports.metrics, limits_.modes, ids_),
      originals_(ports.posts, ports.metrics, setup_.shards, limits_.wait_for_originals, ids_),
      // Parked events hold the oldest unfinished offset while others go on behind it.
      partitions_({limits_.events_open, limits_.events_span_per_partition, limits_.commit_every},
                  ports.metrics),
      queues_(setup_.shards.shards(),
              ShardQueue({limits_.events_per_transaction, limits_.transactions_in_flight,
                          limits_.backoff})),
      room_(setup_.shards.shards(), limits_.events_open, limits_.event_bytes_per_shard),
      gathered_(limits_.gather),
      hints_(ports.hints, ports.metrics, setup_.layout.partitions(),
             ShareOf(limits_, setup_.layout.partitions()), ids_, setup_.guards),
      letters_(limits_.backoff) {}

Progress Dispatcher::Step(std::span<Input> inputs, Now now) {
  for (Input& input : inputs) {
    std::visit([&](auto& value) { On(value, now); }, input);
  }
  if (partitions_.Moved()) {
    for (ShardQueue& queue : queues_) {
      queue.Forget([this](uint64_t id) { return ForgetTaken(id); });
    }
    originals_.Forget([this](uint64_t id) { return ForgetTaken(id); });
    hints_.Forget([this](uint64_t id) { return ForgetTaken(id); });
  }
  StoreReposts(now);
  while (const auto id = letters_.Take(now.mono)) SendToDeadLetters(*id, jobs_.at(*id).reason);
  SendTransactions(now);
  AppendStored(now);
  hints_.Step(now);
  ParkForRanges();
  // Open: jobs that neither count for a shard nor wait for ranges go to the dead letters.
  const Partitions::Load load{jobs_.size() - room_.jobs() - hints_.parked(),
                              room_.full() || hints_.full(), room_.roomy() && hints_.roomy()};
  Progress progress = partitions_.Order(load, !taking_, now);
  progress.StepBy(letters_.timer());
  progress.StepBy(hints_.timer());
  progress.StepBy(originals_.timer());
  progress.StepBy(gathered_.timer());
  for (const ShardQueue& queue : queues_) progress.StepBy(queue.timer());
  ports_.metrics.Buffered(jobs_.size(), room_.parked() + hints_.parked());
  return progress;
}

// ---- the consumer ---------------------------------------------------------------------------

// If these jobs were kept, every rebalance would park all of them once more.
bool Dispatcher::ForgetTaken(uint64_t id) {
  const Job& job = jobs_.at(id);
  if (partitions_.Holds(job.place)) return false;
  Release(job);
  jobs_.erase(id);
  return true;
}

void Dispatcher::Release(const Job& job) {
  if (!job.parked) room_.Finished(job.shard, job.record);
}

void Dispatcher::On(Record& record, Now now) {
  if (!taking_) return;
  const auto place = partitions_.Received(record);
  if (!place) return;
  const uint64_t id = ++ids_;
  Job& job = jobs_[id];
  job.record = std::move(record);
  job.place = *place;
  auto decoded = DecodeEvent(job.record.value, ContentTypeOf(job.record));
  std::string refused;
  if (const auto* rejection = std::get_if<Rejection>(&decoded)) {
    refused = rejection->reason;
  } else {
    job.event = std::get<FeedEvent>(decoded);
    ports_.metrics.EventReceived(job.event.kind);
    refused = Validate(job.record, job.event, now);
  }
  if (refused.empty()) job.shard = setup_.shards.ShardOf(job.event.author);
  room_.Took(job.shard, job.record);
  if (!refused.empty()) return SendToDeadLetters(id, refused);
  if (job.event.repost_of) return originals_.Add(id, job.event.repost_of, now);
  queues_[*job.shard].Push({id});
}

std::string Dispatcher::Validate(const Record& record, const FeedEvent& event, Now now) const {
  const UnixMs since = FirstAppended(record);
  if (since > 0 && now.unix_ms - since > Milliseconds(limits_.oldest_record)) {
    return "the record is older than rows are kept (its timestamp is " + std::to_string(since) +
           " ms): publish the event anew";
  }
  if (event.kind != EventKind::kPublished) return {};
  const std::string why = WhyNotTaken(event.created_at, now.unix_ms, kClocksApart);
  return why.empty() ? why : "created_at_ms: " + why;
}

// ---- rows -----------------------------------------------------------------------------------

// A post does not show itself, whatever was published in which order.
void Dispatcher::StoreReposts(Now now) {
  originals_.Step(now);
  for (const auto& [id, original] : originals_.Take()) {
    Job& job = jobs_.at(id);
    const FeedEvent& event = job.event;
    if (original.key() != PostKey(event.author, event.post)) job.event.repost_of = original;
    queues_[*job.shard].Push({id});
  }
}

void Dispatcher::SendTransactions(Now now) {
  for (Shard shard = 0; shard < queues_.size(); ++shard) {
    while (auto batch = queues_[shard].Take(now.mono)) SendTransaction(shard, *std::move(batch));
  }
}

void Dispatcher::SendTransaction(Shard shard, ShardQueue::Batch batch) {
  // An author with more followers than there are ranges has one in nearly every range.
  ApplyEvents request{++ids_, shard, {}, setup_.layout.partitions()};
  request.events.reserve(batch.jobs.size());
  for (const auto& job : batch.jobs) request.events.push_back(jobs_.at(job.id).event);
  ports_.metrics.TransactionSent(batch.jobs.size());
  transactions_.emplace(request.id, std::move(batch));
  ports_.posts.Submit(std::move(request));
}

void Dispatcher::On(EventsApplied& applied, Now now) {
  ShardQueue::Batch batch = TakeAnswered(transactions_, applied.id);
  const Shard shard = *jobs_.at(batch.jobs.front().id).shard;
  ShardQueue& queue = queues_[shard];
  room_.Answered(shard, applied.status.later());

  if (applied.status.later()) {
    ports_.metrics.Parked(applied.status.resource);
    std::erase_if(batch.jobs, [this](const auto& job) { return ForgetTaken(job.id); });
    return queue.Away(batch, now.mono, random_());
  }
  if (applied.status.never()) {
    if (queue.Split(batch, now.mono)) return;
    return SendToDeadLetters(batch.jobs.front().id, applied.status.message);
  }
  queue.Done(batch, now.mono);
  if (!applied.followers.done()) ports_.metrics.FollowersUnread(applied.followers);
  const bool unread_is_none = !setup_.guards.unread_is_all && !applied.followers.done();
  std::set<UserId> weighed;
  for (size_t i = 0; i < batch.jobs.size(); ++i) {
    const uint64_t id = batch.jobs[i].id;
    EventsApplied::Applied& each = applied.applied.at(i);
    if (unread_is_none) each.buckets.emplace();
    Job& job = jobs_.at(id);
    Stored(job, each);
    // One post per author and transaction is enough.
    if (IsWeighed(job, each) && weighed.insert(job.event.author).second) ChooseWeighedRange(job);
    if (job.ranges.empty()) {
      Done(id, now);
    } else {
      stored_.push_back(id);
      gathered_.Add(now.mono);
    }
  }
}

void Dispatcher::Stored(Job& job, const EventsApplied::Applied& applied) {
  const AuthorMode& mode = applied.mode;
  job.followers = applied.followers;
  const bool published = job.event.kind == EventKind::kPublished;
  const bool due = !mode.announced || (published && *mode.announced >= limits_.announce_every);
  if (applied.pushed || due) job.ranges = RangesOf(job.event.author, applied);
  job.announces = !applied.pushed && due && published;
  switches_.Consider(*job.shard, job.event.author, mode);
}

// If some ranges got no hint, one range no longer represents all. Such authors have few followers,
// so they are skipped, unless they are merged at read and may be pushed again.
bool Dispatcher::IsWeighed(const Job& job, const EventsApplied::Applied& applied) const {
  if (job.event.kind != EventKind::kPublished || (applied.buckets && !applied.mode.pull))
    return false;
  return Weighs(limits_.modes, applied.mode, applied.followers);
}

// Draws the range by the post's id, so that a redelivered event is weighed in the same one.
void Dispatcher::ChooseWeighedRange(Job& job) const {
  const uint64_t drawn = Mix(Mix(Raw(job.event.post)));  // independent of the draw of samples
  job.weighed_in = static_cast<Range>(drawn % setup_.layout.partitions());
  if (job.ranges.empty()) job.ranges = {*job.weighed_in};
}

// The ranges that may hold a reader of the author's posts, in order.
std::vector<Range> Dispatcher::RangesOf(UserId author,
                                        const EventsApplied::Applied& applied) const {
  const RangeLayout& layout = setup_.layout;
  std::vector<Range> ranges;
  if (!applied.buckets) {
    ranges.resize(layout.partitions());
    std::iota(ranges.begin(), ranges.end(), Range{0});
    return ranges;
  }
  for (const Bucket bucket : *applied.buckets) {
    const Range range = layout.RangeOf(bucket);
    if (ranges.empty() || ranges.back() != range) ranges.push_back(range);
  }
  if (setup_.own_posts && setup_.guards.own_hinted) {
    const Range own = layout.RangeOf(author);
    const auto at = std::lower_bound(ranges.begin(), ranges.end(), own);
    if (at == ranges.end() || *at != own) ranges.insert(at, own);
  }
  ports_.metrics.RangesLeftOut(layout.partitions() - ranges.size());
  return ranges;
}

// ---- hints ----------------------------------------------------------------------------------

// By the post's id, so that a redelivered event is sampled again.
bool Dispatcher::sampled(const FeedEvent& event) const {
  if (event.kind != EventKind::kPublished) return false;
  const double place = static_cast<double>(Mix(Raw(event.post)) >> 11) * 0x1.0p-53;  // [0, 1)
  return place < limits_.sample_rate;
}

// The client sends a request for each range, however little it holds. So the hints of events that
// were consumed together and stored on several shards are appended together.
void Dispatcher::AppendStored(Now now) {
  const bool more = !transactions_.empty() && stored_.size() < limits_.events_per_transaction;
  if (!gathered_.due(more, now.mono)) return;
  gathered_.Released();
  for (const uint64_t id : std::exchange(stored_, {})) Append(id);
}

void Dispatcher::Append(uint64_t id) {
  Job& job = jobs_.at(id);
  std::optional<DeliverySample> measured;
  if (sampled(job.event)) measured = DeliverySample{0, 1, job.record.timestamp, job.followers};
  Hint hint = Hint::OfPost(job.event.author, job.event.post, measured);
  std::get<Hint::Post>(hint.what).weighed_since = job.record.timestamp;
  std::shared_ptr<const Headers> headers;
  if (Headers travelling = TravellingHeaders(job.record.headers); !travelling.empty())
    headers = std::make_shared<const Headers>(std::move(travelling));
  hints_.Add(id, {std::move(hint), job.weighed_in, std::move(job.ranges), std::move(headers),
                  ShardRoom::BytesOf(job.record)});
}

void Dispatcher::On(HintsAppended& appended, Now now) {
  hints_.On(appended, now, random_());
  for (const auto& [id, status] : hints_.TakeEnded()) {
    if (status.done()) {
      Done(id, now);
    } else {
      SendToDeadLetters(id, status.message);
    }
  }
}

// Jobs that wait for ranges only no longer count for their shard, which has done its part.
void Dispatcher::ParkForRanges() {
  for (const uint64_t id : hints_.TakeParked()) {
    if (ForgetTaken(id)) {
      hints_.Forget(id);
      continue;
    }
    Job& job = jobs_.at(id);
    Release(job);
    job.parked = true;
  }
}

// ---- ends -----------------------------------------------------------------------------------

void Dispatcher::SendToDeadLetters(uint64_t id, const std::string& reason) {
  Job& job = jobs_.at(id);
  if (job.reason.empty()) {
    job.reason = reason;
    ports_.metrics.EventRejected(reason, TraceIdOf(job.record.headers));
  }
  ports_.dead_letters.Submit({id, {job.record, "dispatcher", job.reason}});
}

void Dispatcher::On(DeadLetterAppended& appended, Now now) {
  const bool taken = appended.status.done() || !setup_.guards.letters_before_commit;
  if (taken) return Done(appended.id, now);
  ports_.metrics.Parked(appended.status.resource);
  letters_.Add(appended.id, ++jobs_.at(appended.id).letters, now.mono, random_());
}

void Dispatcher::Done(uint64_t id, Now now) {
  const Job& job = jobs_.at(id);
  if (job.announces && job.reason.empty()) {
    ports_.posts.Submit(AnnounceAuthor{++ids_, *job.shard, job.event.author});
  }
  Release(job);
  partitions_.Finished(job.place);
  const Duration since =
      std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - job.record.timestamp));
  ports_.metrics.EventDone(since);
  const std::string trace_id = TraceIdOf(job.record.headers);
  if (!trace_id.empty() && job.reason.empty() && sampled(job.event)) {
    ports_.metrics.TracedEventDone(job.event, trace_id, since);
  }
  jobs_.erase(id);
}

}  // namespace fanline::dispatcher
