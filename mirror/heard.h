// Ids of rows of one forward shard's log1 that its bell told of (fanline/ports/log_bell.h), until
// they are read by their keys. One such read is under way at a time. Reads are apart by a tenth of
// what polls are under load, and the bell is not asked meanwhile: what it keeps for the next
// question costs nobody a step.
//
// A bell that rings all the time tells nothing: each poll finds many rows then, and to read the
// server's log beside it takes from writers what they need. So the mirror leaves a shard of which
// too many rows are told (crowded()) to the polls, for a while.
//
// A bell may be silent without being lost: the link leads to a server that is primary no more, or
// this server leaves rows out of its log. So a bell must tell of a new row within a second of
// the read that found it.
//
// A server may tell of a row before it shows it to readers. So a row that is not found is asked for
// once more. What is not found then was done already, or is left to the reads of reads.h, and so is
// what a bell tells beyond a bound.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/ports/change_log.h"
#include "mirror/limits.h"

namespace fanline::mirror {

class Heard {
 public:
  // `gather`: how far apart polls are under load. `limits` outlives this.
  Heard(const Limits& limits, Duration gather) : limits_(limits), apart_(gather / 10) {}

  // Whether the bell is to be asked now: what it tells could be read at once.
  [[nodiscard]] bool listens(Time now) const { return !reading() && now >= opens_at_; }
  void Add(const std::vector<uint64_t>& ids, Time now);
  // So many rows were told of within a moment that polls are to find them. Forget() follows.
  [[nodiscard]] bool crowded() const { return told_ > limits_.most_told; }
  void Forget();  // what waits to be asked for

  // A bell begins to tell. Reads that end from now on are compared with it.
  void Begin() { untold_.reset(); }
  // A read has ended that found all new rows; these were new to it. Returns whether the bell is
  // silent: it has still not told of a row that such a read found a second ago.
  [[nodiscard]] bool IsSilent(const std::vector<uint64_t>& read, Time now);

  // The rows to ask for now; none: a read is under way, there is nothing to read, or it is not time
  // yet to ask once more.
  [[nodiscard]] std::optional<std::vector<uint64_t>> Next(Time now);
  // That read found these. Returns how many rows it missed for the second time.
  uint64_t Done(const std::vector<LoggedChange>& found);
  // It failed: all ids are forgotten.
  void Failed();

  // When the bell may be asked, and Next may return rows, even if nothing else is called.
  [[nodiscard]] std::optional<Time> timer() const;

 private:
  bool WasTold(uint64_t id) const { return told_now_.contains(id) || told_before_.contains(id); }
  bool reading() const { return !asked_first_.empty() || !asked_again_.empty(); }

  const Limits& limits_;
  const Duration apart_;
  Time opens_at_{};  // the next read
  Time told_since_{};
  size_t told_ = 0;
  std::deque<uint64_t> first_, again_;  // to be asked for, for the first time and the second
  std::set<uint64_t> asked_first_, asked_again_;  // by the read under way
  // What the bell told of in the last seconds, whatever became of it: other reads may find it
  // later.
  std::set<uint64_t> told_now_, told_before_;
  Time told_now_since_{};
  // Of one read, what the bell has not told of. None: no read has ended since the bell began. What
  // the first one finds may be older than the bell.
  std::optional<std::set<uint64_t>> untold_;
  Time untold_at_{};
};

}  // namespace fanline::mirror
