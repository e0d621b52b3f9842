// The pairs of one partition, by edge. Pairs lie side by side. A pair keeps its place until it is
// erased, so timers can name it by a number.
//
// Not thread-safe. Memory of places never shrinks: 80 bytes for each of the most pairs held so far.
// The index takes about 60 for each pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fanline/model/bucket.h"
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
  bool whole : 1 = false;  // msg1 of `written` came, so what follows is known
  bool live : 1 = false;
  Delivery delivery : 2 = Delivery::kAll;

  bool pending() const { return stage != Stage::kRemembered; }
  EdgeClaim claim() const {
    return whole ? EdgeClaim{{written, live, pos, delivery}, true, log_id}
                 : EdgeClaim{{written}, false};
  }
};
static_assert(sizeof(Pair) == 80);

class PairTable {
 public:
  using Place = uint32_t;
  static constexpr Place kNone = UINT32_MAX;

  Place Find(const EdgeKey& edge) const {
    const auto found = places_.find(edge);
    return found == places_.end() ? kNone : found->second;
  }
  // The edge's pair, a new one if there is none.
  Place Take(const EdgeKey& edge) {
    const auto [at, is_new] = places_.try_emplace(edge, static_cast<Place>(pairs_.size()));
    Place& place = at->second;
    if (!is_new) return place;
    if (free_.empty()) {
      pairs_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
    }
    pairs_[place].edge = edge;
    pairs_[place].src_bucket = static_cast<uint16_t>(BucketOf(edge.src));
    pairs_[place].dst_bucket = static_cast<uint16_t>(BucketOf(edge.dst));
    return place;
  }
  void Erase(Place place) {
    places_.erase(pairs_[place].edge);
    pairs_[place] = Pair();
    free_.push_back(place);
  }

  Pair& operator[](Place place) { return pairs_[place]; }
  const Pair& operator[](Place place) const { return pairs_[place]; }
  size_t size() const { return places_.size(); }
  // When the oldest message that waits was appended, if its msg1 came. Looks at every pair.
  std::optional<UnixMs> OldestPending() const {
    std::optional<UnixMs> oldest;
    for (const Pair& pair : pairs_) {
      if (pair.pending() && pair.whole)
        oldest = std::min(oldest.value_or(pair.appended), pair.appended);
    }
    return oldest;
  }

 private:
  std::vector<Pair> pairs_;
  std::vector<Place> free_;
  std::unordered_map<EdgeKey, Place> places_;
};

}  // namespace fanline::reconciler
