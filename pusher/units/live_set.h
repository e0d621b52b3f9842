// Readers who may be live, with the numbers that Redis gave them (audience.h).
//
// Most readers who are looked up are not in it. So a bit is asked first: a reader's id names one of
// many bits, eight or more for each reader of the set. Only if it is set, the reader is looked for.
// Readers who left leave their bits behind until all are set anew.
//
// Passive, not thread-safe.
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fanline/model/ids.h"

namespace fanline::pusher {

class LiveSet {
 public:
  bool holds(UserId reader) const { return bits_[PlaceOf(reader)] && numbers_.contains(reader); }

  // A reader who is there already gets the new number.
  void Add(UserId reader, uint64_t number) {
    if (!numbers_.insert_or_assign(reader, number).second) return;
    if (++marked_ * kPlacesEach > bits_.size()) {
      MarkAnew();
    } else {
      bits_[PlaceOf(reader)] = true;
    }
  }
  // Removes a reader whose number is at most this one.
  void Remove(UserId reader, uint64_t number) {
    const auto known = numbers_.find(reader);
    if (known != numbers_.end() && known->second <= number) numbers_.erase(known);
  }

  size_t size() const { return numbers_.size(); }

 private:
  static constexpr size_t kPlacesEach = 8;

  // The upper bits of the product are the best mixed ones. There are at least two places.
  size_t PlaceOf(UserId reader) const {
    return Raw(reader) * 0x9e3779b97f4a7c15 >> (65 - std::bit_width(bits_.size()));
  }
  void MarkAnew() {
    marked_ = numbers_.size();
    bits_.assign(std::bit_ceil(2 * kPlacesEach * marked_), false);
    for (const auto& [reader, number] : numbers_) bits_[PlaceOf(reader)] = true;
  }

  std::unordered_map<UserId, uint64_t> numbers_;
  std::vector<bool> bits_ = std::vector<bool>(kPlacesEach);
  size_t marked_ = 0;  // readers who were added since the bits were set anew, and those of then
};

}  // namespace fanline::pusher
