#include "mirror/relation_event_consumer.h"

#include "fanline/base/check.h"
#include "fanline/wire/dead_letter.h"
#include "fanline/wire/event_form.h"

namespace fanline::mirror {
RelationEventConsumer::RelationEventConsumer(Ports ports, Setup setup, const Limits& limits)
    : ports_(ports),
      setup_(std::move(setup)),
      limits_(limits),
      random_(setup_.seed),
      // Parked events hold the oldest unfinished offset while others go on behind it.
      partitions_({limits.records_open, limits.events_span_per_partition, limits.commit_every},
                  ports.metrics),
      queues_(setup_.shards.shards(), ShardQueue({1, limits.changes_in_flight, limits.backoff})),
      room_(setup_.shards.shards(), limits.records_open, limits.event_bytes_per_shard),
      letter_retries_(limits.backoff) {}

Progress RelationEventConsumer::Step(std::span<RelationEventInput> inputs, Now now) {
  for (RelationEventInput& input : inputs) {
    std::visit([&](auto& value) { On(value, now); }, input);
  }
  while (const auto id = letter_retries_.Take(now.mono)) {
    SendToDeadLetters(*id, jobs_.at(*id).reason);
  }
  if (partitions_.Moved()) {
    for (ShardQueue& queue : queues_) {
      queue.Forget([this](uint64_t id) { return ForgetTaken(id); });
    }
  }
  for (Shard shard = 0; shard < queues_.size(); ++shard) SendChanges(shard, now);

  // An event without a shard is on its way to the dead letters.
  const Partitions::Load load{jobs_.size() - room_.jobs(), room_.full(), room_.roomy()};
  Progress progress = partitions_.Order(load, !taking_, now);
  progress.StepBy(letter_retries_.timer());
  for (const ShardQueue& queue : queues_) progress.StepBy(queue.timer());
  ports_.metrics.Buffered(jobs_.size(), room_.parked());
  return progress;
}

void RelationEventConsumer::On(Record& record, Now now) {
  if (!taking_) return;
  const auto place = partitions_.Received(record);
  if (!place) return;
  const uint64_t id = ++ids_;
  Job& job = jobs_[id];
  job.record = std::move(record);
  job.place = *place;
  auto decoded = DecodeRelationEvent(job.record.value, ContentTypeOf(job.record));
  std::string refused;
  const UnixMs since = FirstAppended(job.record);
  if (const auto* rejection = std::get_if<Rejection>(&decoded)) {
    refused = rejection->reason;
  } else if (since > 0 && std::chrono::milliseconds(now.unix_ms - since) > limits_.oldest_record) {
    ports_.metrics.OldMessageRejected();
    refused = "the record is older than tombstones are kept (its timestamp is " +
              std::to_string(since) + " ms): send the event anew";
  } else {
    job.event = std::get<RelationEvent>(decoded);
    job.shard = setup_.shards.ShardOf(job.event.edge.src);
  }
  room_.Took(job.shard, job.record);
  if (!refused.empty()) return SendToDeadLetters(id, refused);
  queues_[*job.shard].Push({id, Raw(job.event.edge.src)});
}

bool RelationEventConsumer::ForgetTaken(uint64_t id) {
  if (partitions_.Holds(jobs_.at(id).place)) return false;
  Done(id);
  return true;
}

// When the record was first appended, if it is old enough to matter; else 0.
UnixMs RelationEventConsumer::OldSince(const Record& record, Now now) const {
  const UnixMs since = FirstAppended(record);
  return std::chrono::milliseconds(now.unix_ms - since) > limits_.known_for ? since : 0;
}

void RelationEventConsumer::SendChanges(Shard shard, Now now) {
  while (auto batch = queues_[shard].Take(now.mono)) {
    const uint64_t id = batch->jobs.front().id;
    Job& job = jobs_.at(id);
    job.batch = *std::move(batch);
    const RelationEvent& event = job.event;
    ports_.forward.Submit(ChangeEdge{id,
                                     {.src = event.edge.src,
                                      .dst = event.edge.dst,
                                      .live = event.kind == RelationEventKind::kFollow,
                                      .unix_us = static_cast<uint64_t>(now.unix_ms) * 1000,
                                      .origin = Origin::kApplication,
                                      .origin_version = event.version,
                                      .delivery = event.delivery,
                                      .since = OldSince(job.record, now)}});
  }
}

void RelationEventConsumer::On(EdgeChanged& changed, Now now) {
  const auto found = jobs_.find(changed.id);
  FANLINE_CHECK(found != jobs_.end(), "a reply to a change never asked for");
  ShardQueue& queue = queues_[*found->second.shard];
  ShardQueue::Batch batch = std::move(found->second.batch);
  const bool locked = changed.status.later() && changed.status.cause == Cause::kLocked;
  room_.Answered(*found->second.shard, changed.status.later() && !locked);
  if (changed.status.later()) {
    ports_.metrics.Parked(changed.status.resource);
    if (ForgetTaken(changed.id)) batch.jobs.clear();
    return locked ? queue.Locked(std::move(batch), now.mono, random_())
                  : queue.Away(batch, now.mono, random_());
  }
  queue.Done(batch, now.mono);
  if (changed.status.never()) return SendToDeadLetters(changed.id, changed.status.message);
  ports_.metrics.EventDone();
  if (changed.forward.below_zero) ports_.metrics.BelowZero(1);
  Done(changed.id);
}

void RelationEventConsumer::SendToDeadLetters(uint64_t id, const std::string& reason) {
  Job& job = jobs_.at(id);
  if (job.reason.empty()) {
    job.reason = reason;
    ports_.metrics.Rejected(reason);
  }
  ports_.dead_letters.Submit({id, {job.record, "mirror", job.reason}});
}

void RelationEventConsumer::On(DeadLetterAppended& appended, Now now) {
  if (appended.status.done()) return Done(appended.id);
  ports_.metrics.Parked(appended.status.resource);
  Job& job = jobs_.at(appended.id);
  letter_retries_.Add(appended.id, ++job.attempts, now.mono, random_());
}

void RelationEventConsumer::Done(uint64_t id) {
  const auto found = jobs_.find(id);
  FANLINE_CHECK(found != jobs_.end(), "an event that is finished twice");
  const Job& job = found->second;
  room_.Finished(job.shard, job.record);
  partitions_.Finished(job.place);
  jobs_.erase(found);
}

}  // namespace fanline::mirror
