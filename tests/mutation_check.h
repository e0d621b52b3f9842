// A mutation check: with a guard of the logic switched off, random schedules must go wrong, both on
// pinned seeds and on fresh ones. A guard is not tested if nobody notices its absence.
//
// `run(seed, guards)` plays the schedule of a seed and returns what went wrong, or empty.
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

// How many fresh schedules must include one that goes wrong. The rarest goes wrong once in 1,500.
// With 80 guards in a run, a bound that one of them often reached would fail for nothing.
constexpr int kFreshSchedules = 20'000;

struct AnySeed {
  bool operator()(uint64_t) const { return true; }
};

template <class Guards, class Fitting = AnySeed>
struct Mutation {
  const char* name;
  std::function<void(Guards&)> take_away;
  std::vector<uint64_t> pinned;  // schedules that went wrong without the guard
  Fitting fits{};                // fresh seeds that do not fit are skipped

  friend void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }
  Guards Without() const {
    Guards guards;
    take_away(guards);
    return guards;
  }
};

struct OfPinned {
  size_t at_least = 1;    // so many of them must notice
  uint64_t searched = 0;  // if too few do, others are searched below this seed
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
  // Pinned schedules go wrong in different places after a change of the draws.
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
  for (int played = 1; played <= kFreshSchedules; ++played, ++seed) {
    while (!mutation.fits(seed)) ++seed;
    const std::string wrong = run(seed, mutation.Without());
    if (wrong.empty()) continue;
    std::printf("%s off: noticed after %d schedules, seed %llu: %s\n", mutation.name, played,
                static_cast<unsigned long long>(seed), wrong.c_str());
    return;
  }
  FAIL() << mutation.name << " off was not noticed in " << kFreshSchedules << " schedules, seeds "
         << first << " .. " << seed - 1;
}

}  // namespace fanline::testing
