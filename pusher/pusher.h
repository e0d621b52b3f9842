// Makes the live timelines of the ranges it owns agree with the truth, hint by hint. A hint says
// "look again", never what to do, so a hint seen twice, late or together with others leaves the
// same timelines. A timeline that is not live is skipped, never created: its reader rebuilds it.
//
// It has two halves. Ranges (ranges/ranges.h) takes ranges over, takes their hints from the log and
// saves how far they are done. Units (units/units.h) carries out the hints of open ranges.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <variant>

#include "fanline/consuming/consumer.h"
#include "fanline/model/record.h"
#include "fanline/ports/author_weights.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/port.h"
#include "fanline/ports/range_owners.h"
#include "fanline/ports/truth.h"
#include "pusher/base/limits.h"
#include "pusher/base/metrics.h"
#include "pusher/base/setup.h"
#include "pusher/ranges/ranges.h"
#include "pusher/units/units.h"

namespace fanline::pusher {

using Input =
    std::variant<PartitionAssigned, PartitionRevoked, LogEndSeen, Record, PostPage, SyncTruth,
                 RangeClaimed, RangeReset, PositionSaved, BatchWritten, TimelineRead, SyncApplied,
                 TimelineDropped, PartMarked, RangeOwned, DeadLetterAppended, AuthorWeighed>;

class Pusher {
 public:
  struct Ports {
    Port<ReadPostPage, ReadSync> truth;
    Port<ClaimRange, ResetRange, SavePosition, TimelineBatch, ReadTimeline, ApplySync, DropTimeline,
         MarkPart>
        timelines;
    Port<AcquireRange, RaiseEpoch, SaveStart, SettleRange> owners;
    Port<AppendDeadLetter> dead_letters;
    Port<WeighAuthor> weights;
    Metrics& metrics;
  };
  using Setup = pusher::Setup;

  Pusher(const Ports& ports, const Setup& setup, const Limits& limits);
  Pusher(const Pusher&) = delete;  // its halves refer to each other

  // Takes new hints and the completions of earlier requests, advances every lane as far as it can,
  // and says which offsets may be committed: those whose effect Redis has acknowledged. Ports queue
  // requests; they never block here. Throws Misconfigured if it is assigned a partition that the
  // layout does not have.
  [[nodiscard]] Progress Step(std::span<Input> inputs, Now now);

  // Starts the drain (SIGTERM): from now on no further hint and no further page of an author's
  // followers is started, and no parked unit is tried again. Keep stepping until drained().
  void StopTaking();
  // Whether the drain is over. Work under way is finished, or left to the next owner at the end of
  // a page. The positions are saved, as far as Redis answers, and ordered to be committed.
  // range_owner has noted that no start of ours was a crash.
  bool drained() const { return units_.idle() && ranges_.drained(); }

 private:
  Metrics& metrics_;
  const Setup setup_;
  const Limits limits_;
  uint64_t ids_ = 0;  // of requests
  std::mt19937_64 random_;
  Ranges ranges_;
  Units units_;
};

}  // namespace fanline::pusher
