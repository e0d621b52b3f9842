// Each guard of the design, switched off in turn, must make the simulation fail: on seeds pinned
// for it, and on fresh ones. A guard whose absence nobody notices is not tested.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/sim/fleet.h"

namespace fanline::sim {
namespace {

struct Mutation {
  const char* name;
  std::function<void(Guards&)> take_away;
  std::vector<uint64_t> pinned;  // schedules that were found to fail without the guard
  int fresh;                     // so many fresh schedules must hold a failing one
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

std::string RunWithout(const Mutation& mutation, uint64_t seed) {
  FleetOptions options;
  options.seed = seed;
  mutation.take_away(options.guards);
  return Fleet(options).Run();
}

// Pinned schedules fail in another place once the logic or the simulation draws differently.
std::string FirstSeedsThatNotice(const Mutation& mutation) {
  std::string found = "seeds that notice it now:";
  int wanted = 3;
  for (uint64_t seed = 1; wanted > 0 && seed < 5'000; ++seed) {
    if (RunWithout(mutation, seed).empty()) continue;
    found += " " + std::to_string(seed);
    --wanted;
  }
  return found;
}

class GuardTakenAway : public testing::TestWithParam<Mutation> {};

TEST_P(GuardTakenAway, IsNoticedOnPinnedSeeds) {
  const Mutation& mutation = GetParam();
  ASSERT_FALSE(mutation.pinned.empty());
  for (uint64_t seed : mutation.pinned) {
    EXPECT_NE(RunWithout(mutation, seed), "")
        << mutation.name << " off, seed " << seed << "; if the logic or the simulation changed, "
        << FirstSeedsThatNotice(mutation);
    FleetOptions whole;
    whole.seed = seed;
    EXPECT_EQ(Fleet(whole).Run(), "") << "all guards on, seed " << seed;
  }
}

TEST_P(GuardTakenAway, IsNoticedOnFreshSeeds) {
  const Mutation& mutation = GetParam();
  std::random_device device;
  const uint64_t first = (uint64_t{device()} << 32) ^ device();
  for (int i = 0; i < mutation.fresh; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    if (!RunWithout(mutation, seed).empty()) {
      std::printf("%s off: noticed after %d schedules, seed %llu\n", mutation.name, i + 1,
                  static_cast<unsigned long long>(seed));
      return;
    }
  }
  FAIL() << mutation.name << " off was not noticed in seeds " << first << " .. +"
         << mutation.fresh - 1;
}

const Mutation kMutations[] = {
    // clang-format off
    {"sticky_tombstones", [](Guards& guards) { guards.mysql.sticky_tombstones = false; }, {3, 17, 23}, 150},
    {"versions", [](Guards& guards) { guards.mysql.versions = false; }, {4, 29, 32}, 200},
    {"hint_on_every_apply", [](Guards& guards) { guards.mysql.hint_on_every_apply = false; }, {6, 42, 48}, 250},
    {"last_at_grows", [](Guards& guards) { guards.mysql.last_at_grows = false; }, {153, 221, 264}, 600},
    {"fence", [](Guards& guards) { guards.redis.fence = false; }, {58, 169, 258}, 1100},
    {"positions", [](Guards& guards) { guards.redis.positions = false; }, {60, 63, 85}, 600},
    {"never_create", [](Guards& guards) { guards.redis.never_create = false; }, {2, 3, 4}, 100},
    {"raise_floor", [](Guards& guards) { guards.redis.raise_floor = false; }, {6, 9, 15}, 100},
    {"record_removals", [](Guards& guards) { guards.redis.record_removals = false; }, {58, 95, 154}, 1600},
    {"sync_drops_building", [](Guards& guards) { guards.redis.sync_drops_building = false; }, {33, 75, 128}, 350},
    {"short_rule", [](Guards& guards) { guards.redis.short_rule = false; }, {6, 17, 27}, 300},
    {"hide_building", [](Guards& guards) { guards.redis.hide_building = false; }, {1, 2, 3}, 50},
    {"truth_after_hint", [](Guards& guards) { guards.truth_after_hint = false; }, {3, 4, 7}, 50},
    {"lanes_in_order", [](Guards& guards) { guards.lanes_in_order = false; }, {33, 89, 93}, 1000},
    {"hints_before_commit", [](Guards& guards) { guards.hints_before_commit = false; }, {3, 11, 24}, 100},
    {"writes_before_commit", [](Guards& guards) { guards.writes_before_commit = false; }, {3, 7, 9}, 100},
    {"claim_after_reconnect", [](Guards& guards) { guards.claim_after_reconnect = false; }, {95, 151, 179}, 2400},
    {"hint_after_truth", [](Guards& guards) { guards.hint_after_truth = false; }, {28, 31, 50}, 300},
    // clang-format on
};

INSTANTIATE_TEST_SUITE_P(Fleet, GuardTakenAway, testing::ValuesIn(kMutations),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace fanline::sim
