#include "reconciler/pair_table.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/seeded.h"

namespace fanline::reconciler {
namespace {

using fanline::testing::Seeded;

TEST(PairTable, APairKeepsItsPlaceWhileOthersComeAndGo) {
  PairTable table;
  const auto first = table.Take({UserId{1}, UserId{2}});
  table[first].written = 7;
  for (uint64_t src = 2; src < 5'000; ++src) table.Take({UserId{src}, UserId{2}});
  for (uint64_t src = 2; src < 5'000; src += 2) {
    table.Erase(table.Find({UserId{src}, UserId{2}}));
  }
  EXPECT_EQ(table.Find({UserId{1}, UserId{2}}), first);
  EXPECT_EQ(table[first].written, 7u);
}

TEST(PairTable, APlaceUsedAgainHoldsNothingOfBefore) {
  PairTable table;
  const auto place = table.Take({UserId{1}, UserId{2}});
  table[place].written = table[place].stamp = 7;
  table.Erase(place);
  EXPECT_EQ(table[place].stamp, 0u) << "a timer of before would take it for its own";
  ASSERT_EQ(table.Take({UserId{3}, UserId{4}}), place);
  EXPECT_EQ(table[place].written, 0u);
  EXPECT_EQ(table.Find({UserId{1}, UserId{2}}), PairTable::kNone);
}

TEST(PairTable, KnowsTheOldestPending) {
  PairTable table;
  EXPECT_EQ(table.OldestPending(), std::nullopt);
  for (UnixMs appended : {30, 10, 20}) {
    const auto place = table.Take({UserId{static_cast<uint64_t>(appended)}, UserId{1}});
    table[place].appended = appended;
    table[place].whole = true;
    if (appended != 10) table[place].stage = Pair::Stage::kArmed;
  }
  table[table.Take({UserId{5}, UserId{1}})].stage = Pair::Stage::kArmed;
  EXPECT_EQ(table.OldestPending(), 20) << "a msg2 alone is nobody's delay";
}

// Few keys, so that places are used again in all ways.
TEST(PairTable, DoesWhatAMapDoes) {
  Seeded random;
  for (int round = 0; round < 20; ++round) {
    PairTable table;
    std::map<EdgeKey, uint64_t> model;
    const uint64_t users = 1 + random.Below(60);
    for (int step = 0; step < 20'000; ++step) {
      const EdgeKey edge{UserId{1 + random.Below(users)}, UserId{1 + random.Below(users)}};
      const auto place = table.Find(edge);
      const auto known = model.find(edge);
      ASSERT_EQ(place != PairTable::kNone, known != model.end());
      if (known != model.end()) {
        ASSERT_EQ(table[place].edge, edge);
        ASSERT_EQ(table[place].written, known->second);
      }
      if (known == model.end() || random.OneIn(4)) {
        table[table.Take(edge)].written = model[edge] = random.Bits();
      } else if (random.OneIn(2)) {
        table.Erase(place);
        model.erase(known);
      }
      ASSERT_EQ(table.size(), model.size());
    }
  }
}

}  // namespace
}  // namespace fanline::reconciler
