// Who of a range's readers is live, as its owner knows it: the set. Followers who are not in the
// set are never offered to Redis. Those who are in it may be dead by now; Redis decides about them.
//
// Redis numbers each timeline that is begun (ReadNews). A unit waits for news before it looks its
// readers up: whom Redis has numbered since the last news. These news were asked for after the
// unit's hints were taken. So the set holds every reader whose timeline was begun before Redis
// answered. A timeline that is begun later reads the truth later still, and finds the post there
// (docs/decisions/0040-the-dead-for-free.md).
//
// News are asked for in a chain of calls, because one call names a bounded number of readers. A
// range has one chain under way, which serves all units that waited when it began. A unit that
// comes later waits for the next one. The first chain of a claim reads the whole index, and units
// do not wait for its end: until then everybody may be live, and each call serves the units that
// waited when it was made. The set learns of the dead by writes that find no timeline. A
// reader whom nobody writes to stays in it for longer: once it is more than twice as long as the
// index, the next chain begins at the first number and fills a new set.
//
// Passive, not thread-safe. One object per claim of a range.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/ports/live_timelines.h"
#include "pusher/units/live_set.h"

namespace fanline::pusher {

class Audience {
 public:
  // The claim found or made `index`, as RangeClaimed names it.
  Audience(uint64_t index, const MutationSwitches& guards) : guards_(guards), index_(index) {}

  // A unit waits for news that are asked for from now on.
  void Need(uint64_t unit) { waiting_.push_back(unit); }
  // Whether a call is to be made now.
  bool due() const { return id_ == 0 && (more_ || !waiting_.empty()); }
  // Whether units wait for that call. Nobody does if it only goes on with the first chain.
  bool is_waited_for() const { return !waiting_.empty() || !served_.empty(); }
  ReadNews Ask(uint64_t id, Range range, uint64_t epoch, uint32_t limit);
  // Whether the news are of another index than the claim's, or of the same one at an earlier
  // moment: it was deleted, replaced or put back, so the range must be claimed again.
  bool Foreign(const NewsRead& news) const;
  // Takes an answer to Ask. Returns the units that wait no longer: they may look their readers up,
  // or, if the answer is a failure, must ask again.
  std::vector<uint64_t> On(const NewsRead& news);

  bool holds(UserId reader) const { return is_filling() || set_.readers.holds(reader); }
  // The last number heard of.
  uint64_t heard() const { return set_.heard; }
  // A write found no timeline of this reader. It was sent when `heard` was the last number heard
  // of. A reader who was numbered since stays.
  void NotLive(UserId reader, uint64_t heard) { set_.readers.Remove(reader, heard); }

  size_t size() const { return set_.readers.size(); }

 private:
  struct Set {
    LiveSet readers;
    uint64_t heard = 0;
  };
  // The set may hold this many readers beyond twice those that the index lists.
  static constexpr uint64_t kSpare = 1'024;

  bool is_filling() const { return !is_filled_ && guards_.all_held_at_first; }

  const MutationSwitches& guards_;
  const uint64_t index_;
  Set set_;
  bool is_filled_ = false;         // a chain came to its end
  std::optional<Set> anew_;        // is being filled, in place of set_
  uint64_t listed_ = 0;            // readers in the index, by the last news
  std::vector<uint64_t> waiting_;  // units, for the next chain
  std::vector<uint64_t> served_;   // units, by the chain under way
  bool more_ = false;              // the chain goes on
  uint64_t id_ = 0;                // of the call under way; 0: none
  uint32_t limit_ = 0;             // of that call
};

}  // namespace fanline::pusher
