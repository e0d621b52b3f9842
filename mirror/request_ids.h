// Applier, relay and event consumer share the ports of one mirror: whose request it was is part of
// its id, so that a reply finds its way back.
#pragma once

#include <cstdint>

namespace fanline::mirror {

enum class Part : uint64_t { kApplier = 0, kRelay = 1, kEvents = 2 };

class RequestIds {
 public:
  explicit RequestIds(Part part) : part_(part) {}
  uint64_t Next() { return ++count_ * kParts + static_cast<uint64_t>(part_); }
  static Part PartOf(uint64_t id) { return static_cast<Part>(id % kParts); }

 private:
  static constexpr uint64_t kParts = 4;
  const Part part_;
  uint64_t count_ = 0;
};

}  // namespace fanline::mirror
