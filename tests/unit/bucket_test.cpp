// The vectors are written down, not computed: a reader's bucket is in every row, key and
// partition there is, so it can never change.
#include "fanline/model/bucket.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fanline {
namespace {

TEST(Crc32, IsTheOneOfIeeeAndMariaDb) {
  EXPECT_EQ(Crc32(""), 0u);
  EXPECT_EQ(Crc32("123456789"), 0xCBF43926u);
  EXPECT_EQ(Crc32("1"), 0x83DCEFB7u);
}

TEST(Crc16, IsTheOneRedisClusterHashesSlotsWith) {
  EXPECT_EQ(Crc16(""), 0u);
  EXPECT_EQ(Crc16("123456789"), 0x31C3u);
}

TEST(BucketOf, KeepsItsVectors) {
  const std::pair<uint64_t, Bucket> vectors[] = {
      {1ULL, 951},
      {2ULL, 525},
      {42ULL, 136},
      {1000ULL, 791},
      {75879ULL, 780},
      {9007199254740992ULL, 929},
      {9223372036854775808ULL, 847},
      {18446744073709551614ULL, 396},
  };
  for (const auto& [user, bucket] : vectors) EXPECT_EQ(BucketOf(UserId{user}), bucket) << user;
}

TEST(TagOf, KeepsItsVectors) {
  const std::pair<Bucket, const char*> vectors[] = {
      {0, "3560"}, {1, "4883"}, {173, "69571"}, {511, "68564"}, {512, "8209"}, {1023, "430"},
  };
  for (const auto& [bucket, tag] : vectors) EXPECT_EQ(TagOf(bucket), tag) << bucket;
}

TEST(TagOf, LiesInSlotSixteenTimesTheBucket) {
  for (Bucket bucket = 0; bucket < kBuckets; ++bucket) {
    EXPECT_EQ(Crc16(TagOf(bucket)) % 16384u, 16 * bucket) << TagOf(bucket);
  }
}

TEST(RangeLayout, CutsAllBucketsIntoContiguousRanges) {
  for (uint32_t partitions = 1; partitions <= kBuckets; partitions *= 2) {
    const RangeLayout layout(partitions);
    Bucket next = 0;
    for (Range range = 0; range < static_cast<Range>(partitions); ++range) {
      ASSERT_EQ(layout.First(range), next);
      for (; next <= layout.Last(range); ++next) ASSERT_EQ(layout.RangeOf(next), range);
    }
    EXPECT_EQ(next, kBuckets) << partitions;
  }
}

TEST(RangeLayout, TakesOnlyDivisorsOf1024) {
  for (uint32_t good : {1u, 2u, 16u, 512u, 1024u}) EXPECT_TRUE(RangeLayout::Divides(good)) << good;
  for (uint32_t bad : {0u, 3u, 12u, 1000u, 2048u}) EXPECT_FALSE(RangeLayout::Divides(bad)) << bad;
  EXPECT_DEATH(RangeLayout(12), "must divide 1024");
}

TEST(ShardMap, CutsBucketsEvenlyAndReadsItselfBack) {
  for (uint32_t shards : {1u, 2u, 3u, 7u, 1024u}) {
    const ShardMap map = ShardMap::Even(shards);
    std::vector<uint32_t> buckets(shards, 0);
    for (Bucket bucket = 0; bucket < kBuckets; ++bucket) ++buckets[map.ShardOf(bucket)];
    const auto [least, most] = std::minmax_element(buckets.begin(), buckets.end());
    EXPECT_LE(*most - *least, 1u) << shards;

    const auto again = ShardMap::Parse(map.ToString(), shards);
    ASSERT_TRUE(again) << map.ToString();
    EXPECT_EQ(again->ToString(), map.ToString());
  }
  EXPECT_EQ(ShardMap::Even(2).ToString(), "0-511:0,512-1023:1");
}

TEST(ShardMap, ReadsSpansInAnyOrder) {
  const auto map = ShardMap::Parse("1-1023:1,0:0", 2);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->ShardOf(Bucket{0}), 0u);
  EXPECT_EQ(map->ShardOf(Bucket{1}), 1u);
  EXPECT_EQ(map->ShardOf(UserId{1}), 1u);
  EXPECT_EQ(map->shards(), 2u);
}

TEST(ShardMap, RefusesWhatDoesNotPlaceEveryBucketOnce) {
  for (const char* bad : {
           "",                            // nothing
           "0-1022:0",                    // 1023 missing
           "0-511:0,511-1022:1",          // 511 twice and 1023 missing: 1024 all the same
           "0-511:0,511-1023:1",          // 511 twice
           "0-511:0,512-1023:2",          // no such shard
           "0-511:0,512-1024:1",          // no such bucket
           "0-1023",                      // no shard
           "0-1023:",                     // no shard
           "0-1023:0-1",                  // two shards
           "0-1023:x",                    // no number
           "0 -1023:0",                   // a blank
           "-1023:0",                     // half a span
           "511-0:0,512-1023:1,0-511:0",  // backwards
           "0-1023:0,",                   // something missing behind the comma
       }) {
    EXPECT_FALSE(ShardMap::Parse(bad, 2)) << bad;
  }
}

}  // namespace
}  // namespace fanline
