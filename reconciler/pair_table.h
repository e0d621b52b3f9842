// The pairs of one partition: a flat table by edge. Nothing is allocated per message: pairs lie
// side by side, and the index over them is open addressing. A pair keeps its place until it is
// erased, so timers can name it by a number.
//
// Not thread-safe. Memory never shrinks: it takes 80 bytes for each of the most pairs held so far,
// and the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fanline/model/edge.h"

namespace fanline::reconciler {

// What is known of one edge.
struct Pair {
  enum class Stage : uint8_t {
    kRemembered,  // answered
    kArmed,       // a message waits for the other one of its pair
    kChecking,    // the same, and the rows are being compared
    kRetrying,    // the same, and the pair is being written to the retries
  };

  EdgeKey edge;
  uint64_t written = 0;   // highest version of a message; 0: none came
  uint64_t mirrored = 0;  // highest version of a msg2; 0: none came
  UnixMs pos = 0;         // the position of `written`, as msg1 says it
  uint64_t log_id = 0;    // its row of log1, as msg1 says it
  // These are about the pending message.
  int64_t offset = 0;
  UnixMs appended = 0;
  uint64_t stamp = 0;  // new with each stage; outdated timers and replies carry another
  // The shards of edge.src and edge.dst: kept, to save a checksum for each message.
  uint16_t src_bucket = 0, dst_bucket = 0;
  uint8_t attempts = 0;
  Stage stage = Stage::kRemembered;
  bool whole = false;  // msg1 of `written` came, so live and pos are known
  bool live = false;

  bool pending() const { return stage != Stage::kRemembered; }
  EdgeClaim claim() const {
    return whole ? EdgeClaim{{written, live, pos}, true, log_id} : EdgeClaim{{written}, false};
  }
};
static_assert(sizeof(Pair) == 80);

class PairTable {
 public:
  using Place = uint32_t;
  static constexpr Place kNone = UINT32_MAX;

  Place Find(const EdgeKey& edge) const;
  // The edge's pair, a new one if there is none.
  Place Take(const EdgeKey& edge);
  void Erase(Place place);

  Pair& operator[](Place place) { return pairs_[place]; }
  const Pair& operator[](Place place) const { return pairs_[place]; }
  size_t size() const { return pairs_.size() - free_.size(); }
  std::optional<UnixMs> OldestPending() const;  // of those with a msg1; looks at every pair

 private:
  struct Slot {
    uint32_t hash = 0;
    Place place = kNone;
  };

  static uint32_t HashOf(const EdgeKey& edge) {
    return static_cast<uint32_t>(std::hash<EdgeKey>()(edge));
  }
  size_t Next(size_t slot) const { return (slot + 1) & mask_; }
  size_t SlotOf(const EdgeKey& edge, uint32_t hash) const;  // the edge's, or where it would go
  void Grow();

  std::vector<Pair> pairs_;
  std::vector<Place> free_;
  std::vector<Slot> slots_ = std::vector<Slot>(64);  // a power of two, at most 3/5 full
  size_t mask_ = slots_.size() - 1;
};

}  // namespace fanline::reconciler
