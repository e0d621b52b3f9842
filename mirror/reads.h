// Decides which rows of one forward shard's log1 a mirror reads next. One read is under way at a
// time. There are four kinds of reads:
//
//   new      rows above the highest id seen: often, and again at once after a full page
//   late     the ids of the last 30 s again: transactions do not commit in the order of their ids
//   backlog  a cursor for each reverse shard: all of that shard's rows up to it were taken or are
//            done. A row that finds no room keeps its shard's cursor below it. Reading goes on
//            from there once there is room.
//   sweep    all rows from 0, rarely and at a bounded pace, for what the other three missed
//
// A shard that was away, or that answers from another server, may have lost its tail: it gives ids
// out again that are not above the highest seen. So after each failure (Doubt) all cursors begin at
// 0 again, and the highest id is asked for.
//
// Under load new rows are read in batches, after quiet at once (GatherPace). While a bell tells of
// new rows (heard.h), they are looked for once a second only.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/base/gather.h"
#include "fanline/base/mutation_switches.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/change_log.h"
#include "mirror/limits.h"

namespace fanline::mirror {

class Reads {
 public:
  enum class Kind { kNew, kLate, kBacklog, kSweep };
  // What became of a row that was read.
  enum class Fate { kTaken, kNoRoom };

  // `shards`: how many reverse shards there are. `limits` outlives this.
  Reads(const Limits& limits, Shard shards, Duration gather, const MutationSwitches& switches);

  // The id above which to read now; none: a read is under way, or it is not time yet.
  // `room(reverse)`: whether that shard has room for a page of its backlog.
  [[nodiscard]] std::optional<uint64_t> Next(Time now, const std::function<bool(Shard)>& room);
  // The highest id that reads of new rows have seen.
  [[nodiscard]] uint64_t newest() const { return newest_; }
  // Of the read under way.
  [[nodiscard]] Kind kind() const { return reading_->kind; }

  // Takes that read's answer: calls `take(change)` -> {reverse shard, Fate} for each row in turn.
  template <typename Take>
  void Done(const PendingRead& read, Time now, Take take) {
    std::vector<uint64_t> missed(cursors_.size(), 0);
    for (const LoggedChange& change : read.changes) {
      const auto [reverse, fate] = take(change);
      if (fate == Fate::kNoRoom && missed[reverse] == 0) missed[reverse] = change.id;
    }
    Note(read, missed, now);
  }
  // That read failed. `random`: any 64 bits.
  void Failed(Time now, uint64_t random);
  // The server behind the shard may be another by now.
  void Doubt() { ++doubts_; }
  // Whether a bell tells of new rows, from now on.
  void SetBelled(bool belled, Time now);

  // When Next may return a read even if nothing else is called; none: only after another call.
  [[nodiscard]] std::optional<Time> timer() const;

 private:
  struct Reading {
    Kind kind = Kind::kNew;
    uint64_t after = 0;
    uint64_t doubts = 0;  // doubts_ when it was sent
  };
  struct Pass {
    bool running = false;
    uint64_t after = 0;
    Time at{}, began{};
  };

  std::optional<uint64_t> Begin(Kind kind, uint64_t after);
  std::optional<uint64_t> NextOfPass(Kind kind, Pass& pass, uint64_t from, Time now);
  std::optional<uint64_t> NextOfBacklog(const std::function<bool(Shard)>& room);
  void Note(const PendingRead& read, const std::vector<uint64_t>& missed, Time now);
  void BeginAnew(const Reading& reading, uint64_t newest, Time now);
  void Remember(Time now);

  const Limits& limits_;
  const MutationSwitches switches_;
  bool known() const { return settled_ == doubts_; }

  uint64_t doubts_ = 1, settled_ = 0;
  uint64_t newest_ = 0;                         // the highest id seen
  std::deque<std::pair<Time, uint64_t>> seen_;  // earlier values of newest_, for 30 s
  std::vector<uint64_t> cursors_;               // by reverse shard
  Shard turn_ = 0;                              // the reverse shard whose backlog is next
  Pass late_, sweep_;
  GatherPace pace_;
  Time poll_at_{};
  bool full_ = false;  // the last read of new rows was a full page; no other kind has read since
  bool belled_ = false;
  std::optional<Reading> reading_;
  uint32_t attempts_ = 0;
  std::optional<Time> retry_at_;
};

}  // namespace fanline::mirror
