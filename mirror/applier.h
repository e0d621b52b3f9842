// Makes reverse rows agree with forward rows. It takes each msg1 of relation-log through these
// steps:
//
//   reverse row committed -> hint sync(src, dst) acknowledged -> msg2 acknowledged
//     -> row of log1 marked done -> offset committable
//
// A stale or repeated msg1 takes them too: a crash between two steps must lose nothing. So a msg2
// in the log proves the hint, and a hint in the log finds the reverse row. The order of messages
// and duplicates do not matter: the higher version wins (fanline/wire/edge_fold.h), hints have no
// verb, and the other steps are repeatable. msg2 skips all steps; a msg1 without a row of log1 (0)
// skips the mark.
//
// Edges of one reverse shard are written many per transaction and go on together. A shard that is
// away parks its own edges, with back-off. When it has been away for keep_waiting, and so many
// messages are open that the partitions of all would soon be paused, the applier gives its edges
// back. It asks log1 which of their rows are pending and finishes the offsets of those: pending
// rows are never purged, and a relay sends them again. It appends the others to relation-log anew,
// each once per keep_waiting, before it finishes their offsets. These are rows that are not pending
// (a replay, a letter sent again, a change without a row), and rows whose own shard is away too.
// The age of a record decides none of this. What is appended anew keeps its headers and carries how
// old it is (fanline/wire/dead_letter.h).
// When a partition is revoked, its waiting messages are forgotten: the next owner reads them again,
// and two owners would both append them anew. Calls under way go on; all are repeatable.
// A message that can never be applied goes to the dead letters with the reason. Its row of log1 is
// then done as well: the letter keeps what it said, and a relay would send it again for ever.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/consuming/partitions.h"
#include "fanline/consuming/retry_queue.h"
#include "fanline/consuming/shard_queue.h"
#include "fanline/model/bucket.h"
#include "fanline/model/record.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/ports/reverse_edges.h"
#include "fanline/wire/relation_log.h"
#include "mirror/limits.h"
#include "mirror/metrics.h"

namespace fanline::mirror {

using ApplierReply = std::variant<EdgesApplied, HintsAppended, RelationsAppended, MarkedDone,
                                  PendingRead, DeadLetterAppended>;

class Applier {
 public:
  struct Ports {
    Port<ApplyEdges> reverse;
    Port<AppendHints> hints;
    Port<AppendRelations> relations;
    Port<MarkDone, ReadPending> log;
    Port<AppendDeadLetter> dead_letters;
    Metrics& metrics;
  };
  struct Setup {
    RangeLayout layout{16};
    ShardMap shards = ShardMap::Even(1);
    uint64_t seed = 1;  // of the jitter
  };

  Applier(Ports ports, Setup setup, const Limits& limits);

  void On(const PartitionAssigned& assigned) { partitions_.Assigned(assigned); }
  void On(const PartitionRevoked& revoked) { partitions_.Revoked(revoked); }
  void On(Record& record, Now now);
  void On(const ApplierReply& reply, Now now) {
    std::visit([&](const auto& each) { On(each, now); }, reply);
  }

  // After the inputs of a step: sends what is due.
  [[nodiscard]] Progress Send(Now now);

  // From now on no further record is started; keep stepping until drained().
  void StopTaking() { taking_ = false; }
  bool drained() const { return jobs_.empty(); }
  size_t open() const { return jobs_.size(); }

 private:
  using Jobs = ShardQueue::Jobs;

  // One msg1 on its way.
  struct Job {
    Record record;
    Partitions::Place place;
    Time taken_at{};
    EdgeWritten written;
    uint64_t mirrored = 0;     // the reverse row's version, once it is committed
    std::string reason;        // set: on its way to the dead letters
    uint32_t attempts = 0;     // to append its dead letter
    bool not_pending = false;  // said by log1, or log1 could not be asked
  };
  // Jobs whose rows of log1 may be pending; one read at a time.
  struct Lookup {
    std::multimap<uint64_t, uint64_t> rows;  // of log1 -> jobs
    bool reading = false;
    uint64_t after = 0;  // the read asks for rows above it
  };
  // Edges committed together: hinted together, then announced together.
  struct Batch {
    Jobs jobs;
    bool anew = false;  // not committed: its msg1s are only appended again
    bool hinted = false;
    uint32_t attempts = 0;
  };

  void On(const EdgesApplied& applied, Now now);
  void On(const HintsAppended& appended, Now now);
  void On(const RelationsAppended& appended, Now now);
  void On(const MarkedDone& marked, Now now);
  void On(const PendingRead& read, Now now);
  void On(const DeadLetterAppended& appended, Now now);
  std::string WhyTooOld(const Record& record, Now now) const;
  void SendTransactions(Shard shard, Now now);
  void SendMarks(Shard shard, Now now);
  void Advance(Batch batch);
  Range RangeOf(uint64_t id) const;
  Batch SendSlow(Batch batch);
  void SendHints(Batch batch);
  void RetryLater(Batch batch, const Status& status, Now now);
  void Wait(ShardQueue& queue, Jobs jobs, const Status& status, Now now);
  // Forgets the job if its partition was revoked; whether it did.
  bool ForgetTaken(uint64_t id);
  void ForgetTaken(ShardQueue& queue);
  void GiveBack(ShardQueue& queue, Now now);
  void LeaveUnmarked(ShardQueue& queue, Now now);
  void SendLookup(Shard shard);
  void AppendAnew(const Jobs& jobs);
  void SendToDeadLetters(uint64_t id, const std::string& reason);
  void SendAllToDeadLetters(const Jobs& jobs, const std::string& reason);
  void Close(uint64_t id);
  void Done(uint64_t id);
  Batch TakeBatch(uint64_t request);

  Ports ports_;
  const Setup setup_;
  const Limits limits_;
  uint64_t ids_ = 0;  // of jobs and requests
  std::mt19937_64 random_;
  bool taking_ = true;

  Partitions partitions_;
  std::unordered_map<uint64_t, Job> jobs_;
  std::vector<ShardQueue> reverse_;                   // by shard of dst; wait for reverse rows
  std::vector<ShardQueue> marks_;                     // by shard of src; wait for marks in log1
  std::vector<Lookup> lookups_;                       // by shard of src
  std::unordered_map<uint64_t, Shard> reads_;         // request -> lookup
  std::unordered_map<uint64_t, Jobs> transactions_;   // request -> jobs
  std::unordered_map<uint64_t, Batch> appends_;       // request -> jobs
  std::unordered_map<uint64_t, Jobs> mark_requests_;  // request -> jobs
  RetryQueue<Batch> batch_retries_;
  RetryQueue<uint64_t> letter_retries_;  // jobs
  // Ranges that acknowledged no hint of a request while others did. Hints to them travel apart
  // until one is acknowledged: a reply waits for the slowest of its hints.
  std::set<Range> slow_;
};

}  // namespace fanline::mirror
