#include "fanline/consuming/shard_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using Jobs = ShardQueue::Jobs;
using std::chrono::milliseconds;

constexpr ShardQueue::Limits kLimits{.jobs = 3, .transactions = 2, .backoff = {}};
constexpr Time kNow{std::chrono::seconds(100)};

ShardQueue Holding(uint64_t jobs) {
  ShardQueue queue(kLimits);
  for (uint64_t job = 1; job <= jobs; ++job) queue.Push(job);
  return queue;
}

TEST(ShardQueue, SoManyJobsGoInATransactionAndSoManyTransactionsAreUnderWay) {
  ShardQueue queue = Holding(8);
  EXPECT_EQ(queue.Take(kNow), (Jobs{1, 2, 3}));
  EXPECT_EQ(queue.Take(kNow), (Jobs{4, 5, 6}));
  EXPECT_EQ(queue.Take(kNow), std::nullopt);
  queue.Done();
  EXPECT_EQ(queue.Take(kNow), (Jobs{7, 8}));
  queue.Done();
  EXPECT_EQ(queue.Take(kNow), std::nullopt) << "nothing waits";
}

TEST(ShardQueue, AShardThatIsAwayIsLeftAloneForABackoffAndItsJobsStayInFront) {
  ShardQueue queue = Holding(4);
  const Jobs first = queue.Take(kNow).value();
  queue.Away(first, kNow, 0);
  ASSERT_TRUE(queue.timer());
  EXPECT_GT(*queue.timer(), kNow);
  EXPECT_EQ(queue.Take(*queue.timer() - Duration(1)), std::nullopt);
  const Time due = *queue.timer();
  EXPECT_EQ(queue.Take(due), first);
  EXPECT_EQ(queue.timer(), std::nullopt);
}

TEST(ShardQueue, WhatFailsWithinOneBackoffCountsOnceAndWhatFailsAfterItAnew) {
  ShardQueue queue = Holding(6);
  const uint64_t longest = static_cast<uint64_t>(kLimits.backoff.first.count() / 2);
  const Jobs one = queue.Take(kNow).value(), other = queue.Take(kNow).value();
  queue.Away(one, kNow, longest);
  const auto due = queue.timer();
  EXPECT_EQ(due, kNow + kLimits.backoff.first);
  queue.Away(other, kNow + milliseconds(1), longest);
  EXPECT_EQ(queue.timer(), due);

  queue.Away(queue.Take(*due).value(), *due, 2 * longest);
  EXPECT_EQ(queue.timer(), *due + 2 * kLimits.backoff.first);
  queue.Take(*queue.timer()).value();
  queue.Done();
  queue.Away(queue.Take(*due + std::chrono::seconds(1)).value(), *due, longest);
  EXPECT_EQ(queue.timer(), *due + kLimits.backoff.first) << "it answered meanwhile";
}

TEST(ShardQueue, WhatWaitsIsForgottenAndWhatIsUnderWayGoesOn) {
  ShardQueue queue = Holding(5);
  const Jobs under_way = queue.Take(kNow).value();
  EXPECT_FALSE(queue.empty());
  queue.Forget([](uint64_t job) { return job >= 4; });
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.Take(kNow), std::nullopt);
  queue.Away(under_way, kNow, 0);
  EXPECT_EQ(queue.Take(*queue.timer()), under_way);
}

// Whatever fails, each job ends once, and only jobs that are the cause are given up.
TEST(ShardQueue, EachJobEndsOnceInAnySchedule) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 200; ++round) {
    ShardQueue queue(kLimits);
    std::set<uint64_t> bad, done, given_up;
    std::vector<Jobs> under_way;
    const uint64_t last = 1 + random.Below(40);
    uint64_t pushed = 0;
    Time now = kNow;
    while (done.size() + given_up.size() < last) {
      now += milliseconds(random.Below(100));
      if (pushed < last) {
        queue.Push(++pushed);
        if (random.OneIn(8)) bad.insert(pushed);
      }
      while (auto jobs = queue.Take(now)) under_way.push_back(*std::move(jobs));
      ASSERT_LE(under_way.size(), kLimits.transactions);
      if (under_way.empty()) continue;
      const auto at =
          under_way.begin() + static_cast<std::ptrdiff_t>(random.Below(under_way.size()));
      const Jobs jobs = *at;
      under_way.erase(at);
      const bool never =
          std::any_of(jobs.begin(), jobs.end(), [&](uint64_t job) { return bad.contains(job); });
      if (random.OneIn(3)) {
        queue.Away(jobs, now, random.Below(1'000'000));
      } else if (!never) {
        queue.Done();
        for (const uint64_t job : jobs) ASSERT_TRUE(done.insert(job).second);
      } else if (!queue.Split(jobs)) {
        ASSERT_EQ(jobs.size(), 1u);
        ASSERT_TRUE(given_up.insert(jobs.front()).second);
      }
    }
    ASSERT_EQ(given_up, bad);
    ASSERT_EQ(queue.Take(now + std::chrono::hours(1)), std::nullopt);
  }
}

}  // namespace
}  // namespace fanline
