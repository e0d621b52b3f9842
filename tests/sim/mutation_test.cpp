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
  for (uint64_t seed = 1; wanted > 0 && seed < 1'500; ++seed) {
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
  size_t noticed = 0;
  for (uint64_t seed : mutation.pinned) {
    noticed += !RunWithout(mutation, seed).empty();
    FleetOptions whole;
    whole.seed = seed;
    EXPECT_EQ(Fleet(whole).Run(), "") << "all guards on, seed " << seed;
  }
  // One is enough: what is drawn differently here and there needs no other seeds.
  if (noticed == 0) {
    ADD_FAILURE() << mutation.name << " off; if the logic or the simulation changed, "
                  << FirstSeedsThatNotice(mutation);
  } else if (noticed < mutation.pinned.size()) {
    std::printf("%zu of %zu pinned seeds notice it\n", noticed, mutation.pinned.size());
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
    {"sticky_tombstones", [](Guards& guards) { guards.mysql.sticky_tombstones = false; }, {8, 16, 22}, 150},
    {"versions", [](Guards& guards) { guards.mysql.versions = false; }, {4, 10, 12}, 250},
    {"hint_on_every_apply", [](Guards& guards) { guards.mysql.hint_on_every_apply = false; }, {22, 48, 120}, 700},
    {"last_at_grows", [](Guards& guards) { guards.mysql.last_at_grows = false; }, {18, 26, 33}, 1200},
    {"fence", [](Guards& guards) { guards.redis.fence = false; }, {12, 57, 71, 95, 116, 134, 144, 279}, 1400},
    {"positions", [](Guards& guards) { guards.redis.positions = false; }, {5, 29, 36, 42, 50, 60, 146, 151}, 600},
    {"never_create", [](Guards& guards) { guards.redis.never_create = false; }, {2, 11, 13}, 100},
    {"raise_floor", [](Guards& guards) { guards.redis.raise_floor = false; }, {5, 6, 15}, 100},
    {"record_removals", [](Guards& guards) { guards.redis.record_removals = false; }, {4, 78, 105}, 3200},
    {"sync_drops_building", [](Guards& guards) { guards.redis.sync_drops_building = false; }, {15, 46, 55}, 400},
    {"short_rule", [](Guards& guards) { guards.redis.short_rule = false; }, {6, 25, 27}, 300},
    {"hide_building", [](Guards& guards) { guards.redis.hide_building = false; }, {1, 3, 6}, 50},
    {"drop_full", [](Guards& guards) { guards.redis.drop_full = false; }, {149, 302, 350, 416, 420}, 3000},
    {"pending_index", [](Guards& guards) { guards.redis.pending_index = false; }, {605, 671, 719}, 4000},
    {"truth_after_hint", [](Guards& guards) { guards.truth_after_hint = false; }, {3, 4, 5}, 50},
    {"lanes_in_order", [](Guards& guards) { guards.lanes_in_order = false; }, {94, 179, 323}, 2400},
    {"hints_before_commit", [](Guards& guards) { guards.hints_before_commit = false; }, {21, 24, 27}, 250},
    {"writes_before_commit", [](Guards& guards) { guards.writes_before_commit = false; }, {6, 20, 21}, 100},
    {"claim_after_reconnect", [](Guards& guards) { guards.claim_after_reconnect = false; }, {42, 53, 125, 151, 202}, 9600},
    {"hint_after_truth", [](Guards& guards) { guards.hint_after_truth = false; }, {207, 319, 326, 53, 56, 66, 97, 124, 184, 349}, 6000},
    {"hint_before_msg2", [](Guards& guards) { guards.hint_before_msg2 = false; }, {27, 91, 102}, 600},
    {"log1_done_last", [](Guards& guards) { guards.log1_done_last = false; }, {1, 8, 13}, 150},
    {"mirror_versions", [](Guards& guards) { guards.mirror_versions = false; }, {1, 6, 8}, 100},
    {"commit_lowest_pending", [](Guards& guards) { guards.commit_lowest_pending = false; }, {112, 116, 122}, 600},
    {"reverse_first", [](Guards& guards) { guards.reverse_first = false; }, {10, 51, 76, 153, 190}, 2000},
    // clang-format on
};

INSTANTIATE_TEST_SUITE_P(Fleet, GuardTakenAway, testing::ValuesIn(kMutations),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace fanline::sim
