#include "reconciler/pair_table.h"

#include <algorithm>

#include "fanline/model/bucket.h"

namespace fanline::reconciler {

size_t PairTable::SlotOf(const EdgeKey& edge, uint32_t hash) const {
  size_t slot = hash & mask_;
  while (slots_[slot].place != kNone &&
         (slots_[slot].hash != hash || pairs_[slots_[slot].place].edge != edge)) {
    slot = Next(slot);
  }
  return slot;
}

PairTable::Place PairTable::Find(const EdgeKey& edge) const {
  return slots_[SlotOf(edge, HashOf(edge))].place;
}

PairTable::Place PairTable::Take(const EdgeKey& edge) {
  const uint32_t hash = HashOf(edge);
  size_t slot = SlotOf(edge, hash);
  if (slots_[slot].place != kNone) return slots_[slot].place;
  if ((size() + 1) * 5 > slots_.size() * 3) {
    Grow();
    slot = SlotOf(edge, hash);
  }
  Place place = static_cast<Place>(pairs_.size());
  if (free_.empty()) {
    pairs_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
    pairs_[place] = {};
  }
  pairs_[place].edge = edge;
  pairs_[place].src_bucket = static_cast<uint16_t>(BucketOf(edge.src));
  pairs_[place].dst_bucket = static_cast<uint16_t>(BucketOf(edge.dst));
  slots_[slot] = {hash, place};
  return place;
}

// Closes the gap by moving back slots that were pushed past it, so no marks of deletion pile up.
void PairTable::Erase(Place place) {
  size_t gap = SlotOf(pairs_[place].edge, HashOf(pairs_[place].edge));
  for (size_t next = Next(gap); slots_[next].place != kNone; next = Next(next)) {
    const size_t home = slots_[next].hash & mask_;
    if (((next - home) & mask_) < ((next - gap) & mask_)) continue;  // it would leave its run
    slots_[gap] = slots_[next];
    gap = next;
  }
  slots_[gap] = {};
  pairs_[place] = {};
  free_.push_back(place);
}

std::optional<UnixMs> PairTable::OldestPending() const {
  std::optional<UnixMs> oldest;
  for (const Pair& pair : pairs_) {
    if (pair.pending() && pair.whole)
      oldest = std::min(oldest.value_or(pair.appended), pair.appended);
  }
  return oldest;
}

void PairTable::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& moved : old) {
    if (moved.place == kNone) continue;
    size_t slot = moved.hash & mask_;
    while (slots_[slot].place != kNone) slot = Next(slot);
    slots_[slot] = moved;
  }
}

}  // namespace fanline::reconciler
