// A unit of work: the head of one lane - a run of sync hints, or of post hints, of one author -
// with where it stands. The lane waits until it is finished.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fanline/hint.h"
#include "fanline/record.h"
#include "fanline/truth.h"

namespace fanline::pusher {

// A call for one reader of a unit of syncs: the timeline is read, then the truth about what stands
// in it, then the two are made to agree. Each next call goes out with the answer to the one before.
struct SyncCall {
  uint64_t unit = 0;
  UserId reader{};
};

// A hint as received. The record is kept for the dead letters, byte for byte.
struct ReceivedHint {
  Record record;
  std::optional<Hint> decoded;  // none: undecodable
};

struct Unit {
  enum class Stage {
    kReadingTruth,   // post page asked for
    kSyncing,        // sync: each reader's chain of calls under way (SyncCall)
    kWriting,        // batches under way
    kWaiting,        // parked: begins anew
    kMarkingStart,   // isolating: offset being saved before it starts
    kDropping,       // quarantine: its readers' timelines are to be made not live
    kDeadLettering,  // quarantine: dead letters being appended, one by one
  };

  uint64_t id = 0;
  Range range = 0;
  UserId author{};
  std::vector<ReceivedHint>
      hints;  // of one kind: post hints, syncs, or such that cannot be decoded
  Stage stage = Stage::kReadingTruth;

  // Post hints.
  std::vector<PostId> posts;  // distinct, as asked from the truth
  std::vector<Item> adds;
  std::vector<PostId> removes;
  bool states_read = false;
  std::optional<FollowerCursor> page_from;  // where the current page began
  std::optional<FollowerCursor> next_page;
  size_t writes_open = 0;  // timelines of this page not yet acknowledged
  bool delivered = false;  // reached at least one live timeline
  bool alone = false;      // written in a batch of its own (looking for a culprit)
  Status trouble;          // the first failure among this page's batches, or among the readers

  // Sync hints.
  size_t readers_open = 0;  // whose chain of calls has not ended

  // Quarantine.
  std::string reason;  // none: undecodable, each hint for its own
  uint64_t walk = 0;   // the walk over the range's keys that drops them; 0: waits for the next one
  size_t dead_lettered = 0;  // hints in the dead letters

  bool is_sync() const {
    return hints.front().decoded && std::holds_alternative<Hint::Sync>(hints.front().decoded->what);
  }
};

}  // namespace fanline::pusher
