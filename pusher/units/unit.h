// A unit of work and its progress. A unit is the head of one lane: a run of sync hints, or of post
// hints, of one author. The lane waits until the unit is finished.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fanline/base/decoded.h"
#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/model/record.h"
#include "pusher/units/admission.h"

namespace fanline::pusher {

// A hint as received. The record's key and value are kept for the dead letters, byte for byte, and
// its headers as far as they travel on (fanline/model/headers.h).
struct ReceivedHint {
  Record record;
  Decoded<Hint> decoded;

  const Hint* hint() const { return std::get_if<Hint>(&decoded); }  // null: undecodable
};

struct Unit {
  // What is under way. It is begun again after a failure.
  enum class Stage {
    kMarkingStart,   // isolating: its offset is saved before it starts
    kClearingStart,  // isolating: it is done and not to blame for a later crash
    kRunning,        // its run goes on (post_runs.h, sync_runs.h)
    kDropping,       // quarantine: its readers' timelines are made not live
    kDeadLettering,  // quarantine: its hints go to the dead letters, one by one
  };

  uint64_t id = 0;   // its requests carry it
  size_t place = 0;  // among its range's units
  Range range = 0;
  uint64_t epoch = 0;        // of the range; a unit does not outlive it
  Way way;                   // of its reads and writes
  Admission::Credit credit;  // none while it is parked or waits for its turn
  UserId author{};
  std::vector<ReceivedHint> hints;  // of one kind: posts, syncs or undecodable
  bool alone = false;               // one hint, in a batch of its own: a culprit is looked for
  bool marked = false;              // range_owner names it as the one that is being tried
  bool large = false;               // its followers do not fit a first page
  Stage stage = Stage::kRunning;
  std::string reason;        // of its quarantine; empty: each hint has its own
  size_t dead_lettered = 0;  // hints in the dead letters

  const std::string& ReasonOf(const ReceivedHint& hint) const {
    const Rejection* refused = std::get_if<Rejection>(&hint.decoded);
    return reason.empty() && refused ? refused->reason : reason;
  }
  bool is_sync() const {
    const Hint* first = hints.front().hint();
    return first != nullptr && std::holds_alternative<Hint::Sync>(first->what);
  }
};

// What a reply means for the unit that it concerns.
struct RunStep {
  uint64_t unit = 0;
  Status status{};           // not done: a unit that begins again repeats what failed
  bool needs_claim = false;  // Redis no longer takes us for the range's owner
  bool finished = true;      // if done; false: the unit goes on with its next page
};

}  // namespace fanline::pusher
