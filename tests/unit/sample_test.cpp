// Which posts a sampled reader's timeline holds.
#include "fanline/model/sample.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

constexpr UserId kLongest{UINT64_MAX - 1};

// As `printf %s 1:2 | sha1sum` says, and Redis and MariaDB.
TEST(Sha1, HasTheFirstWordThatEverybodyElseComputes) {
  EXPECT_EQ(FirstWordOfSha1(""), 0xda39a3eeu);
  EXPECT_EQ(FirstWordOfSha1("abc"), 0xa9993e36u);
  EXPECT_EQ(FirstWordOfSha1("1:2"), 0xf9adeea0u);
  EXPECT_EQ(FirstWordOfSha1("1000:7"), 0x391de680u);
  EXPECT_EQ(FirstWordOfSha1("18446744073709551614:18446744073709551614"), 0xa811853fu);
}

TEST(Sample, HoldsOneInNPostsOfOthersAndAllOfItsReader) {
  for (const uint32_t one_in : {1u, 2u, 8u, 64u}) {
    const Sample sample{UserId{7}, one_in};
    uint32_t wanted = 0;
    constexpr uint32_t kPosts = 64'000;
    for (uint64_t post = 1; post <= kPosts; ++post) {
      wanted += sample.WantsOfOthers(PostId{post});
      EXPECT_TRUE(sample.Wants(UserId{7}, PostId{post}));
      EXPECT_EQ(sample.Wants(UserId{8}, PostId{post}), sample.WantsOfOthers(PostId{post}));
    }
    EXPECT_NEAR(wanted, kPosts / one_in, kPosts / one_in / 5) << one_in;
  }
}

TEST(Sample, IsNestedAndDiffersFromReaderToReader) {
  uint32_t both = 0, one = 0;
  for (uint64_t post = 1; post <= 10'000; ++post) {
    const bool wanted = Sample{kLongest, 8}.WantsOfOthers(PostId{post});
    EXPECT_LE(wanted, (Sample{kLongest, 4}.WantsOfOthers(PostId{post})));
    one += wanted;
    both += wanted && Sample{UserId{1}, 8}.WantsOfOthers(PostId{post});
  }
  EXPECT_GT(both, 0u);
  EXPECT_LT(both, one / 4);
}

TEST(Sample, IsOneInAPowerOfTwo) {
  for (const uint32_t good : {1u, 2u, 512u, kMostOneIn}) EXPECT_TRUE(IsOneIn(good)) << good;
  for (const uint32_t bad : {0u, 3u, 6u, 2 * kMostOneIn}) EXPECT_FALSE(IsOneIn(bad)) << bad;
}

TEST(Sample, OfWhoFollowsVeryManyLeavesThePostsOfAboutTheLimitAndHasRoom) {
  EXPECT_EQ(OneInFor(5'000, 5'000, 1), 1u);
  EXPECT_EQ(OneInFor(5'001, 5'000, 1), 2u);
  EXPECT_EQ(OneInFor(40'000, 5'000, 1), 8u);
  EXPECT_EQ(OneInFor(40'001, 5'000, 8), 16u);
  EXPECT_EQ(OneInFor(4'999, 5'000, 2), 2u) << "a few unfollows change nothing";
  EXPECT_EQ(OneInFor(2'501, 5'000, 2), 2u);
  EXPECT_EQ(OneInFor(2'500, 5'000, 2), 1u);
  EXPECT_EQ(OneInFor(0, 5'000, kMostOneIn), 1u);
  EXPECT_EQ(OneInFor(UINT64_MAX, 1, 1), kMostOneIn);
}

}  // namespace
}  // namespace fanline
