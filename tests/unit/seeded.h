// Random input for property tests, with a new seed each run. Every failure in this object's scope
// prints the seed. FANLINE_TEST_SEED=<seed> repeats a run.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace fanline::testing {

class Seeded {
 public:
  uint64_t seed() const { return seed_; }
  uint64_t Bits() { return engine_(); }
  // 0 .. bound-1
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Small, medium and very large ones alike, 1 .. 2^64-2.
  uint64_t Id() {
    const uint64_t id = engine_() >> Below(64);
    return id == 0 ? 1 : id == UINT64_MAX ? id - 1 : id;
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  static uint64_t Seed() {
    if (const char* given = std::getenv("FANLINE_TEST_SEED")) return std::stoull(given);
    return std::random_device{}();
  }

  const uint64_t seed_ = Seed();
  std::mt19937_64 engine_{seed_};
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "FANLINE_TEST_SEED=" + std::to_string(seed_)};
};

}  // namespace fanline::testing
