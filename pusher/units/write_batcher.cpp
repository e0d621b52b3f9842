#include "pusher/units/write_batcher.h"

#include <algorithm>

#include "fanline/base/check.h"

namespace fanline::pusher {
namespace {

// Rough upper bounds, in bytes on the wire: of a timeline, with its key and counts, and of each
// item. The adapter cuts calls by exact bytes.
constexpr size_t kBytesPerTimeline = 64;
constexpr size_t kBytesPerItem = 48;
constexpr size_t kBytesPerBatch = 1 << 20;

constexpr size_t kLooksPerTimeline = 8;

}  // namespace

WriteBatcher::~WriteBatcher() {
  for (const Contribution& small : small_) waiting_readers_ -= small.readers.size();
}

void WriteBatcher::Add(Contribution contribution) {
  FANLINE_CHECK(contribution.adds.size() + contribution.mark.has_value() <= kMaxAddsPerWrite,
                "too many adds for one write");
  FANLINE_CHECK(!(contribution.alone && contribution.large), "alone among large units");
  if (contribution.readers.empty()) return;
  if (!contribution.large) waiting_readers_ += contribution.readers.size();
  (contribution.large ? large_ : small_).push_back(std::move(contribution));
}

// Takes one more write of these sizes to that reader into the batch, if it fits.
WriteBatcher::Fit WriteBatcher::Take(const Slot& wanted, uint32_t* slot) {
  const auto& [reader, adds, removes, marks] = wanted;
  const uint32_t most_items = std::min(limits_.items_per_zadd, kMaxAddsPerWrite);
  const auto known = slot_of_.find(reader);
  if (known == slot_of_.end()) {
    if (slots_.size() >= room_ || bytes_ >= kBytesPerBatch) return Fit::kNoRoom;
    *slot = static_cast<uint32_t>(slots_.size());
    slot_of_.emplace(reader, *slot);
    slots_.push_back(wanted);
    bytes_ += kBytesPerTimeline;
  } else {
    *slot = known->second;
    Slot& write = slots_[*slot];
    if (write.adds + write.marks + adds + marks > most_items ||
        write.removes + removes > kMaxAddsPerWrite) {
      return Fit::kWriteFull;
    }
    write.adds += adds;
    write.removes += removes;
    write.marks += marks;
  }
  bytes_ += (adds + removes + marks) * kBytesPerItem;
  return Fit::kTaken;
}

// Moves readers of one contribution into the batch. Those whose write is full stay behind for the
// next batch. Returns false if the batch has no room for another timeline.
bool WriteBatcher::TakeFrom(Contribution& from, Piece& piece) {
  const auto adds = static_cast<uint32_t>(from.adds.size());
  const auto removes = static_cast<uint32_t>(from.removes.size());
  auto stays = from.readers.begin();
  Fit fit = Fit::kTaken;
  for (const UserId reader : from.readers) {
    uint32_t slot = 0;
    if (fit != Fit::kNoRoom) fit = Take({reader, adds, removes, from.mark.has_value()}, &slot);
    if (fit == Fit::kTaken) {
      piece.slots.push_back(slot);
    } else {
      *stays++ = reader;
    }
  }
  from.readers.erase(stays, from.readers.end());
  if (!from.large) waiting_readers_ -= piece.slots.size();
  return fit != Fit::kNoRoom;
}

TimelineBatch WriteBatcher::Cut(std::vector<Share>* shares) {
  slots_.clear();
  slot_of_.clear();
  bytes_ = 0;
  const size_t all = limits_.timelines_per_batch;
  const size_t quarter = (all + 3) / 4;
  const bool alone = !small_.empty() && small_.front().alone;
  const bool both = !large_.empty() && !small_.empty() && !alone;
  const bool only_large = small_.empty() || (alone && was_alone_ && !large_.empty());
  was_alone_ = alone && !only_large;
  std::vector<Piece> pieces;
  size_t smalls = 0;
  size_t larges = 0;
  if (!only_large) {
    smalls = TakeFrom(small_, both ? std::max<size_t>(1, all - quarter) : all, pieces);
  }
  if (only_large || both) larges = TakeFrom(large_, all, pieces);
  TimelineBatch batch = Assemble(pieces, shares);
  DropUsedUp(small_, smalls);
  DropUsedUp(large_, larges);
  return batch;
}

// Moves readers of the oldest contributions into the batch, until it has this many `timelines`.
// Returns how many contributions it looked at.
size_t WriteBatcher::TakeFrom(Queue& queue, size_t timelines, std::vector<Piece>& pieces) {
  room_ = timelines;
  size_t looked_at = 0;  // readers; a queue full of one popular reader is not searched to its end
  size_t end = 0;
  for (bool room = true; room && end < queue.size(); ++end) {
    if (end > 0 && (queue[end].alone || queue[end - 1].alone)) break;
    looked_at += queue[end].readers.size();
    Piece piece{&queue[end], {}};
    room =
        TakeFrom(queue[end], piece) && looked_at < kLooksPerTimeline * limits_.timelines_per_batch;
    if (!piece.slots.empty()) pieces.push_back(std::move(piece));
  }
  return end;
}

// Removes the contributions without readers left from the first `end`; the others keep their order.
void WriteBatcher::DropUsedUp(Queue& queue, size_t end) {
  size_t kept = end;
  for (size_t i = end; i-- > 0;) {
    if (queue[i].readers.empty()) continue;
    if (--kept != i) queue[kept] = std::move(queue[i]);
  }
  queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(kept));
}

TimelineBatch WriteBatcher::Assemble(std::vector<Piece>& pieces, std::vector<Share>* shares) {
  TimelineBatch batch;
  std::vector<uint32_t> next_add;
  std::vector<uint32_t> next_remove;
  std::vector<uint32_t> next_mark;
  uint32_t adds = 0;
  uint32_t removes = 0;
  uint32_t marks = 0;
  batch.writes.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    next_add.push_back(adds);
    next_remove.push_back(removes);
    next_mark.push_back(marks);
    adds += slot.adds;
    removes += slot.removes;
    marks += slot.marks;
    batch.writes.push_back({slot.reader, adds, removes, marks});
  }
  batch.adds.resize(adds);
  batch.removes.resize(removes);
  batch.marks.resize(marks);
  for (Piece& piece : pieces) {
    const Contribution& from = *piece.from;
    for (uint32_t slot : piece.slots) {
      for (const Item& item : from.adds) batch.adds[next_add[slot]++] = item;
      for (const Item& item : from.removes) batch.removes[next_remove[slot]++] = item;
      if (from.mark) batch.marks[next_mark[slot]++] = *from.mark;
    }
    shares->push_back({from.unit, std::move(piece.slots)});
  }
  return batch;
}

}  // namespace fanline::pusher
