#include "pusher/units/lanes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fanline::pusher {

void Lanes::Queue(UserId author, Lane& lane) {
  if (lane.turn || lane.waiting.empty() || (in_order_ && lane.units > 0)) return;
  auto& runnable = runnable_[lane.shard];
  lane.turn = runnable.insert(runnable.end(), author);
}

void Lanes::Add(ReceivedHint hint) {
  const Hint* known = hint.hint();
  const UserId author = known ? known->author : UserId{};
  const auto [at, fresh] = lanes_.try_emplace(author);
  Lane& lane = at->second;
  if (fresh) lane.shard = map_->ShardOf(author);
  lane.waiting.push_back(std::move(hint));
  ShardShares::Held& held = shares_.of(lane.shard);
  ++held.jobs;
  if (lane.parked > 0) {
    ++lane.parked;
    ++held.parked;
  }
  Queue(author, lane);
}

// The most hints, of the kind at the lane's head, that may be one unit.
size_t Lanes::MostHints(const Lane& lane, size_t syncs,
                        const std::map<int64_t, BegunHints>& begun) const {
  const Hint* hint = lane.waiting.front().hint();
  if (!hint) return lane.waiting.size();  // one walk serves them all
  if (std::holds_alternative<Hint::Sync>(hint->what)) {
    return std::clamp<size_t>(syncs, 1, limits_->syncs_per_unit);
  }
  const uint32_t most =
      std::min({limits_->posts_per_unit, limits_->items_per_zadd, kMaxAddsPerWrite});
  const auto before = begun.find(lane.waiting.front().record.offset);
  return before == begun.end() ? most : std::clamp(before->second.hints, 1u, most);
}

bool Lanes::runnable() const {
  return std::any_of(runnable_.begin(), runnable_.end(),
                     [](const auto& authors) { return !authors.empty(); });
}

bool Lanes::runnable(UserId author) const {
  const auto lane = lanes_.find(author);
  return lane != lanes_.end() && lane->second.turn;
}

Unit Lanes::Take(UserId author, bool singly, size_t syncs,
                 const std::map<int64_t, BegunHints>& begun) {
  Unit unit{.author = author};
  Lane& lane = lanes_.at(author);
  unit.way.shard = lane.shard;
  runnable_[lane.shard].erase(*std::exchange(lane.turn, std::nullopt));
  unit.alone = singly || lane.singly;
  const size_t most = unit.alone ? 1 : MostHints(lane, syncs, begun);
  const auto kind = [](const ReceivedHint& received) {
    const Hint* hint = received.hint();
    return hint ? hint->what.index() + 1 : 0;
  };
  do {
    unit.hints.push_back(std::move(lane.waiting.front()));
    lane.waiting.pop_front();
  } while (!lane.waiting.empty() && unit.hints.size() < most &&
           kind(lane.waiting.front()) == kind(unit.hints.front()));
  if (lane.waiting.empty()) lane.singly = false;
  ++lane.units;
  ++units_;
  Queue(unit.author, lane);
  return unit;
}

void Lanes::Finished(const Unit& unit) {
  const auto lane = lanes_.find(unit.author);
  --lane->second.units;
  --units_;
  shares_.of(lane->second.shard).jobs -= unit.hints.size();
  Queue(unit.author, lane->second);
  if (lane->second.waiting.empty() && lane->second.units == 0) lanes_.erase(lane);
}

void Lanes::TakeApart(Unit unit) {
  Lane& lane = lanes_.at(unit.author);
  lane.singly = true;
  lane.waiting.insert(lane.waiting.begin(), std::make_move_iterator(unit.hints.begin()),
                      std::make_move_iterator(unit.hints.end()));
  --lane.units;
  --units_;
  if (lane.turn) return;
  auto& runnable = runnable_[lane.shard];
  lane.turn = runnable.insert(runnable.begin(), unit.author);
}

void Lanes::SetParked(const Unit& unit, bool parked) {
  Lane& lane = lanes_.at(unit.author);
  size_t& of_shard = shares_.of(lane.shard).parked;
  of_shard -= lane.parked;
  lane.parked = parked ? unit.hints.size() + lane.waiting.size() : 0;
  of_shard += lane.parked;
  parked ? ++parked_units_ : --parked_units_;
}

}  // namespace fanline::pusher
