// Says which units may be under way, and what each of them may hold.
//
// A unit leads from a shard, which has the truth about its author, to a node of Redis, which has
// the timelines: that is its way. A shard or node may hang. So each way has bounds of its own, and
// what hangs uses up the bounds of its ways and of no others
// (docs/decisions/0024-what-hangs-holds-its-own-share.md).
//
// A unit is under way on a credit. It gets the credit when it starts and gives it back when it ends
// or is parked. Everything that a unit holds in memory beside its hints is bounded by credits:
// - A way has `units_in_flight` credits. Each is good for a first page of followers, which is
// small.
// - A unit whose followers do not fit a first page is large. It goes on with a wide credit, which
// is
//   good for a large page. A way has `large_pages_in_flight` of these. If none is free, the unit
//   waits for its turn without a credit and holds hints only. It gives its wide credit back after
//   each page. So large units hold up no other unit, however many there are. The readers in all
//   pages of a way are at most units * first page + large pages * large page.
// - Turns go to units that had none yet and to the oldest of the others, alternately. So an author
//   with a few thousand followers passes celebrities, and celebrities end one after the other.
// - Up to `whole_ways` ways have these bounds each. More ways share what `whole_ways` of them would
//   have, but each has at least one credit and one large page. So the pages of all ways are bounded
//   however many shards and nodes there are.
// - A page's readers stay counted until Redis has acknowledged them: in the batcher, and in batches
//   under way, which hold readers of pages and nothing else.
// - Syncs hold no page. The calls of all sync units together have a bound (`syncs_in_flight`).
//
// Two more bounds keep the queue in front of a node short. They cost no memory but time: a node is
// sent `batches_in_flight` batches ahead, and it is admitted no unit while `waiting_readers` of
// small units wait for it. Those of large ones do not count, because small ones pass them
// (write_batcher.h).
//
// Once all credits of a way were taken, they are given again when a quarter of them is free. Units
// that start together read the truth together, in few large statements instead of many small ones.
// After `refill_within` every free credit is given, so no lane waits for slow units.
//
// A unit that waits for a resource that is away is parked without a credit. What is parked holds
// hints only, and the ranges bound these (ranges/inflow.h). Each queue of parked units has a name:
// a resource, or a part of one, and a way, so the units of one queue need the same credits. A
// failure closes the queue. After a jittered back-off the unit that has waited longest is tried.
// While that fails, one unit is tried at a time, at growing intervals, so thousands of units ask no
// more often than one. Each unit that gets through lets one more be tried at the same time, up to a
// quarter of a way's units, so a resource that comes back does not meet all units at once. A unit
// that fails by its own fault goes to the end of the queue and costs the others one back-off.
//
// Passive, not thread-safe.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "pusher/base/limits.h"

namespace fanline::pusher {

struct Way {
  Shard shard = 0;    // of the author
  uint32_t node = 0;  // of Redis, which holds the range
  friend auto operator<=>(const Way&, const Way&) = default;
};

class Admission {
  struct AtWay {
    size_t units = 0;  // under way on a credit that is not wide
    size_t wide = 0;   // under way on a wide one
    // Large units that wait for a wide one: those that had none yet, and the others, by age.
    std::deque<uint64_t> fresh;
    std::set<uint64_t> begun;
    bool fresh_next = true;
    size_t waiting() const { return fresh.size() + begun.size(); }
    std::optional<Time> full_since;  // all credits were taken then; free ones are held back since
  };
  struct AtNode {
    uint32_t batches = 0;        // under way
    size_t waiting_readers = 0;  // of small units; their writes are in no batch yet
  };
  struct Queue {
    std::deque<uint64_t> waiting;  // first parked, first tried
    size_t trying = 0;
    size_t at_once = 1;     // units that may be tried at the same time
    uint32_t failures = 0;  // in a row; 0: the resource answers
    Time not_before{};      // while failures > 0
  };

 public:
  struct QueueName {
    Way way;
    std::string resource;
    Range range = -1;  // the part of the resource, if not all of it
    friend auto operator<=>(const QueueName&, const QueueName&) = default;
  };

 private:
  using Queues = std::map<QueueName, Queue>;

 public:
  // Destroying it gives it back. Must not outlive its Admission.
  class Credit {
   public:
    Credit() = default;
    Credit(Credit&& other) noexcept { *this = std::move(other); }
    Credit& operator=(Credit&& other) noexcept {
      std::swap(by_, other.by_);
      std::swap(at_, other.at_);
      std::swap(wide_, other.wide_);
      std::swap(tried_, other.tried_);
      return *this;
    }
    ~Credit() {
      if (by_ != nullptr) by_->TakeBack(*this);
    }
    explicit operator bool() const { return by_ != nullptr; }

   private:
    friend Admission;
    Admission* by_ = nullptr;
    AtWay* at_ = nullptr;
    bool wide_ = false;
    std::optional<Queues::iterator> tried_;  // the unit comes from this queue and may yet return
  };

  // `limits` outlives this object.
  explicit Admission(const Limits& limits) : limits_(limits) {}

  // Ways lead from so many shards to these nodes. If that lowers a bound, what is taken beyond it
  // stays taken until it is given back.
  void SetWays(size_t shards, const std::set<uint32_t>& nodes);

  // Credits. A new unit may start; a unit that was parked may go on.
  bool admits(const Way& way) const;
  bool has_room(const Way& way) const;
  Credit Admit(const Way& way, Time now);
  // The most followers on the unit's next page.
  uint32_t PageFor(const Credit& credit) const;
  // Makes the credit of a large unit wide, if one is free that no other unit waits for. Returns
  // whether it is wide.
  bool Widen(Credit& credit);
  // Whether the unit comes from a queue of parked units, and has not got through.
  static bool is_tried(const Credit& credit) { return credit.tried_.has_value(); }
  // A large unit gives its credit back and waits for its turn. `unit`: ids grow with time.
  void AwaitTurn(uint64_t unit, Credit credit);
  // Stops holding back free credits where that is due. Call it before admits().
  void Refill(Time now);
  // When the next credit that is held back will be given.
  std::optional<Time> refill_timer() const;

  // Nodes.
  size_t& waiting_readers(uint32_t node) { return nodes_[node].waiting_readers; }
  bool may_send(uint32_t node) const;
  void Sent(uint32_t node) { ++nodes_[node].batches; }
  void Answered(uint32_t node) { --nodes_.at(node).batches; }

  // Parked units, by id. The resource did not do what the unit asked; it gives back its credit.
  // `random`: any 64 bits.
  void Park(uint64_t unit, Credit credit, const QueueName& name, Time now, uint64_t random);
  // Takes the next unit that may be tried; it is parked no longer. None: no unit is due, or there
  // is no room for it.
  struct Tried {
    uint64_t unit = 0;
    Credit credit;
  };
  std::optional<Tried> TryNext(Time now);
  // Takes the next large unit that has its turn, with a wide credit.
  std::optional<Tried> NextTurn();
  // The unit got what it waited for. Does nothing for one that is not being tried.
  void GotThrough(Credit& credit);
  // It got what it waited for, unless that was what `queue` waits for.
  void GotThroughTo(Credit& credit, const QueueName& queue);
  // Forgets the units that are `gone`, of those that are parked or wait for their turn.
  void Forget(const std::function<bool(uint64_t unit)>& gone);
  size_t parked() const { return parked_; }
  size_t awaiting_turns() const;
  // When TryNext may return a unit, if it returns none now.
  std::optional<Time> retry_timer() const;

 private:
  size_t ShareOf(size_t each) const;
  bool has_place(const Way& way) const;
  bool may_try(const QueueName& name, const Queue& queue) const;
  void Failed(Queue& queue, Time now, uint64_t random) const;
  void TakeBack(Credit& credit);
  void EndTry(Credit& credit);
  void DropIfUnused(Queues::iterator queue);

  const Limits& limits_;
  size_t ways_ = 0;
  std::map<Way, AtWay> taken_;
  std::map<uint32_t, AtNode> nodes_;
  Queues queues_;
  size_t parked_ = 0;
};

}  // namespace fanline::pusher
