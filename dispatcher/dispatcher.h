// Turns feed events into truth and hints. An event changes its post's row, then appends one hint
// per range of readers, however many followers the author has. Its offset is committed after the
// brokers acknowledged every hint.
//
//   record -> decode, validate -> what a repost shows (original_reads.h)
//          -> row (shard, many per transaction) -> hints -> committable
//
// Which ranges get a hint. If the author has at most as many followers as there are ranges, a range
// that held none of them after the row's commit gets no hint: a later follow brings its own, which
// finds the post (docs/decisions/0016-empty-ranges-are-left-out.md). If the store does not know the
// followers, all ranges get hints. If home timelines hold the reader's own posts, the author's
// range gets one. A post that is merged at read gets hints only until its author is
// announced, that is, marked in the followers' timelines
// (docs/decisions/0027-authors-merged-at-read.md). A day later the next published post announces
// the author again. An event without any hint is done once its row is committed.
//
// Authors are switched between the two modes by what their posts cost (mode_switches.h). The cost
// is counted in one range, whose hint says so: readers are hashed to ranges, so one range
// represents all. Posts of an announced author send a hint to that range alone.
//
// Row changes are idempotent and commutative, and hints have no verb: events in any order, twice,
// or through two dispatchers at once leave the same rows and timelines. Every apply appends the
// hints, even if it changed no row: an earlier one may have crashed before its hints. A hint that
// was not acknowledged is appended again, alone (hint_appends.h). Events that cannot be used
// (undecodable, invalid, too old) go to the dead letters with the reason.
//
// Events of a shard that is away wait in memory of their own; the other shards go on until that is
// full. The same holds for a range that takes no hints. No offset is committed before its event is
// stored and all its hints are acknowledged. When a partition is revoked, its waiting events are
// forgotten, because the next owner reads them again; calls under way go on.
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

#include "dispatcher/hint_appends.h"
#include "dispatcher/limits.h"
#include "dispatcher/metrics.h"
#include "dispatcher/mode_switches.h"
#include "dispatcher/original_reads.h"
#include "fanline/base/gather.h"
#include "fanline/base/mutation_switches.h"
#include "fanline/consuming/partitions.h"
#include "fanline/consuming/retry_queue.h"
#include "fanline/consuming/shard_queue.h"
#include "fanline/consuming/shard_room.h"
#include "fanline/model/bucket.h"
#include "fanline/model/record.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/ports/post_store.h"
#include "fanline/wire/event_codec.h"

namespace fanline::dispatcher {

using Input =
    std::variant<PartitionAssigned, PartitionRevoked, Record, EventsApplied, HintsAppended,
                 DeadLetterAppended, AuthorAnnounced, AuthorSwitched, ShownRead>;

class Dispatcher {
 public:
  struct Ports {
    Port<ApplyEvents, ReadShown, AnnounceAuthor, SwitchAuthor> posts;
    Port<AppendHints> hints;
    Port<AppendDeadLetter> dead_letters;
    Metrics& metrics;
  };
  struct Setup {
    RangeLayout layout{16};
    ShardMap shards = ShardMap::Even(1);
    uint64_t seed = 1;  // of the jitter
    bool own_posts;     // home timelines hold the reader's own posts
    MutationSwitches guards{};
  };

  Dispatcher(Ports ports, Setup setup, Limits limits);

  [[nodiscard]] Progress Step(std::span<Input> inputs, Now now);

  // From now on no further event is started (SIGTERM); keep stepping until drained().
  void StopTaking() { taking_ = false; }
  bool drained() const { return jobs_.empty(); }
  size_t events_open() const { return jobs_.size(); }

 private:
  // One event on its way.
  struct Job {
    Record record;
    Partitions::Place place;
    FeedEvent event;
    std::string reason;          // not empty: it goes to the dead letters
    std::optional<Shard> shard;  // of the author; none: never stored
    uint64_t followers = 0;
    bool announces = false;             // announces its author once its hints are appended
    std::vector<Range> ranges;          // get its hints; from its row's commit to Append
    std::optional<Range> weighed_in{};  // one of these
    bool parked = false;                // waits for ranges; no longer counts for its shard
    uint32_t letters = 0;               // dead letters that were not acknowledged
  };

  void On(PartitionAssigned& assigned, Now) { partitions_.Assigned(assigned); }
  void On(PartitionRevoked& revoked, Now) { partitions_.Revoked(revoked); }
  void On(Record& record, Now now);
  void On(ShownRead& read, Now now) { originals_.On(read, now); }
  void On(EventsApplied& applied, Now now);
  void On(HintsAppended& appended, Now now);
  void On(DeadLetterAppended& appended, Now now);
  void On(AuthorAnnounced&, Now) {}  // if lost, the author's next post announces again
  void On(AuthorSwitched& reply, Now) { switches_.On(reply); }

  std::string Validate(const Record& record, const FeedEvent& event, Now now) const;
  // Forgets the job if its partition was revoked. Returns whether it did.
  bool ForgetTaken(uint64_t id);
  void Release(const Job& job);
  void StoreReposts(Now now);
  void SendTransactions(Now now);
  void SendTransaction(Shard shard, ShardQueue::Batch batch);
  std::vector<Range> RangesOf(UserId author, const EventsApplied::Applied& applied) const;
  void Stored(Job& job, const EventsApplied::Applied& applied);
  bool IsWeighed(const Job& job, const EventsApplied::Applied& applied) const;
  void ChooseWeighedRange(Job& job) const;
  void AppendStored(Now now);
  void Append(uint64_t id);
  void ParkForRanges();
  void SendToDeadLetters(uint64_t id, const std::string& reason);
  void Done(uint64_t id, Now now);
  bool sampled(const FeedEvent& event) const;

  Ports ports_;
  Setup setup_;
  Limits limits_;
  std::mt19937_64 random_;
  uint64_t ids_ = 0;
  bool taking_ = true;

  ModeSwitches switches_;
  OriginalReads originals_;
  Partitions partitions_;
  std::unordered_map<uint64_t, Job> jobs_;
  std::vector<ShardQueue> queues_;  // by shard
  ShardRoom room_;
  std::unordered_map<uint64_t, ShardQueue::Batch> transactions_;  // by request
  std::vector<uint64_t> stored_;  // jobs whose hints are to be appended
  GatherReady gathered_;          // when to append these
  HintAppends hints_;
  RetryQueue<uint64_t> letters_;  // jobs whose dead letters were not acknowledged
};

}  // namespace fanline::dispatcher
