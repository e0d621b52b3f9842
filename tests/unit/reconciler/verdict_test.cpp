#include "reconciler/verdict.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>

#include "tests/unit/seeded.h"

namespace fanline {

inline void PrintTo(const EdgeState& state, std::ostream* out) {
  *out << "ver " << state.ver << (state.live ? " live" : " tombstone") << " pos " << state.pos;
}

namespace reconciler {
namespace {

using fanline::testing::Seeded;
using Action = Verdict::Action;

inline void PrintTo(const Verdict& verdict, std::ostream* out) {
  *out << "finding " << static_cast<int>(verdict.finding) << " action "
       << static_cast<int>(verdict.action) << ", ";
  fanline::PrintTo(verdict.state, out);
  *out << (verdict.guarded ? ", guarded" : "");
}

constexpr EdgeState kNone{};
constexpr EdgeState Live(uint64_t ver, UnixMs pos = 5) { return {ver, true, pos}; }
constexpr EdgeState Gone(uint64_t ver, UnixMs pos = 5) { return {ver, false, pos}; }
constexpr std::optional<uint64_t> kScan;
constexpr bool kFree = false, kGuarded = true;

struct Line {
  EdgeState reverse, forward;
  std::optional<uint64_t> pending;
  Verdict expected;
};

const Verdict kEqual{};

// clang-format off
const Line kTable[] = {
    // Equal, whatever asks.
    {kNone,   kNone,   kScan, kEqual},
    {kNone,   kNone,   9,     kEqual},  // a failover lost the change before it was mirrored
    {Live(7), Live(7), kScan, kEqual},
    {Live(7), Live(7), 7,     kEqual},
    {Live(7), Live(7), 9,     kEqual},  // version 9 was lost by both
    {Gone(7), Gone(7), kScan, kEqual},
    // Reverse has what is pending; the newer version is on its way, or nobody brings it.
    {Live(7), Gone(8), 7,     {Finding::kStale,   Action::kApply, Gone(8), kGuarded}},
    {Gone(7), Live(8), 6,     {Finding::kStale,   Action::kApply, Live(8), kGuarded}},
    // Forward is newer.
    {kNone,   Live(7), kScan, {Finding::kMissing, Action::kApply, Live(7), kFree}},
    {kNone,   Live(7), 7,     {Finding::kMissing, Action::kApply, Live(7), kFree}},
    {kNone,   Gone(7), 7,     {Finding::kMissing, Action::kApply, Gone(7), kFree}},
    {Gone(6), Live(7), 7,     {Finding::kStale,   Action::kApply, Live(7), kFree}},
    {Live(6), Live(7), kScan, {Finding::kStale,   Action::kApply, Live(7), kFree}},
    {Gone(6), Gone(7), kScan, {Finding::kStale,   Action::kApply, Gone(7), kFree}},
    {Live(6), Gone(7), kScan, {Finding::kStale,   Action::kApply, Gone(7), kGuarded}},
    {Live(6), Gone(7), 7,     {Finding::kStale,   Action::kApply, Gone(7), kGuarded}},
    // Reverse is newer: forward lost it. Not resolved, even if reverse has what is pending.
    {Live(9), Gone(7), kScan, {Finding::kAhead,   Action::kBump, Live(10), kFree}},
    {Live(9), Live(7), 9,     {Finding::kAhead,   Action::kBump, Live(10), kFree}},
    {Gone(9), Gone(7), 7,     {Finding::kAhead,   Action::kBump, Gone(10), kFree}},
    {Gone(9), Live(7), kScan, {Finding::kAhead,   Action::kBump, Gone(10), kGuarded}},
    // One version, two states.
    {Gone(7), Live(7), kScan, {Finding::kCorrupt, Action::kBump, Live(8), kFree}},
    {Live(7), Gone(7), 7,     {Finding::kCorrupt, Action::kBump, Gone(8), kGuarded}},
    {Live(7, 4), Live(7, 5), kScan, {Finding::kCorrupt, Action::kBump, Live(8, 5), kFree}},
    // No forward row.
    {Live(7), kNone,   kScan, {Finding::kOrphan,  Action::kBump, Live(8), kGuarded}},
    {Live(7), kNone,   7,     {Finding::kOrphan,  Action::kBump, Live(8), kGuarded}},
    {Gone(7), kNone,   kScan, {Finding::kOrphan,  Action::kBump, Gone(8), kGuarded}},
    // The last version there is.
    {Live(UINT64_MAX), kNone,            kScan, {Finding::kOrphan,  Action::kReport, kNone, kGuarded}},
    {Live(UINT64_MAX), Live(7),          kScan, {Finding::kAhead,   Action::kReport, kNone, kFree}},
    {Live(UINT64_MAX), Gone(UINT64_MAX), kScan, {Finding::kCorrupt, Action::kReport, kNone, kGuarded}},
};
// clang-format on

TEST(Verdict, IsTheTable) {
  for (const Line& line : kTable) {
    EXPECT_EQ(Judge(line.reverse, line.forward, line.pending), line.expected)
        << "reverse " << ::testing::PrintToString(line.reverse) << ", forward "
        << ::testing::PrintToString(line.forward) << ", pending " << line.pending.value_or(0);
  }
}

// What the executor of a verdict does; the mirror's apply is by version.
void Execute(const Verdict& verdict, EdgeState& reverse, EdgeState& forward) {
  if (verdict.action == Action::kApply && Wins(verdict.state, reverse)) reverse = verdict.state;
  if (verdict.action == Action::kBump) forward = verdict.state;
}

EdgeState RandomState(Seeded& random) {
  if (random.OneIn(4)) return kNone;
  const uint64_t ver = random.OneIn(10) ? random.Id() - 1 : random.Below(5);
  return ver == 0 ? kNone : EdgeState{ver, random.OneIn(2), static_cast<UnixMs>(random.Below(3))};
}

TEST(Verdict, AnyTwoRowsAreTheSameAfterTwoRoundsAndNoVersionGoesBack) {
  Seeded random;
  for (int round = 0; round < 200'000; ++round) {
    const EdgeState reverse = RandomState(random), forward = RandomState(random);
    EdgeState now_reverse = reverse, now_forward = forward;
    const auto step = [&](std::optional<uint64_t> pending) {
      const EdgeState was_reverse = now_reverse, was_forward = now_forward;
      const Verdict verdict = Judge(now_reverse, now_forward, pending);
      ASSERT_NE(verdict.action, Action::kReport);
      Execute(verdict, now_reverse, now_forward);
      ASSERT_GE(now_reverse.ver, was_reverse.ver);
      ASSERT_GE(now_forward.ver, was_forward.ver);
      if (verdict.finding != Finding::kEqual) return;
      ASSERT_EQ(now_reverse, was_reverse) << "equal wrote something";
      ASSERT_EQ(now_forward, was_forward) << "equal wrote something";
    };
    ASSERT_NO_FATAL_FAILURE(step(kScan));
    ASSERT_NO_FATAL_FAILURE(step(kScan));
    ASSERT_EQ(now_reverse, now_forward) << "from reverse " << ::testing::PrintToString(reverse)
                                        << ", forward " << ::testing::PrintToString(forward);
    ASSERT_NO_FATAL_FAILURE(step(1 + random.Below(6)));
    // A follower was taken away only where that was guarded.
    const bool was_live = reverse.ver >= forward.ver ? reverse.live : forward.live && reverse.live;
    if (was_live && !now_reverse.live) {
      ASSERT_TRUE(Judge(reverse, forward, kScan).guarded);
    }
  }
}

TEST(Verdict, OnlyEqualRowsAreEqualAndWhatOvertookThePendingVersionIsLookedAtTwice) {
  Seeded random;
  for (int round = 0; round < 50'000; ++round) {
    const EdgeState reverse = RandomState(random), forward = RandomState(random);
    const uint64_t pending = 1 + random.Below(6);
    const Verdict verdict = Judge(reverse, forward, pending);
    ASSERT_EQ(verdict == kEqual, reverse == forward);
    if (verdict.action == Action::kApply) {
      ASSERT_EQ(verdict.state, forward);
      ASSERT_TRUE(verdict.guarded || reverse.ver < pending);
    }
  }
}

}  // namespace
}  // namespace reconciler
}  // namespace fanline
