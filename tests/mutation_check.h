// A mutation check: a guard of the logic is taken away, and random schedules must then go wrong, on
// seeds pinned for it and on fresh ones. A guard whose absence nobody notices is not tested.
//
// `run(seed, guards)` plays the schedule of a seed, and says what went wrong: empty = nothing.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace fanline::testing {

struct AnySeed {
  bool operator()(uint64_t) const { return true; }
};

template <class Guards, class Fitting = AnySeed>
struct Mutation {
  const char* name;
  std::function<void(Guards&)> take_away;
  std::vector<uint64_t> pinned;  // schedules that were found to go wrong without the guard
  int fresh;                     // so many fresh schedules must hold one that does
  Fitting fits{};                // fresh seeds that do not are passed over

  friend void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }
  Guards Without() const {
    Guards guards;
    take_away(guards);
    return guards;
  }
};

struct OfPinned {
  size_t at_least = 1;    // so many must notice it
  uint64_t searched = 0;  // below this seed others are looked for when too few do
};

template <class Mutation, class Run>
void ExpectPinnedSeedsToNotice(const Mutation& mutation, Run run, OfPinned expected) {
  const auto guards = mutation.Without();
  size_t noticed = 0;
  for (const uint64_t seed : mutation.pinned) {
    noticed += !run(seed, guards).empty();
    EXPECT_EQ(run(seed, {}), "") << "all guards on, seed " << seed;
  }
  std::printf("%s off: %zu of %zu pinned seeds notice it\n", mutation.name, noticed,
              mutation.pinned.size());
  if (noticed > 0 && noticed >= expected.at_least) return;
  // Pinned schedules go wrong in another place once the logic or its world draws differently.
  std::string now;
  int wanted = 3;
  for (uint64_t seed = 1; wanted > 0 && seed < expected.searched; ++seed) {
    if (!mutation.fits(seed) || run(seed, guards).empty()) continue;
    now += " " + std::to_string(seed);
    --wanted;
  }
  FAIL() << mutation.name
         << " off; if the logic or its world changed, seeds that notice it now:" << now;
}

template <class Mutation, class Run>
void ExpectFreshSeedsToNotice(const Mutation& mutation, Run run) {
  std::random_device device;
  const uint64_t first = (uint64_t{device()} << 32) ^ device();
  uint64_t seed = first;
  for (int played = 1; played <= mutation.fresh; ++played, ++seed) {
    while (!mutation.fits(seed)) ++seed;
    const std::string wrong = run(seed, mutation.Without());
    if (wrong.empty()) continue;
    std::printf("%s off: noticed after %d schedules, seed %llu: %s\n", mutation.name, played,
                static_cast<unsigned long long>(seed), wrong.c_str());
    return;
  }
  FAIL() << mutation.name << " off was not noticed in " << mutation.fresh << " schedules, seeds "
         << first << " .. " << seed - 1;
}

}  // namespace fanline::testing
