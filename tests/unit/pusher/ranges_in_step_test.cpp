// Ranges of one process that stand at different places of their logs still ask MariaDB for the same
// author together.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using Asked = std::vector<std::pair<Range, UserId>>;

constexpr UserId kCid{1003};

// What is asked of the truth, in this order.
Asked AskedNow(const World& w) {
  Asked asked;
  for (const TruthRequest& call : w.truth_calls) {
    const auto& page = std::get<ReadPostPage>(call);
    asked.emplace_back(page.range, page.author);
  }
  return asked;
}

Limits Places(uint32_t units) {
  Limits limits;
  limits.units_in_flight = units;
  return limits;
}

struct TwoRanges : World {
  explicit TwoRanges(uint32_t places) : World(Places(places)) { AssignAll(); }
  void Wait(Range range, std::initializer_list<UserId> authors) {
    for (const UserId author : authors) Give(range, Hint::OfPost(author, kPost));
  }
};

TEST(RangesInStep, AnAuthorIsAskedForInAllRangesAtOnceWhereverHeStandsInTheirLogs) {
  TwoRanges w(4);
  w.Wait(1, {kAnn, kBen});  // whose turn it is
  w.Wait(0, {kCid, kBen, kAnn});
  w.Step();
  EXPECT_EQ(AskedNow(w), (Asked{{1, kAnn}, {0, kAnn}, {0, kCid}, {1, kBen}}));

  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 5);
}

TEST(RangesInStep, SoHeIsInTheRangesAbove) {
  TwoRanges w(4);
  w.Wait(1, {kCid});
  w.RunUntilIdle();  // so it is the other's turn
  w.Wait(0, {kAnn, kBen});
  w.Wait(1, {kCid, kBen, kAnn});
  w.Step();
  EXPECT_EQ(AskedNow(w), (Asked{{0, kAnn}, {1, kAnn}, {1, kCid}, {0, kBen}}));
}

TEST(RangesInStep, TakeNoPlaceThatIsNotThere) {
  TwoRanges w(1);
  w.Wait(0, {kAnn});
  w.Wait(1, {kAnn});
  w.Step();
  EXPECT_EQ(AskedNow(w).size(), 1u);
}

}  // namespace
}  // namespace fanline::pusher
