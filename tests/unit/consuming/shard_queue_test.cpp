#include "fanline/consuming/shard_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using Batch = ShardQueue::Batch;
using Job = ShardQueue::Job;
using std::chrono::milliseconds;

constexpr ShardQueue::Limits kLimits{.jobs = 8, .batches = 2, .backoff = {}};
constexpr Time kStart{std::chrono::seconds(100)};

std::vector<uint64_t> IdsOf(const Batch& batch) {
  std::vector<uint64_t> ids;
  for (const Job& job : batch.jobs) ids.push_back(job.id);
  return ids;
}

TEST(ShardQueue, SoManyJobsGoInATransactionAndSoManyTransactionsAreUnderWay) {
  ShardQueue queue(kLimits);
  for (uint64_t id = 1; id <= 20; ++id) queue.Push({id, id});
  const Batch first = queue.Take(kStart).value();
  EXPECT_EQ(IdsOf(first), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  const Batch second = queue.Take(kStart).value();
  EXPECT_FALSE(queue.Take(kStart));
  queue.Done(first, kStart);
  EXPECT_EQ(IdsOf(queue.Take(kStart).value()), (std::vector<uint64_t>{17, 18, 19, 20}));
  queue.Drop(second);
  EXPECT_FALSE(queue.Take(kStart)) << "nothing waits";
}

TEST(ShardQueue, AShardThatIsAwayIsLeftAloneForABackoffAndItsJobsStayInFront) {
  ShardQueue queue(kLimits);
  for (uint64_t id = 1; id <= 9; ++id) queue.Push({id, id});
  const Batch first = queue.Take(kStart).value();
  queue.Away(first, kStart, 0);
  const Time due = queue.timer().value();
  EXPECT_GT(due, kStart);
  EXPECT_FALSE(queue.Take(due - Duration(1)));
  EXPECT_EQ(queue.Take(due).value().jobs, first.jobs);
  EXPECT_FALSE(queue.timer());
}

// Somebody holds a row of author 7: all of the author's jobs fail, whoever is with them.
TEST(ShardQueue, JobsOfALockedKeyWaitByThemselves) {
  ShardQueue queue(kLimits);
  std::set<uint64_t> done;
  Time now = kStart;
  size_t lost = 0;  // transactions that waited in vain
  for (uint64_t id = 1; id <= 200; ++id) queue.Push({id, id % 10});
  while (auto batch = queue.Take(now)) {
    const bool locked = std::any_of(batch->jobs.begin(), batch->jobs.end(),
                                    [](const Job& job) { return job.key == 7; });
    if (locked) {
      ++lost;
      queue.Locked(*batch, now, 0);
    } else {
      for (const uint64_t id : IdsOf(*batch)) done.insert(id);
      queue.Done(*batch, now);
    }
  }
  EXPECT_EQ(done.size(), 180u) << "all others";
  EXPECT_LE(lost, 8u);
  ASSERT_TRUE(queue.timer()) << "it is tried again";

  size_t tries = 0;
  while (auto batch = queue.Take(now = std::max(now, queue.timer().value_or(now)))) {
    ++tries;
    for (const uint64_t id : IdsOf(*batch)) done.insert(id);
    queue.Done(*batch, now);
  }
  EXPECT_EQ(done.size(), 200u);
  EXPECT_LE(tries, 7u) << "twice as many at each try";
  queue.Push({500, 7});
  EXPECT_FALSE(queue.Take(now).value().locked) << "like any other again";
}

TEST(ShardQueue, OneTransactionOfLockedKeysIsUnderWayBesideTheOthers) {
  ShardQueue queue(kLimits);
  for (const uint64_t key : {1, 2}) {
    queue.Push({key, key});
    queue.Locked(queue.Take(kStart).value(), kStart, 0);
  }
  const Time later = kStart + std::chrono::seconds(1);
  for (uint64_t id = 10; id < 40; ++id) queue.Push({id, id});
  size_t of_locked = 0, taken = 0;
  while (const auto batch = queue.Take(later)) ++taken, of_locked += batch->locked ? 1 : 0;
  EXPECT_EQ(of_locked, 1u);
  EXPECT_EQ(taken, 1u + kLimits.batches);
}

// The lock is on the row of one job, not on the key's.
TEST(ShardQueue, OfALockedKeyOnlyTheJobThatIsTheCauseStays) {
  ShardQueue queue(kLimits);
  std::set<uint64_t> done;
  for (uint64_t id = 1; id <= 50; ++id) queue.Push({id, 7});
  Time now = kStart;
  for (int step = 0; step < 300; ++step, now += milliseconds(100)) {
    while (const auto batch = queue.Take(now)) {
      const auto ids = IdsOf(*batch);
      if (std::count(ids.begin(), ids.end(), 20u) > 0) {
        queue.Locked(*batch, now, 0);
        continue;
      }
      done.insert(ids.begin(), ids.end());
      queue.Done(*batch, now);
    }
  }
  EXPECT_EQ(done.size(), 49u);
}

TEST(ShardQueue, WhatFailsWithinOneBackoffCountsOnceAndWhatFailsAfterItAnew) {
  ShardQueue queue(kLimits);
  for (uint64_t id = 1; id <= 16; ++id) queue.Push({id});
  const auto longest = static_cast<uint64_t>(kLimits.backoff.first.count() / 2);
  const Batch one = queue.Take(kStart).value(), other = queue.Take(kStart).value();
  queue.Away(one, kStart, longest);
  const auto due = queue.timer();
  EXPECT_EQ(due, kStart + kLimits.backoff.first);
  queue.Away(other, kStart + milliseconds(1), longest);
  EXPECT_EQ(queue.timer(), due);

  queue.Away(queue.Take(*due).value(), *due, 2 * longest);
  EXPECT_EQ(queue.timer(), *due + 2 * kLimits.backoff.first);
  queue.Done(queue.Take(*queue.timer()).value(), *due);
  queue.Away(queue.Take(*due + std::chrono::seconds(1)).value(), *due, longest);
  EXPECT_EQ(queue.timer(), *due + kLimits.backoff.first) << "it answered meanwhile";
}

TEST(ShardQueue, WhatIsUnderWayIsNotForgotten) {
  ShardQueue queue(kLimits);
  for (uint64_t id = 1; id <= 10; ++id) queue.Push({id});
  const Batch under_way = queue.Take(kStart).value();
  EXPECT_FALSE(queue.empty());
  queue.Forget([](uint64_t id) { return id >= 9; });
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.Take(kStart));
  queue.Away(under_way, kStart, 0);
  EXPECT_EQ(queue.Take(*queue.timer()).value().jobs, under_way.jobs);
}

TEST(ShardQueue, WhatWaitsIsForgotten) {
  ShardQueue queue(kLimits);
  for (uint64_t id = 1; id <= 30; ++id) queue.Push({id, id % 2});
  queue.Locked(queue.Take(kStart).value(), kStart, 0);
  queue.Forget([](uint64_t) { return true; });
  EXPECT_FALSE(queue.Take(kStart + std::chrono::hours(1)));
}

// Whatever fails, each job ends once, and only jobs that are the cause are given up.
TEST(ShardQueue, EachJobEndsOnceInAnySchedule) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 300; ++round) {
    ShardQueue queue(kLimits);
    std::set<uint64_t> bad, done, given_up;
    std::set<uint64_t> locked_keys{random.Below(6)}, locked_jobs{random.Below(40)};
    std::vector<Batch> under_way;
    const uint64_t last = 1 + random.Below(40);
    uint64_t pushed = 0;
    Time now = kStart;
    while (done.size() + given_up.size() < last) {
      now += milliseconds(random.Below(100));
      if (random.OneIn(200)) locked_keys.clear(), locked_jobs.clear();
      if (pushed < last) {
        queue.Push({++pushed, random.Below(6)});
        if (random.OneIn(8)) bad.insert(pushed);
      }
      while (auto batch = queue.Take(now)) under_way.push_back(*std::move(batch));
      ASSERT_LE(under_way.size(), kLimits.batches + 1);
      if (under_way.empty()) continue;
      const auto at =
          under_way.begin() + static_cast<std::ptrdiff_t>(random.Below(under_way.size()));
      const Batch batch = *at;
      under_way.erase(at);
      const auto any = [&batch](auto is) {
        return std::any_of(batch.jobs.begin(), batch.jobs.end(), is);
      };
      if (random.OneIn(5)) {
        queue.Away(batch, now, random.Below(1'000'000));
      } else if (any([&](const Job& job) {
                   return locked_keys.contains(job.key) || locked_jobs.contains(job.id);
                 })) {
        queue.Locked(batch, now, random.Below(1'000'000));
      } else if (!any([&](const Job& job) { return bad.contains(job.id); })) {
        queue.Done(batch, now);
        for (const Job& job : batch.jobs) ASSERT_TRUE(done.insert(job.id).second);
      } else if (!queue.Split(batch, now)) {
        ASSERT_EQ(batch.jobs.size(), 1u);
        ASSERT_TRUE(given_up.insert(batch.jobs.front().id).second);
      }
    }
    EXPECT_EQ(given_up, bad);
  }
}

TEST(ShardQueue, AKeyWithoutJobsIsLockedNoMore) {
  ShardQueue queue(kLimits);
  for (uint64_t key = 1; key <= 3; ++key) {
    queue.Push({key, key});
    queue.Locked(queue.Take(kStart).value(), kStart, 1);
  }
  const Time later = kStart + std::chrono::hours(1);
  const Batch dropped = queue.Take(later).value();
  ASSERT_TRUE(dropped.locked);
  queue.Drop(dropped);
  queue.Forget([](uint64_t) { return true; });
  for (uint64_t key = 1; key <= 3; ++key) queue.Push({key + 10, key});
  EXPECT_EQ(IdsOf(queue.Take(later).value()), (std::vector<uint64_t>{11, 12, 13}));
}

}  // namespace
}  // namespace fanline
