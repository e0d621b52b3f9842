// Each guard of the pair reconciler, switched off in turn, must make the random schedules go wrong:
// on seeds pinned for it, and on fresh ones. A guard whose absence nobody notices is not tested.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/reconciler/pair_schedule.h"

namespace fanline::reconciler {
namespace {

struct Mutation {
  const char* name;
  std::function<void(Guards&)> take_away;
  std::vector<uint64_t> pinned;  // schedules that were found to go wrong without the guard
  int fresh;                     // so many fresh schedules must hold one that does
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

std::string PlayWithout(const Mutation& mutation, uint64_t seed) {
  Guards guards;
  mutation.take_away(guards);
  return Play(Draw(seed), guards, nullptr);
}

// Pinned schedules go wrong in another place once the logic or the world draws differently.
std::string FirstSeedsThatNotice(const Mutation& mutation) {
  std::string found = "seeds that notice it now:";
  int wanted = 3;
  for (uint64_t seed = 1; wanted > 0 && seed < 50'000; ++seed) {
    if (PlayWithout(mutation, seed).empty()) continue;
    found += " " + std::to_string(seed);
    --wanted;
  }
  return found;
}

class GuardTakenAway : public testing::TestWithParam<Mutation> {};

TEST_P(GuardTakenAway, IsNoticedOnPinnedSeeds) {
  const Mutation& mutation = GetParam();
  ASSERT_FALSE(mutation.pinned.empty()) << FirstSeedsThatNotice(mutation);
  for (uint64_t seed : mutation.pinned) {
    EXPECT_NE(PlayWithout(mutation, seed), "")
        << mutation.name << " off, seed " << seed << "; if the logic or the world changed, "
        << FirstSeedsThatNotice(mutation);
    EXPECT_EQ(Play(Draw(seed), {}, nullptr), "") << "all guards on, seed " << seed;
  }
}

TEST_P(GuardTakenAway, IsNoticedOnFreshSeeds) {
  const Mutation& mutation = GetParam();
  std::random_device device;
  const uint64_t first = (uint64_t{device()} << 32) ^ device();
  for (int i = 0; i < mutation.fresh; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    const std::string wrong = PlayWithout(mutation, seed);
    if (wrong.empty()) continue;
    std::printf("%s off: noticed after %d schedules, seed %llu: %s\n", mutation.name, i + 1,
                static_cast<unsigned long long>(seed), wrong.c_str());
    return;
  }
  FAIL() << mutation.name << " off was not noticed in seeds " << first << " .. +"
         << mutation.fresh - 1;
}

TEST_P(GuardTakenAway, ShrinksToAScheduleThatCanSpareNoAction) {
  const Mutation& mutation = GetParam();
  Guards guards;
  mutation.take_away(guards);
  for (uint64_t seed : mutation.pinned) {
    const Schedule drawn = Draw(seed), shrunk = Shrink(drawn, guards);
    ASSERT_NE(Play(shrunk, guards, nullptr), "") << Describe(shrunk);
    EXPECT_LT(shrunk.actions.size(), drawn.actions.size()) << Describe(shrunk);
    for (size_t i = 0; i < shrunk.actions.size(); ++i) {
      Schedule without = shrunk;
      without.actions.erase(without.actions.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_EQ(Play(without, guards, nullptr), "") << i << " could be spared\n"
                                                    << Describe(shrunk);
    }
  }
}

const Mutation kMutations[] = {
    // clang-format off
    {"commit_lowest_pending", [](Guards& guards) { guards.logic.commit_lowest_pending = false; }, {1, 4, 5}, 100},
    {"fire_caught_up", [](Guards& guards) { guards.logic.fire_caught_up = false; }, {6, 12, 27}, 1000},
    {"remember_early", [](Guards& guards) { guards.logic.remember_early = false; }, {6, 15, 28}, 500},
    {"release_acknowledged", [](Guards& guards) { guards.logic.release_acknowledged = false; }, {7, 30, 32}, 1000},
    {"judge_versions", [](Guards& guards) { guards.judge_versions = false; }, {86, 197, 219}, 3000},
    {"apply_by_version", [](Guards& guards) { guards.apply_by_version = false; }, {8, 15, 19}, 500},
    {"read_reverse_first", [](Guards& guards) { guards.read_reverse_first = false; }, {17, 105, 235}, 10000},
    // clang-format on
};

INSTANTIATE_TEST_SUITE_P(Pairs, GuardTakenAway, testing::ValuesIn(kMutations),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace fanline::reconciler
