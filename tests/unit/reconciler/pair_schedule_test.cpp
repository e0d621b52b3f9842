// Random schedules of the pair tracker and of what surrounds it. Replay one:
// FANLINE_PAIR_SEED=123 build/release/bin/pair_schedule_test --gtest_filter=PairSchedule.*
#include "tests/unit/reconciler/pair_schedule.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace fanline::reconciler {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSchedules = 5'000;
#else
constexpr int kSchedules = 100'000;
#endif

int Schedules() {
  const char* given = std::getenv("FANLINE_PAIR_SCHEDULES");
  return given != nullptr ? std::atoi(given) : kSchedules;
}

uint64_t FirstSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) ^ device();
}

// Empty, or what went wrong and the shortest way to it.
std::string Report(uint64_t seed, const Guards& guards, PairWorld::Counts* counts, bool* healthy) {
  const Schedule schedule = Draw(seed);
  *healthy = schedule.faults.healthy();
  const std::string wrong = Play(schedule, guards, counts);
  if (wrong.empty()) return {};
  const Schedule shrunk = Shrink(schedule, guards);
  return wrong + "\nFANLINE_PAIR_SEED=" + std::to_string(seed) + "; shrunk from " +
         std::to_string(schedule.actions.size()) + " actions to " +
         std::to_string(shrunk.actions.size()) + ", where \"" + Play(shrunk, guards, nullptr) +
         "\"\n" + Describe(shrunk);
}

TEST(PairSchedule, RowsAgreeAndNothingIsLostAfterAnySchedule) {
  PairWorld::Counts counts, sum;
  bool healthy = false;
  if (const char* replay = std::getenv("FANLINE_PAIR_SEED")) {
    EXPECT_EQ(Report(std::strtoull(replay, nullptr, 10), {}, &counts, &healthy), "");
    return;
  }
  const uint64_t first = FirstSeed();
  uint64_t healthy_runs = 0;
  std::printf("seeds %llu .. +%d\n", static_cast<unsigned long long>(first), Schedules() - 1);
  for (int i = 0; i < Schedules(); ++i) {
    ASSERT_EQ(Report(first + static_cast<uint64_t>(i), {}, &counts, &healthy), "");
    healthy_runs += healthy ? 1 : 0;
    sum.writes += counts.writes;
    sum.lost_applies += counts.lost_applies;
    sum.lost_hints += counts.lost_hints;
    sum.lost_msg2s += counts.lost_msg2s;
    sum.restarts += counts.restarts;
    sum.moves += counts.moves;
    sum.checks += counts.checks;
    sum.false_alarms += counts.false_alarms;
    sum.repairs += counts.repairs;
    for (size_t cause = 0; cause < 2; ++cause) sum.retries[cause] += counts.retries[cause];
    sum.early += counts.early;
  }
  const auto show = [](const char* what, uint64_t count) {
    std::printf("%llu %s, ", static_cast<unsigned long long>(count), what);
  };
  show("healthy", healthy_runs);
  show("writes", sum.writes);
  show("lost applies", sum.lost_applies);
  show("lost hints", sum.lost_hints);
  show("lost msg2", sum.lost_msg2s);
  show("restarts", sum.restarts);
  show("moves", sum.moves);
  show("checks", sum.checks);
  show("of them equal", sum.false_alarms);
  show("repairs", sum.repairs);
  show("retries after checks in vain", sum.retries[0]);
  show("as too many", sum.retries[1]);
  show("early msg2", sum.early);
  std::printf("\n");
  // Schedules that exercise nothing prove nothing.
  const auto runs = static_cast<uint64_t>(Schedules());
  EXPECT_GT(healthy_runs, runs / 8);
  EXPECT_GT(sum.writes, 5 * runs);
  EXPECT_GT(sum.lost_applies, runs / 10);
  EXPECT_GT(sum.lost_hints, runs / 10);
  EXPECT_GT(sum.lost_msg2s, runs / 10);
  EXPECT_GT(sum.restarts, runs / 10);
  EXPECT_GT(sum.moves, runs / 10);
  EXPECT_GT(sum.checks, runs / 4);
  EXPECT_GT(sum.false_alarms, runs / 10);
  EXPECT_GT(sum.repairs, runs / 10);
  for (uint64_t retries : sum.retries) EXPECT_GT(retries, runs / 500);
  EXPECT_GT(sum.early, runs / 2);
}

}  // namespace
}  // namespace fanline::reconciler
