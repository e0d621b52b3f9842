#include "pusher/units/write_batcher.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/seeded.h"

namespace fanline::pusher {
namespace {

// What a batcher only refers to.
struct Held {
  Limits limits;
  size_t waiting_readers = 0;
};
struct Batcher : Held, WriteBatcher {
  explicit Batcher(const Limits& given = {}) : Held{given}, WriteBatcher(limits, waiting_readers) {}
};

Item Post(uint64_t id) { return {PostId{id}, static_cast<UnixMs>(id)}; }

TEST(WriteBatcher, PostsOfDifferentAuthorsMeetInOneTimelinesWrite) {
  Batcher batcher;
  batcher.Add({1, {UserId{5}, UserId{6}}, {Post(10)}, {}});
  batcher.Add({2, {UserId{6}}, {Post(11)}, {Post(12)}});
  std::vector<Share> shares;
  const TimelineBatch batch = batcher.Cut(&shares);

  EXPECT_TRUE(batcher.empty());
  EXPECT_EQ(batch.writes.size(), 2u);
  EXPECT_EQ(batch.adds.size(), 3u);
  EXPECT_EQ(batch.removes, std::vector{Post(12)});
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].writes.size(), 2u);
  EXPECT_EQ(shares[1].writes.size(), 1u);
}

TEST(WriteBatcher, AReaderWhoseWriteIsFullHoldsUpNobodyElse) {
  Batcher batcher({.items_per_zadd = 1});
  batcher.Add({1, {UserId{5}, UserId{6}}, {Post(10)}, {}});
  batcher.Add({2, {UserId{6}, UserId{7}}, {Post(11)}, {}});
  batcher.Add({3, {UserId{8}}, {Post(12)}, {}});
  std::vector<Share> shares;
  EXPECT_EQ(batcher.Cut(&shares).writes.size(), 4u);
  EXPECT_EQ(batcher.waiting_readers, 1u);

  shares.clear();
  const TimelineBatch later = batcher.Cut(&shares);
  ASSERT_EQ(later.writes.size(), 1u);
  EXPECT_EQ(later.writes[0].reader, UserId{6});
  EXPECT_EQ(later.adds, std::vector{Post(11)});
  EXPECT_EQ(shares[0].unit, 2u);
  EXPECT_TRUE(batcher.empty());
}

TEST(WriteBatcher, ReadersOfARangeThatIsLostWaitNoLonger) {
  const Limits limits;
  size_t waiting = 0;
  {
    WriteBatcher batcher(limits, waiting);
    batcher.Add({1, {UserId{5}, UserId{6}}, {Post(10)}, {}});
    EXPECT_EQ(waiting, 2u);
  }
  EXPECT_EQ(waiting, 0u);
}

Contribution PageOf(uint64_t unit, uint64_t first_reader, uint64_t readers, bool large) {
  Contribution page{unit, {}, {Post(unit)}, {}};
  for (uint64_t i = 0; i < readers; ++i) page.readers.push_back(UserId{first_reader + i});
  page.large = large;
  return page;
}

// How many timelines of the next batch each unit gets.
std::map<uint64_t, size_t> NextBatch(WriteBatcher& batcher) {
  std::vector<Share> shares;
  std::map<uint64_t, size_t> timelines;
  EXPECT_FALSE(batcher.Cut(&shares).writes.empty());
  for (const Share& share : shares) timelines[share.unit] += share.writes.size();
  return timelines;
}

using Timelines = std::map<uint64_t, size_t>;

TEST(WriteBatcher, ASmallUnitPassesLargeOnes) {
  Batcher batcher({.timelines_per_batch = 100});
  batcher.Add(PageOf(1, 1'000, 500, true));
  EXPECT_EQ(NextBatch(batcher), (Timelines{{1, 100}})) << "while it is alone it has all";
  batcher.Add(PageOf(2, 1, 10, false));
  EXPECT_EQ(batcher.waiting_readers, 10u) << "of small units";
  EXPECT_EQ(NextBatch(batcher), (Timelines{{1, 90}, {2, 10}}));
  EXPECT_EQ(batcher.waiting_readers, 0u);
  EXPECT_EQ(NextBatch(batcher), (Timelines{{1, 100}}));
}

TEST(WriteBatcher, LargeUnitsGetAQuarterHoweverManySmallOnesWait) {
  Batcher batcher({.timelines_per_batch = 100});
  batcher.Add(PageOf(1, 1'000, 80, true));
  for (uint64_t unit = 2; unit < 12; ++unit)
    batcher.Add(PageOf(unit, 5'000 + unit * 50, 50, false));
  EXPECT_EQ(NextBatch(batcher), (Timelines{{1, 25}, {2, 50}, {3, 25}}));
  EXPECT_EQ(NextBatch(batcher), (Timelines{{1, 25}, {3, 25}, {4, 50}}));
}

TEST(WriteBatcher, WhatMustBeAloneIsAlsoBesideLargeUnits) {
  Batcher batcher;
  batcher.Add(PageOf(1, 1'000, 50, true));
  batcher.Add({2, {UserId{6}}, {Post(11)}, {}, true});
  EXPECT_EQ(NextBatch(batcher), (Timelines{{2, 1}}));
  EXPECT_EQ(NextBatch(batcher), (Timelines{{1, 50}}));
}

// Each (unit, reader) that is put in comes out once, in one batch, with its unit's items, and every
// bound holds in every batch.
TEST(WriteBatcher, LosesNothingAndRepeatsNothingWithinItsBounds) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 300; ++round) {
    const Limits limits{
        .timelines_per_batch = 1 + static_cast<uint32_t>(random.Bits() % 12),
        .items_per_zadd = 1 + static_cast<uint32_t>(random.Bits() % kMaxAddsPerWrite)};
    Batcher batcher(limits);
    std::map<uint64_t, Contribution> given;
    std::set<std::pair<uint64_t, UserId>> expected;
    for (uint64_t unit = 1; unit <= 8; ++unit) {
      Contribution contribution{unit, {}, {}, {}, random.Bits() % 10 == 0};
      contribution.large = !contribution.alone && random.Bits() % 3 == 0;
      std::set<uint64_t> readers;
      for (uint64_t i = random.Bits() % 20; i > 0; --i) readers.insert(1 + random.Bits() % 30);
      for (uint64_t reader : readers) {
        contribution.readers.push_back(UserId{reader});
        expected.emplace(unit, UserId{reader});
      }
      const uint64_t adds = 1 + random.Bits() % limits.items_per_zadd;
      for (uint64_t i = 0; i < adds; ++i) contribution.adds.push_back(Post(unit * 100 + i));
      if (adds < limits.items_per_zadd && random.Bits() % 2 == 0)
        contribution.mark = Mark{UserId{unit}};
      if (random.Bits() % 2 == 0) contribution.removes.push_back(Post(unit * 100 + 99));
      given[unit] = contribution;
      batcher.Add(contribution);
    }
    const auto of_small = [&](const auto& each) { return !given[each.first].large; };
    EXPECT_EQ(batcher.waiting_readers, std::count_if(expected.begin(), expected.end(), of_small));

    while (!batcher.empty()) {
      std::vector<Share> shares;
      const TimelineBatch batch = batcher.Cut(&shares);
      ASSERT_FALSE(batch.writes.empty());
      ASSERT_LE(batch.writes.size(), limits.timelines_per_batch);
      std::set<UserId> readers;
      for (size_t i = 0; i < batch.writes.size(); ++i) {
        ASSERT_TRUE(readers.insert(batch.writes[i].reader).second) << "a reader twice in a batch";
        const uint32_t from = i == 0 ? 0 : batch.writes[i - 1].adds_end;
        const uint32_t marks = i == 0 ? 0 : batch.writes[i - 1].marks_end;
        ASSERT_LE(batch.writes[i].adds_end - from + batch.writes[i].marks_end - marks,
                  limits.items_per_zadd);
      }
      for (const Share& share : shares) {
        if (given[share.unit].alone) {
          ASSERT_EQ(shares.size(), 1u);
        }
        for (uint32_t write : share.writes) {
          const auto& at = batch.writes.at(write);
          ASSERT_EQ(expected.erase({share.unit, at.reader}), 1u) << "twice, or never given";
          const uint32_t from = write == 0 ? 0 : batch.writes[write - 1].adds_end;
          for (const Item& item : given[share.unit].adds) {
            const auto begin = batch.adds.begin() + from, end = batch.adds.begin() + at.adds_end;
            ASSERT_NE(std::find(begin, end, item), end);
          }
          if (!given[share.unit].mark) continue;
          const uint32_t marks = write == 0 ? 0 : batch.writes[write - 1].marks_end;
          const auto begin = batch.marks.begin() + marks, end = batch.marks.begin() + at.marks_end;
          ASSERT_NE(std::find(begin, end, *given[share.unit].mark), end);
        }
      }
    }
    ASSERT_TRUE(expected.empty()) << expected.size() << " were lost";
    ASSERT_EQ(batcher.waiting_readers, 0u);
  }
}

// Two lanes that are taken apart: one contribution waits while the other is written.
TEST(WriteBatcher, ContributionsThatAreAloneLeaveLargeUnitsEverySecondBatch) {
  Batcher batcher;
  Contribution large{1, {}, {Post(10)}, {}};
  large.large = true;
  for (uint64_t i = 0; i < 5'000; ++i) large.readers.push_back(UserId{1'000 + i});
  batcher.Add(large);
  size_t written = 0;
  for (uint64_t unit = 2; unit < 12; ++unit) {
    batcher.Add({unit, {UserId{5}}, {Post(unit)}, {}, true});
    if (unit < 4) continue;
    std::vector<Share> shares;
    written += batcher.Cut(&shares).writes.size() * (shares.front().unit == 1);
  }
  EXPECT_EQ(written, std::min<size_t>(5'000, 4 * batcher.limits.timelines_per_batch));
}

}  // namespace
}  // namespace fanline::pusher
