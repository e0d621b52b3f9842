// Deletes reposts of posts that were deleted. Pages leave them out anyway, as they ask for the
// states of originals (api/original_states.h), so nothing depends on this: it keeps timelines,
// outboxes and table `repost` from filling with what nobody sees.
//
// A walk over table `repost` of a shard, page after page in the order of the key:
//
//   page -> states of its originals -> an event post.deleted for each repost of a deleted one
//      -> the page once more, until these are deleted -> the next page
//
// The events are ordinary ones and go the way of all: dispatchers write them, pushers take the
// reposts out of timelines. A page is left when its events have taken effect, so no more than a
// page of each shard is ahead of dispatchers that lag; after `patience` it is left all the same,
// and the next walk meets its reposts again. The events of all shards keep to one pace.
//
// Only what can never come back is deleted. Reposts of a hidden post stay, for it may be shown
// again, and so do those of a post of which only the delete is known. What names another repost
// shows what that one shows, also when that one was deleted, and stays too.
//
// A walk keeps nothing: it begins anew after a rest, and after a restart. Two that walk the same
// shard repeat each other's events, which does no harm; so each process walks shards of its own, by
// the partitions of relation-log, as the full scan does. A shard that is away holds up its own
// walk. Reposts whose originals lie there are left for the next walk of the others. In the modes
// dry_run and pause nothing is begun. Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/base/throttle.h"
#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/operator_modes.h"
#include "fanline/ports/port.h"
#include "fanline/ports/reader_ports.h"
#include "fanline/ports/reposts.h"
#include "reconciler/reposts/repost_metrics.h"

namespace fanline::reconciler {

using RepostInput = std::variant<RepostsSwept, OriginalsRead, EventAppended>;

struct RepostLimits {
  uint32_t rows_per_page = 2'000;
  uint32_t rows_per_second = 2'000;    // passed, per shard; a page that is read once more is free
  uint32_t events_per_second = 2'100;  // of all shards of this process
  uint32_t events_burst = 100;         // of two ticks
  Duration tick = std::chrono::milliseconds(20);         // events are appended so often
  Duration look_again = std::chrono::milliseconds(100);  // after the last event, then ever later
  Duration patience = std::chrono::minutes(1);
  Duration rest = std::chrono::minutes(10);       // from the end of a walk to the next
  Duration after_work = std::chrono::minutes(1);  // if it deleted anything
  Duration ask_mode_every = std::chrono::seconds(1);
  Duration after_failure = std::chrono::seconds(30);
};

class RepostSweeper {
 public:
  using Store = Port<SweepReposts, ReadOriginals>;
  using Mode = std::function<ReconcilerMode()>;

  // `partitions`: of relation-log. `metrics` outlives this.
  RepostSweeper(const Store& store, const Port<AppendEvent>& log, RepostMetrics& metrics, Mode mode,
                const ShardMap& map, uint32_t partitions, const RepostLimits& limits = {});

  // Returns when to step again, even without input.
  [[nodiscard]] Progress Step(std::span<RepostInput> inputs, Now now);

  // The partitions that are ours. Of a shard that is no longer ours the page under way is finished.
  void Own(const std::vector<int32_t>& partitions);

  // From now on nothing more is begun; keep stepping until drained().
  void StopTaking() { taking_ = false; }
  bool drained() const { return asked_.empty(); }

 private:
  // The walk over one shard's rows.
  struct Walk {
    bool ours = false;
    RepostPlace place;  // all up to it is passed
    Time next_at{};
    Time page_from{};    // when the page at this place was first asked for
    bool again = false;  // it was
    uint32_t open = 0;   // requests under way
    RepostsSwept page;
    std::set<Original> gone;      // originals of the page that were deleted
    std::deque<PostKey> waiting;  // reposts whose events are still to be appended
    std::set<PostKey> told;       // those of the page whose events were begun
    bool failed = false;          // one of these was not appended
    Time told_at{};               // when the last one was
    bool worked = false;          // this walk has deleted something
    UnixMs ended = 0;             // the last walk; 0: none has
  };
  struct Asked {
    Shard of = 0;                     // whose walk
    std::vector<Original> originals;  // of ReadOriginals
  };

  void On(const RepostsSwept& swept, Now now);
  void On(const OriginalsRead& read, Now now);
  void On(const EventAppended& appended, Now now);

  bool may() const { return taking_ && mode_() == ReconcilerMode::kRun; }
  uint64_t Ask(Shard of, std::vector<Original> originals = {});
  Asked Answered(uint64_t id, const Status& status);
  void Read(Shard shard, Now now);
  void Judge(Walk& walk, Now now);
  void Append(Now now);
  void Move(Walk& walk, Now now);
  void End(Walk& walk, Now now);
  void Fail(Walk& walk, Now now);

  const Store store_;
  const Port<AppendEvent> log_;
  RepostMetrics& metrics_;
  const Mode mode_;
  const ShardMap map_;
  const uint32_t partitions_;
  const RepostLimits limits_;
  bool taking_ = true;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Asked> asked_;  // by request
  std::vector<Walk> walks_;                    // by shard
  Throttle throttle_;
  size_t turn_ = 0;  // the walk whose event is appended next
};

}  // namespace fanline::reconciler
