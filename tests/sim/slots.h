// The places of the ranges. Each range is a slot of a Redis Cluster on one of two nodes. It may be
// moving to the other node, key by key as with MIGRATE. Meanwhile the old node carries out a call
// only if it has all keys that the call names. Otherwise it answers ASK or TRYAGAIN, and a pusher
// takes both for "later". Not simulated: a node that loses writes while a slot moves, or writes
// made before a slot came.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tests/fakes/fake_redis.h"
#include "tests/sim/chance.h"

namespace fanline::sim {

// The keys of a range besides its timelines, which are named by their readers. maxfloor: goes with
// live:.
inline constexpr UserId kOwnKey{UINT64_MAX}, kLiveKey{UINT64_MAX - 1}, kPosKey{UINT64_MAX - 2};
inline constexpr UserId kNoKey{UINT64_MAX - 3};  // never exists

class Slots {
 public:
  static constexpr uint32_t kNodes = 2;
  using Keys = std::vector<UserId>;

  Slots(const fakes::FakeRedis& redis, const Character& of, uint64_t seed)
      : redis_(redis), random_(seed ^ 0x8ebc6af09c88c6e3) {
    for (uint32_t range = 0; range < kRanges; ++range) slots_[range].stay.node = range % of.nodes;
  }

  uint32_t NodeOf(Range range) const { return At(range).stay.node; }
  // One stay of a range at a node. The range may leave and come back, which is another stay.
  struct Stay {
    uint32_t node = 0;
    uint64_t number = 0;
    friend bool operator==(const Stay&, const Stay&) = default;
  };
  Stay StayOf(Range range) const { return At(range).stay; }
  bool moving(Range range) const { return At(range).left.has_value(); }
  bool moving() const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.left.has_value(); });
  }

  bool Has(Range range, UserId key) const {
    const auto& left = At(range).left;
    return Exists(range, key) &&
           (!left || std::find(left->begin(), left->end(), key) != left->end());
  }
  // Whether the node carries out a call that names these keys.
  bool Takes(Range range, const Keys& keys) const {
    return !moving(range) ||
           std::all_of(keys.begin(), keys.end(), [&](UserId key) { return Has(range, key); });
  }

  // Notes that a walk over the keys of the range began, which is the worst time for a move.
  void WalkBegan(Range range) { walked_ = range; }
  std::optional<Range> TakeWalked() { return std::exchange(walked_, std::nullopt); }

  void BeginMove(Range range) {
    if (moving(range)) return;
    Keys keys;
    for (const auto& [reader, timeline] : redis_.timelines()) {
      if (RangeLayout(kRanges).RangeOf(reader) == range) keys.push_back(reader);
    }
    std::shuffle(keys.begin(), keys.end(), random_);
    // The last key moves first. Often these are timelines, so calls still succeed for a while.
    keys.insert(keys.begin(), {kOwnKey, kLiveKey, kPosKey});
    if (random_() % 2 == 0) std::shuffle(keys.begin(), keys.end(), random_);
    At(range).left = std::move(keys);
  }
  // Sometimes moves a key. Returns a range whose last key has moved, if there is one.
  std::optional<Range> Step() {
    for (Range range = 0; range < static_cast<Range>(kRanges); ++range) {
      Slot& slot = At(range);
      if (!slot.left || random_() % 12 != 0) continue;
      if (!slot.left->empty()) slot.left->pop_back();
      if (!slot.left->empty()) continue;
      slot.left.reset();
      slot.stay = {(slot.stay.node + 1) % kNodes, slot.stay.number + 1};
      return range;
    }
    return std::nullopt;
  }

 private:
  struct Slot {
    Stay stay;
    std::optional<Keys> left;  // while it moves: the keys still at the node
  };

  Slot& At(Range range) { return slots_[static_cast<size_t>(range)]; }
  const Slot& At(Range range) const { return slots_[static_cast<size_t>(range)]; }
  bool Exists(Range range, UserId key) const {
    if (key == kNoKey) return false;
    if (key == kOwnKey) return redis_.own(range).has_value();
    if (key == kPosKey) return redis_.position(range).has_value();
    if (key == kLiveKey) return !redis_.LiveMembers(range).empty();
    return redis_.timelines().contains(key);
  }

  const fakes::FakeRedis& redis_;
  std::mt19937_64 random_;
  std::array<Slot, kRanges> slots_{};
  std::optional<Range> walked_;
};

}  // namespace fanline::sim
