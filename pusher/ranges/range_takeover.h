// Takes over one range and guards it afterwards: owner epoch, claim in Redis, applied position.
//
//   Acquire/Raise the epoch (shard) -> claim own:, reading pos: and live:
//   -> decide whether the timelines must go and from which offset to replay -> reset -> ready
//
// Nothing is read or written for the range before it is ready. It is taken over again whenever
// Redis may have changed: the session was lost, a write was fenced, or pos: does not hold what was
// written (rolled back). Each takeover raises the epoch, so Redis refuses earlier writes that are
// still under way. A claim that failed is repeated after a short pause (Limits::takeover), with the
// same epoch. If the first one was carried out after all, the second one is refused, and the epoch
// is raised.
//
// Fenced means that another owner was there. If the range were taken back at once, the other owner
// would do the same, for ever. So the takeover waits, longer each time (Limits::contested), and the
// consumer hears meanwhile whether the range is still ours. Two consumer groups on one installation
// take turns, each for long enough to get on.
//
// The decision (design 2, guard 4). If pos: is missing, of another topic generation or older than
// the log, the timelines are dropped and their readers rebuild them. Reading then goes on at the
// end that the log had before the drop: every hint below that end has its truth committed, and a
// timeline that is made after the drop reads that truth. If the end is not known, reading goes on
// at the committed offset, or in a contest at the log's first offset. In all other cases the hints
// from pos: on are replayed. Whatever happened to Redis comes down to one of these cases, and no
// operator has to act. RedisLoss (metrics.h) names the causes. No loss is reported on a first
// start, when the range never had a pos:, or while another owner may have moved pos: back (a
// contest).
//
// The log lost its tail if it ends before pos:, before a hint that pos: calls begun, or before the
// committed offset. Then all the range's timelines are dropped, because hints that nobody has read
// may be gone. They are also dropped if the group has committed nothing although there is a pos:,
// which may be of a topic that was deleted, with hints in it.
//
// A drop begins by deleting pos:. An owner that does not finish the drop leaves no pos:, so the
// next owner drops too, however far the log has grown past the loss by then.
//
// Passive, not thread-safe. One object per assignment.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/range_owners.h"
#include "pusher/base/common.h"
#include "pusher/ranges/settlements.h"

namespace fanline::pusher {

class RangeTakeover {
 public:
  // `common` outlives this object.
  explicit RangeTakeover(Common& common)
      : ports_(common.ports),
        limits_(common.limits),
        guards_(common.setup.guards),
        generation_(common.setup.topic_generation),
        ids_(common.ids) {}

  // `token`: drawn for this start.
  void Start(const PartitionAssigned& assigned, uint64_t token, Now now);
  // Takes the range over again. Does nothing while a takeover is under way.
  void Again(TakeoverCause cause, Now now, uint64_t random);

  // Takes a reply; returns whether it was this range's.
  bool On(const RangeOwned& reply, Now now, uint64_t random);
  bool On(const RangeClaimed& reply, Now now, uint64_t random);
  bool On(const RangeReset& reply, Now now, uint64_t random);
  bool On(const PositionSaved& reply, Now now, uint64_t random);
  void OnTimer(Now now);

  bool ready() const { return stage_ == Stage::kReady; }
  Duration ready_for(Now now) const { return ready() ? now.mono - *ready_since_ : Duration{}; }
  // Set once when the range becomes ready: deliver hints from here on.
  std::optional<int64_t> TakeSeek() { return std::exchange(seek_, std::nullopt); }
  uint64_t epoch() const { return start_.epoch; }
  uint32_t node() const { return node_; }  // of Redis, by the last claim
  // The epoch of the takeover that completed the index, as news name it from here on.
  uint64_t index() const { return index_; }
  const OwnStart& start() const { return start_; }
  // Takes what the shard answered to another request of this start.
  void Learn(const RangeOwned& answer) { start_.crashes = answer.crashes; }
  // When OnTimer has something to do, if ever.
  std::optional<Time> timer() const { return retry_at_; }

  // Saves in pos: that all hints below `offset` are applied, and `begun` of the others in part.
  // Once saved() has reached the offset, it may be committed. One save at a time. `as_of`:
  // AppliedPosition::as_of; 0 keeps the saved one.
  void Save(int64_t offset, std::vector<BegunHints> begun, UnixMs as_of);
  bool saving() const { return saving_ != 0; }
  // The last save failed, but may have been carried out.
  bool unsure() const { return unsure_; }
  int64_t saved() const { return saved_.offset; }
  const std::vector<BegunHints>& begun() const { return saved_.begun; }
  UnixMs as_of() const { return saved_.as_of; }

 private:
  enum class Stage { kIdle, kOwning, kClaiming, kResetting, kReady };

  void Own(bool first);
  void Claim();
  void Decide(const RangeClaimed& claimed);
  std::optional<RedisLoss> LossIn(const RangeClaimed& claimed) const;
  int64_t Furthest(const std::optional<AppliedPosition>& found) const;
  int64_t StartAfterDrop() const;
  void Retry(Now now, uint64_t random);
  void GiveWay(Now now, uint64_t random);
  void Failed(const Status& status, Now now, uint64_t random);

  const Ports& ports_;
  const Limits& limits_;
  const MutationSwitches& guards_;
  const uint64_t generation_;
  uint64_t& ids_;

  PartitionAssigned assigned_;
  Stage stage_ = Stage::kIdle;
  uint64_t awaited_ = 0;  // id of the request under way
  uint64_t saving_ = 0;   // id of the SavePosition under way
  OwnStart start_;
  uint64_t raise_above_ = 0;
  uint64_t unsure_claim_ = 0;  // the last epoch whose claim failed: own: may hold it
  uint32_t node_ = 0;
  uint64_t index_ = 0;
  AppliedPosition saved_;  // what pos: holds
  AppliedPosition saving_next_;
  bool unsure_ = false;   // pos: may hold saving_next_ already
  int64_t expected_ = 0;  // position before this takeover; a pos: behind it was rolled back
  std::optional<int64_t> seek_;
  // The log's end, until the range is first ready. Later positions may well lie beyond it.
  std::optional<int64_t> end_;
  bool tail_told_ = false;         // the loss of the log's tail was reported
  bool forgotten_ = false;         // an unfinished drop of ours may have deleted pos:
  std::optional<RedisLoss> loss_;  // found by a claim, not reported yet
  uint32_t attempts_ = 0;
  uint32_t contests_ = 0;  // times another owner was found, since the last peace
  bool raised_ = false;    // the epoch was raised above the one that refused a claim
  std::optional<Time> ready_since_;
  std::optional<Time> retry_at_;
};

}  // namespace fanline::pusher
