// Tells the shards, per range, that a start of ours lasted, and that it ended because we were told
// to go. Each request is repeated, with back-off, until it is carried out. It may come late, when
// others have acquired the range: it concerns our start alone. A start whose end is never told
// counts as a crash, also against the next start of ours. So send no AcquireRange while
// open(range).
//
// At most one request per range is under way. Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "fanline/base/time.h"
#include "fanline/ports/range_owners.h"
#include "pusher/base/common.h"

namespace fanline::pusher {

// A start of ours (fanline/ports/range_owners.h).
struct OwnStart {
  uint64_t token = 0;
  uint64_t epoch = 0;    // the newest that we were given; 0: none yet
  uint32_t crashes = 0;  // starts of others that were not settled when we last asked
};

class Settlements {
 public:
  // `common` outlives this object.
  explicit Settlements(Common& common) : common_(common) {}

  // The start has lasted and goes on. No earlier start is suspected any more.
  void Lasted(Range range, const OwnStart& start);
  // The start ends because we were told to go. The shard may not know of the start yet. `lasted`:
  // it has lasted.
  void Leave(Range range, const OwnStart& start, bool lasted);

  // Takes a reply; returns its range if it was for this object.
  std::optional<Range> On(const RangeOwned& reply, Now now, uint64_t random);
  void OnTimer(Now now);

  bool open(Range range) const { return open_.contains(range); }
  bool empty() const { return open_.empty(); }
  // When OnTimer has something to do, if ever.
  std::optional<Time> timer() const;

 private:
  struct Open {
    SettleRange to_tell;
    uint64_t awaited = 0;  // id of the request under way
    uint32_t attempts = 0;
    std::optional<Time> retry_at{};
  };

  void Tell(const SettleRange& settled);
  void Send(Open& open);

  Common& common_;
  std::map<Range, Open> open_;
};

}  // namespace fanline::pusher
