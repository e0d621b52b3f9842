// Each guard of the pair reconciler, switched off in turn, must make the random schedules go wrong.
#include "tests/mutation_check.h"
#include "tests/unit/reconciler/pair_schedule.h"

namespace fanline::reconciler {
namespace {

std::string RunWith(uint64_t seed, const Guards& guards) {
  return Play(Draw(seed), guards, nullptr);
}

using Mutation = testing::Mutation<Guards>;
class GuardTakenAway : public ::testing::TestWithParam<Mutation> {};

TEST_P(GuardTakenAway, IsNoticedOnPinnedSeeds) {
  testing::ExpectPinnedSeedsToNotice(GetParam(), RunWith,
                                     {.at_least = GetParam().pinned.size(), .searched = 50'000});
}
TEST_P(GuardTakenAway, IsNoticedOnFreshSeeds) {
  testing::ExpectFreshSeedsToNotice(GetParam(), RunWith);
}

TEST_P(GuardTakenAway, ShrinksToAScheduleThatCanSpareNoAction) {
  const Guards guards = GetParam().Without();
  for (uint64_t seed : GetParam().pinned) {
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
    {"commit_lowest_pending", [](Guards& guards) { guards.logic.commit_lowest_pending = false; }, {1, 4, 5}},
    {"fire_caught_up", [](Guards& guards) { guards.logic.fire_caught_up = false; }, {6, 12, 27}},
    {"remember_early", [](Guards& guards) { guards.logic.remember_early = false; }, {6, 15, 28}},
    {"release_acknowledged", [](Guards& guards) { guards.logic.release_acknowledged = false; }, {7, 30, 32}},
    {"judge_versions", [](Guards& guards) { guards.judge_versions = false; }, {86, 197, 219}},
    {"apply_by_version", [](Guards& guards) { guards.apply_by_version = false; }, {8, 15, 19}},
    {"read_reverse_first", [](Guards& guards) { guards.read_reverse_first = false; }, {17, 105, 227}},
    // clang-format on
};

INSTANTIATE_TEST_SUITE_P(Pairs, GuardTakenAway, ::testing::ValuesIn(kMutations),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace fanline::reconciler
