// Writes relation events of an application that keeps its own follow graph as forward rows.
//
//   record -> decode, validate -> forward row and log1 row (one transaction) -> committable
//
// A row keeps the version of the last event beside its own. An event whose version is not higher
// changes nothing: events in any order, twice, or through two consumers at once end in the same
// rows. The transaction also leaves a pending row of log1, so the mirror does the rest.
//
// Events that cannot be used (undecodable, over the limit of followed users, or so old that the
// unfollow after them may have been collected, tombstones.h) go to the dead letters, byte for byte,
// with the reason. Events of a shard that is away wait in memory of
// their own; the other shards go on until that is full. Events of a user whose row somebody has
// locked wait by themselves (shard_queue.h). When a partition is revoked, its waiting events are
// forgotten, because the next owner reads them again. The mirror, which works log1 of the shards of
// its own partitions, is told of the partitions that come and go.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/consuming/partitions.h"
#include "fanline/consuming/retry_queue.h"
#include "fanline/consuming/shard_queue.h"
#include "fanline/consuming/shard_room.h"
#include "fanline/model/bucket.h"
#include "fanline/model/record.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/wire/relation_event.h"
#include "mirror/limits.h"
#include "mirror/metrics.h"

namespace fanline::mirror {

using RelationEventInput =
    std::variant<PartitionAssigned, PartitionRevoked, Record, EdgeChanged, DeadLetterAppended>;

class RelationEventConsumer {
 public:
  struct Ports {
    Port<ChangeEdge> forward;
    Port<AppendDeadLetter> dead_letters;
    Metrics& metrics;
    ReplyTo<PartitionAssigned> assigned = {};
    ReplyTo<PartitionRevoked> revoked = {};
  };
  struct Setup {
    ShardMap shards = ShardMap::Even(1);
    uint64_t seed = 1;  // of the jitter
  };

  RelationEventConsumer(Ports ports, Setup setup, const Limits& limits);

  [[nodiscard]] Progress Step(std::span<RelationEventInput> inputs, Now now);

  // From now on no further event is started; keep stepping until drained().
  void StopTaking() { taking_ = false; }
  bool drained() const { return jobs_.empty(); }

 private:
  struct Job {
    Record record;
    Partitions::Place place;
    RelationEvent event;
    std::optional<Shard> shard;  // of src; none: never written
    ShardQueue::Batch batch;     // while it is being written
    std::string reason;          // set: on its way to the dead letters
    uint32_t attempts = 0;
  };

  void On(PartitionAssigned& assigned, Now) {
    partitions_.Assigned(assigned);
    ports_.assigned(assigned);
  }
  void On(PartitionRevoked& revoked, Now) {
    partitions_.Revoked(revoked);
    ports_.revoked(revoked);
  }
  void On(Record& record, Now now);
  void On(EdgeChanged& changed, Now now);
  void On(DeadLetterAppended& appended, Now now);

  // Forgets the job if its partition was revoked. Returns whether it did.
  bool ForgetTaken(uint64_t id);
  UnixMs OldSince(const Record& record, Now now) const;
  void SendChanges(Shard shard, Now now);
  void SendToDeadLetters(uint64_t id, const std::string& reason);
  void Done(uint64_t id);

  Ports ports_;
  const Setup setup_;
  const Limits limits_;
  uint64_t ids_ = 0;  // of jobs and requests
  std::mt19937_64 random_;
  bool taking_ = true;

  Partitions partitions_;
  std::unordered_map<uint64_t, Job> jobs_;
  std::vector<ShardQueue> queues_;  // by shard of src, the key; one event a call
  ShardRoom room_;
  RetryQueue<uint64_t> letter_retries_;  // jobs
};

}  // namespace fanline::mirror
