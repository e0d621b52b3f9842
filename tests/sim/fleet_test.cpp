// The seeded fleet simulation. Replay one schedule:  FANLINE_SIM_SEED=123
// build/release/bin/fleet_sim (with FANLINE_SIM_TRACE=1 it prints every action).
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "tests/sim/fleet.h"

namespace fanline::sim {
namespace {

// A new one each time, unless FANLINE_SIM_FIRST_SEED asks for the same ones again.
uint64_t FirstSeed() {
  if (const char* given = std::getenv("FANLINE_SIM_FIRST_SEED")) {
    return std::strtoull(given, nullptr, 10);
  }
  std::random_device device;
  return (uint64_t{device()} << 32) ^ device();
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kUsualSchedules = 500;  // each takes several times as long
#else
constexpr int kUsualSchedules = 1'000;
#endif

int Schedules() {
  const char* given = std::getenv("FANLINE_SIM_SCHEDULES");
  return given != nullptr ? std::atoi(given) : kUsualSchedules;
}

TEST(Fleet, EveryLiveTimelineAndEveryEdgeIsRightAfterAnySchedule) {
  if (const char* replay = std::getenv("FANLINE_SIM_SEED")) {
    FleetOptions options;
    options.seed = std::strtoull(replay, nullptr, 10);
    options.trace = std::getenv("FANLINE_SIM_TRACE") != nullptr;
    Fleet fleet(options);
    EXPECT_EQ(fleet.Run(), "") << "seed " << replay;
    return;
  }
  const uint64_t first = FirstSeed();
  std::printf("seeds %llu .. +%d\n", static_cast<unsigned long long>(first), Schedules() - 1);
  Fleet::Counts sum;
  for (int i = 0; i < Schedules(); ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    FleetOptions options;
    options.seed = seed;
    Fleet fleet(options);
    const std::string wrong = fleet.Run();
    ASSERT_EQ(wrong, "") << "replay with FANLINE_SIM_SEED=" << seed;
    const auto& counts = fleet.counts();
    sum.checked_timelines += counts.checked_timelines;
    sum.checked_items += counts.checked_items;
    sum.crashes += counts.crashes;
    sum.late_writes += counts.late_writes;
    sum.zombies += counts.zombies;
    sum.rollbacks += counts.rollbacks;
    sum.flushes += counts.flushes;
    sum.expiries += counts.expiries;
    sum.trimmed += counts.trimmed;
    sum.quarantined += counts.quarantined;
    sum.deleted += counts.deleted;
    sum.hidden += counts.hidden;
    sum.unfollows += counts.unfollows;
    sum.checked_edges += counts.checked_edges;
    sum.shards_away += counts.shards_away;
    sum.checks += counts.checks;
    sum.repairs += counts.repairs;
    sum.sent_to_retries += counts.sent_to_retries;
    for (size_t letter = 0; letter < kLetters; ++letter) {
      sum.letters[letter] += counts.letters[letter];
    }
  }
  std::printf(
      "checked %llu timelines, %llu items; %llu crashes, %llu late writes, %llu moves, "
      "%llu rollbacks, %llu flushes, %llu expiries, %llu trims, %llu quarantined\n",
      static_cast<unsigned long long>(sum.checked_timelines),
      static_cast<unsigned long long>(sum.checked_items),
      static_cast<unsigned long long>(sum.crashes),
      static_cast<unsigned long long>(sum.late_writes),
      static_cast<unsigned long long>(sum.zombies), static_cast<unsigned long long>(sum.rollbacks),
      static_cast<unsigned long long>(sum.flushes), static_cast<unsigned long long>(sum.expiries),
      static_cast<unsigned long long>(sum.trimmed),
      static_cast<unsigned long long>(sum.quarantined));
  std::printf("checked %llu edges; %llu shards away, %llu checks, %llu repairs, %llu retries\n",
              static_cast<unsigned long long>(sum.checked_edges),
              static_cast<unsigned long long>(sum.shards_away),
              static_cast<unsigned long long>(sum.checks),
              static_cast<unsigned long long>(sum.repairs),
              static_cast<unsigned long long>(sum.sent_to_retries));
  for (size_t letter = 0; letter < kLetters; ++letter) {
    std::printf("%s%s %llu", letter == 0 ? "" : ", ", kLetterNames[letter],
                static_cast<unsigned long long>(sum.letters[letter]));
  }
  std::printf("\n");
  // A schedule that exercises nothing proves nothing.
  const auto runs = static_cast<uint64_t>(Schedules());
  EXPECT_GT(sum.checked_timelines, runs);
  EXPECT_GT(sum.checked_items, 2 * runs);
  EXPECT_GT(sum.crashes, runs);
  EXPECT_GT(sum.late_writes, runs);
  EXPECT_GT(sum.zombies, runs);
  EXPECT_GT(sum.rollbacks, runs / 2);
  EXPECT_GT(sum.expiries, runs);
  EXPECT_GT(sum.trimmed, runs / 4);
  EXPECT_GT(sum.checked_edges, 4 * runs);
  EXPECT_GT(sum.shards_away, runs / 2);
  EXPECT_GT(sum.checks, 2 * runs);
  EXPECT_GT(sum.repairs, runs / 2);
  EXPECT_GT(sum.sent_to_retries, runs);
  for (size_t letter = 0; letter < kLetters; ++letter) {
    EXPECT_GT(sum.letters[letter], runs / 100) << kLetterNames[letter] << " hardly occurs";
  }
  EXPECT_GT(sum.deleted + sum.hidden + sum.unfollows, 10 * runs);
}

}  // namespace
}  // namespace fanline::sim
