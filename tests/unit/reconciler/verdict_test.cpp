#include "reconciler/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "tests/unit/seeded.h"

namespace fanline {

inline void PrintTo(const EdgeState& state, std::ostream* out) {
  *out << "ver " << state.ver << (state.live ? " live" : " tombstone") << " pos " << state.pos
       << ' ' << NameOf(state.delivery);
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
constexpr EdgeState Muted(uint64_t ver) { return {ver, true, 5, Delivery::kNone}; }
constexpr EdgeState Odd(uint64_t ver) { return {ver, true, 5, StoredDelivery(7)}; }
constexpr EdgeState Gone(uint64_t ver, UnixMs pos = 5) { return {ver, false, pos}; }
constexpr EdgeClaim kScan;
constexpr EdgeClaim Msg1(const EdgeState& state) { return {state, true}; }
constexpr EdgeClaim Msg2(uint64_t ver) { return {{ver}, false}; }
constexpr bool kFree = false, kGuarded = true;

struct Line {
  EdgeState reverse, forward;
  EdgeClaim claim;
  Verdict expected;
};

const Verdict kEqual{};

// clang-format off
const Line kTable[] = {
    // Equal.
    {kNone,   kNone,   kScan, kEqual},
    {Live(7), Live(7), kScan, kEqual},
    {Live(7), Live(7), Msg2(7),     kEqual},
    {Gone(7), Gone(7), kScan, kEqual},
    // Reverse has what is pending; the newer version is on its way, or nobody brings it.
    {Live(7), Gone(8), Msg2(7),     {Finding::kStale,   Action::kApply, Gone(8), kGuarded}},
    {Gone(7), Live(8), Msg2(6),     {Finding::kStale,   Action::kApply, Live(8), kGuarded}},
    // Forward is newer.
    {kNone,   Live(7), kScan, {Finding::kMissing, Action::kApply, Live(7), kFree}},
    {kNone, Live(7), Msg2(7),     {Finding::kMissing, Action::kApply, Live(7), kFree}},
    {kNone, Gone(7), Msg2(7),     {Finding::kMissing, Action::kApply, Gone(7), kFree}},
    {Gone(6), Live(7), Msg2(7),     {Finding::kStale,   Action::kApply, Live(7), kFree}},
    {Live(6), Live(7), kScan, {Finding::kStale,   Action::kApply, Live(7), kFree}},
    {Gone(6), Gone(7), kScan, {Finding::kStale,   Action::kApply, Gone(7), kFree}},
    {Live(6), Gone(7), kScan, {Finding::kStale,   Action::kApply, Gone(7), kGuarded}},
    {Live(6), Gone(7), Msg2(7),     {Finding::kStale,   Action::kApply, Gone(7), kGuarded}},
    // Reverse is newer: forward lost it. Not resolved, even if reverse has what is pending.
    {Live(9), Gone(7), kScan, {Finding::kAhead,   Action::kBump, Live(10), kFree}},
    {Gone(9), Gone(7), Msg2(7),     {Finding::kAhead,   Action::kBump, Gone(10), kFree}},
    {Gone(9), Live(7), kScan, {Finding::kAhead,   Action::kBump, Gone(10), kGuarded}},
    // Forward is older than what it said, or than what was mirrored: it lost that.
    {kNone,   kNone,   Msg1(Live(9)), {Finding::kLost, Action::kBump, Live(10), kFree}},
    {Live(7), Live(7), Msg1(Gone(9)), {Finding::kLost, Action::kBump, Gone(10), kGuarded}},
    {Gone(5), Gone(5), Msg1(Live(9)), {Finding::kLost, Action::kBump, Live(10), kFree}},
    {Live(9), Gone(7), Msg1(Live(9)), {Finding::kLost, Action::kBump, Live(10), kFree}},
    {Live(7), kNone,   Msg1(Live(7)), {Finding::kLost, Action::kBump, Live(8), kFree}},
    {Live(7), kNone,   Msg1(Gone(8)), {Finding::kLost, Action::kBump, Gone(9), kGuarded}},
    {Live(9, 6), Gone(5), Msg1(Live(8, 4)), {Finding::kLost, Action::kBump, Live(10, 6), kFree}},
    {Gone(9), Gone(7), Msg1(Live(9)), {Finding::kLost, Action::kBump, Live(10), kFree}},
    {Live(9), Live(7), Msg2(9), {Finding::kLost, Action::kBump, Live(10), kFree}},
    {Live(9), kNone,   Msg2(9), {Finding::kLost, Action::kBump, Live(10), kGuarded}},
    {Live(7), Live(7), Msg2(9), {Finding::kLost, Action::kReport, kNone, kFree}},  // so did reverse
    {kNone,   kNone,   Msg2(9), {Finding::kLost, Action::kReport, kNone, kFree}},
    // One version, two states.
    {Gone(7), Live(7), kScan, {Finding::kCorrupt, Action::kBump, Live(8), kFree}},
    {Live(7), Gone(7), Msg2(7),     {Finding::kCorrupt, Action::kBump, Gone(8), kGuarded}},
    {Live(7, 4), Live(7, 5), kScan, {Finding::kCorrupt, Action::kBump, Live(8, 5), kFree}},
    {Live(7), Muted(7), kScan, {Finding::kCorrupt, Action::kBump, Muted(8), kFree}},
    {Muted(7), Live(7), Msg2(7),    {Finding::kCorrupt, Action::kBump, Live(8), kFree}},
    // Another choice of what the follow brings takes no follower away.
    {Live(6), Muted(7), kScan, {Finding::kStale,   Action::kApply, Muted(7), kFree}},
    {Muted(9), Live(7), kScan, {Finding::kAhead,   Action::kBump, Muted(10), kFree}},
    {Live(7), Live(7), Msg1(Muted(9)), {Finding::kLost, Action::kBump, Muted(10), kFree}},
    {Muted(7), kNone,   kScan, {Finding::kOrphan,  Action::kBump, Muted(8), kGuarded}},
    // A number that nobody knows is copied to no row, and one that loses is written over.
    {Live(7), Odd(7),  kScan, {Finding::kCorrupt, Action::kReport, kNone, kFree}},
    {kNone,   Odd(7),  Msg2(7),     {Finding::kCorrupt, Action::kReport, kNone, kFree}},
    {Odd(9),  Live(7), kScan, {Finding::kCorrupt, Action::kReport, kNone, kFree}},
    {Odd(9),  kNone,   kScan, {Finding::kCorrupt, Action::kReport, kNone, kGuarded}},
    {Odd(7),  Odd(7),  kScan, {Finding::kCorrupt, Action::kReport, kNone, kFree}},
    {Odd(7),  Odd(7),  Msg2(9),     {Finding::kLost, Action::kReport, kNone, kFree}},
    {Live(7), Live(7), Msg1(Odd(9)), {Finding::kCorrupt, Action::kReport, kNone, kFree}},
    {Odd(7),  Live(7), kScan, {Finding::kCorrupt, Action::kBump, Live(8), kFree}},
    {Odd(6),  Live(7), kScan, {Finding::kStale,   Action::kApply, Live(7), kFree}},
    {Live(9), Odd(7),  kScan, {Finding::kAhead,   Action::kBump, Live(10), kFree}},
    // No forward row.
    {Live(7), kNone,   kScan, {Finding::kOrphan,  Action::kBump, Live(8), kGuarded}},
    {Gone(7), kNone,   kScan, {Finding::kOrphan,  Action::kBump, Gone(8), kFree}},
    // The last version there is.
    {Live(UINT64_MAX), kNone,            kScan, {Finding::kOrphan,  Action::kReport, kNone, kGuarded}},
    {Live(UINT64_MAX), Live(7),          kScan, {Finding::kAhead,   Action::kReport, kNone, kFree}},
    {Live(UINT64_MAX), Gone(UINT64_MAX), kScan, {Finding::kCorrupt, Action::kReport, kNone, kGuarded}},
};
// clang-format on

TEST(Verdict, IsTheTable) {
  for (const Line& line : kTable) {
    EXPECT_EQ(Judge(line.reverse, line.forward, line.claim), line.expected)
        << "reverse " << ::testing::PrintToString(line.reverse) << ", forward "
        << ::testing::PrintToString(line.forward) << ", claim "
        << ::testing::PrintToString(line.claim.state);
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
  if (ver == 0) return kNone;
  EdgeState state{ver, random.OneIn(2), static_cast<UnixMs>(random.Below(3))};
  if (state.live) state.delivery = *DeliveryOf(random.Below(3));
  return state;
}

TEST(Verdict, AnyTwoRowsAreTheSameAfterTwoRoundsAndNoVersionGoesBack) {
  Seeded random;
  for (int round = 0; round < 200'000; ++round) {
    const EdgeState reverse = RandomState(random), forward = RandomState(random);
    EdgeState now_reverse = reverse, now_forward = forward;
    const auto step = [&](const EdgeClaim& claim) {
      const EdgeState was_reverse = now_reverse, was_forward = now_forward;
      const Verdict verdict = Judge(now_reverse, now_forward, claim);
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
    ASSERT_NO_FATAL_FAILURE(step(Msg2(std::min(now_forward.ver, 1 + random.Below(6)))));
    // A follower was taken away only where that was guarded.
    const bool was_live = reverse.ver >= forward.ver ? reverse.live : forward.live && reverse.live;
    if (was_live && !now_reverse.live) {
      ASSERT_TRUE(Judge(reverse, forward, kScan).guarded);
    }
  }
}

TEST(Verdict, WhatAMsg1SaysIsInBothRowsAfterTwoRounds) {
  Seeded random;
  for (int round = 0; round < 50'000; ++round) {
    EdgeState reverse = RandomState(random), forward = RandomState(random);
    const EdgeState said{1 + random.Below(6), random.OneIn(2), 7, *DeliveryOf(random.Below(3))};
    const EdgeState newest = Wins(reverse, said) ? reverse : said;
    const bool lost = forward.ver < said.ver;
    for (int each = 0; each < 2; ++each) {
      const Verdict verdict = Judge(reverse, forward, Msg1(said));
      ASSERT_EQ(verdict.finding == Finding::kLost, lost && each == 0);
      Execute(verdict, reverse, forward);
    }
    ASSERT_EQ(reverse, forward);
    ASSERT_GE(forward.ver, said.ver);
    if (!lost) continue;
    ASSERT_GT(forward.ver, newest.ver);
    ASSERT_EQ(forward.live, newest.live);
    ASSERT_EQ(forward.pos, newest.pos);
    ASSERT_EQ(forward.delivery, newest.delivery);
  }
}

TEST(Verdict, OnlyEqualRowsAreEqualAndWhatOvertookTheClaimedVersionIsLookedAtTwice) {
  Seeded random;
  for (int round = 0; round < 50'000; ++round) {
    const EdgeState reverse = RandomState(random), forward = RandomState(random);
    const uint64_t claimed = 1 + random.Below(6);
    const Verdict verdict = Judge(reverse, forward, Msg2(claimed));
    ASSERT_EQ(verdict == kEqual, reverse == forward && forward.ver >= claimed);
    if (verdict.action == Action::kApply) {
      ASSERT_EQ(verdict.state, forward);
      ASSERT_TRUE(verdict.guarded || reverse.ver < claimed);
    }
  }
}

}  // namespace
}  // namespace reconciler
}  // namespace fanline
