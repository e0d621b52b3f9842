#include "mirror/reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace fanline::mirror {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// log1 of a shard whose rows lead to shard 0 (even ids) or 1 (odd ones), and a window.
struct Log {
  explicit Log(Duration gather = Duration::zero()) : reads(limits, 2, gather, {}) {}

  static Shard ShardOf(uint64_t id) { return static_cast<Shard>(id % 2); }

  // One read, if it is time for one; whether it was.
  bool Read() {
    const auto after =
        reads.Next(now, [this](Shard shard) { return held[shard].size() < room[shard]; });
    if (!after) return false;
    kinds.push_back(reads.kind());
    PendingRead reply;
    if (*after == 0) reply.newest = newest;
    for (auto id = pending.upper_bound(*after); id != pending.end(); ++id) {
      if (reply.changes.size() >= limits.rows_per_read) break;
      reply.changes.push_back(LoggedChange{.id = *id});
    }
    reads.Done(reply, now, [this](const LoggedChange& change) {
      const Shard shard = ShardOf(change.id);
      const bool fits = held[shard].contains(change.id) || held[shard].size() < room[shard];
      if (fits) held[shard].insert(change.id);
      return std::pair(shard, fits ? Reads::Fate::kTaken : Reads::Fate::kNoRoom);
    });
    return true;
  }
  void Run(Duration time) {
    for (const Time until = now + time; now <= until; now += milliseconds(1)) {
      while (Read()) {
      }
    }
  }
  void Add(uint64_t id) {
    pending.insert(id);
    newest = std::max(newest, id);
  }
  // They are marked, and leave the window.
  void Finish(Shard shard) {
    for (const uint64_t id : held[shard]) pending.erase(id);
    held[shard].clear();
  }
  size_t Count(Reads::Kind kind) const {
    return static_cast<size_t>(std::count(kinds.begin(), kinds.end(), kind));
  }
  bool Holds(uint64_t id) const { return held[ShardOf(id)].contains(id); }

  Limits limits{.rows_per_read = 4};
  Reads reads;
  std::set<uint64_t> pending;
  uint64_t newest = 0;
  std::set<uint64_t> held[2];
  size_t room[2] = {1'000, 1'000};
  std::vector<Reads::Kind> kinds;
  Time now{seconds(100)};
};

TEST(Reads, WhatIsPendingAtTheStartIsFoundPageByPageAndWhatIsNewBesideIt) {
  Log log;
  for (uint64_t id = 1; id <= 100; ++id) log.Add(id);
  ASSERT_TRUE(log.Read());
  log.Add(101);
  for (int read = 0; read < 3; ++read) ASSERT_TRUE(log.Read());
  EXPECT_TRUE(log.Holds(101)) << "it does not wait for a hundred older ones";
  log.Run(seconds(1));
  EXPECT_EQ(log.held[0].size() + log.held[1].size(), 101u);
}

TEST(Reads, NewRowsAreLookedForOftenAndAfterAFullPageAtOnce) {
  Log log;
  log.Run(seconds(1));
  EXPECT_NEAR(static_cast<double>(log.Count(Reads::Kind::kNew)), 50, 5);
  for (uint64_t id = 1; id <= 40; ++id) log.Add(id);
  log.Run(log.limits.poll_every);
  EXPECT_TRUE(log.Holds(40));
}

TEST(Reads, UnderSteadyLoadNewRowsComeInBatches) {
  Log log(milliseconds(100));
  log.limits.rows_per_read = 1'024;
  uint64_t id = 0;
  for (int i = 0; i < 200; ++i) {
    if (i % 5 == 0) log.Add(++id);
    if (i == 100) log.kinds.clear();
    log.Run(milliseconds(9));
  }
  EXPECT_LE(log.Count(Reads::Kind::kNew), 14u)
      << "ten a second, and the reads between that pass by";
  log.Run(seconds(1));
  log.Add(++id);
  log.Run(milliseconds(20));
  EXPECT_TRUE(log.Holds(id)) << "after quiet nothing waits";
}

TEST(Reads, ARowThatIsCommittedLateIsFoundWithinASecond) {
  Log log;
  log.Add(1'000'000);
  log.Run(seconds(40));
  log.Add(1'000'010);
  log.Run(seconds(20));
  log.Add(1'000'005);  // its id is older than twenty seconds
  log.Run(milliseconds(1'100));
  EXPECT_TRUE(log.Holds(1'000'005));
}

TEST(Reads, WhatNobodyLookedForIsFoundByASweep) {
  Log log;
  log.Add(1'000'000);
  log.Run(seconds(60));
  log.Add(7);
  log.Run(seconds(5));
  EXPECT_FALSE(log.Holds(7));
  log.Run(log.limits.sweep_every);
  EXPECT_TRUE(log.Holds(7));
}

TEST(Reads, AShardWithoutRoomHoldsUpNoOtherAndIsReadOnFromWhereItStopped) {
  Log log;
  log.room[0] = 10;
  for (uint64_t id = 1; id <= 400; ++id) log.Add(id);
  log.Run(seconds(1));
  EXPECT_EQ(log.held[0].size(), 10u);
  EXPECT_EQ(log.held[1].size(), 200u);
  log.kinds.clear();
  log.Run(milliseconds(500));
  EXPECT_EQ(log.Count(Reads::Kind::kBacklog), 0u) << "there is nothing to be had";
  for (int round = 0; round < 19; ++round) {
    log.Finish(0);
    log.Run(milliseconds(1));
  }
  EXPECT_TRUE(log.Holds(400)) << "in order, each once";
  EXPECT_LE(log.Count(Reads::Kind::kBacklog), 130u);
}

// A failover loses the rows above 50, and the new primary gives their ids out again.
TEST(Reads, AfterAFailureRowsBelowTheHighestSeenAreFound) {
  Log log;
  for (uint64_t id = 1; id <= 100; ++id) log.Add(id);
  log.Run(seconds(1));
  log.Finish(0), log.Finish(1);
  log.newest = 50;
  const auto read = log.reads.Next(log.now += seconds(1), [](Shard) { return true; });
  ASSERT_TRUE(read);
  log.reads.Failed(log.now, 0);
  EXPECT_FALSE(log.Read()) << "it backs off";
  log.Add(51);
  log.Run(seconds(1));
  EXPECT_TRUE(log.Holds(51));
  log.Add(52);
  log.Run(log.limits.poll_every);
  EXPECT_TRUE(log.Holds(52));
}

TEST(Reads, ADoubtDuringAReadIsNotSettledByIt) {
  Log log;
  for (uint64_t id = 1; id <= 8; ++id) log.Add(id);
  ASSERT_TRUE(log.reads.Next(log.now, [](Shard) { return true; }));
  log.reads.Doubt();
  log.reads.Done(PendingRead{.newest = 8}, log.now,
                 [](const LoggedChange&) { return std::pair(Shard{0}, Reads::Fate::kTaken); });
  log.Run(seconds(1));
  EXPECT_TRUE(log.Holds(1));
}

TEST(Reads, WhileMuchOfTheLastSecondsWaitsItIsReadAgainLessOften) {
  Log log;
  log.Run(milliseconds(10));
  log.room[0] = log.room[1] = 0;
  for (uint64_t id = 1; id <= 2'000; ++id) log.Add(id);
  log.Run(seconds(3));
  log.kinds.clear();
  for (int ms = 0; ms < 20'000; ++ms, log.now += milliseconds(1)) log.Read();
  const size_t passes = log.Count(Reads::Kind::kLate) / 500;
  EXPECT_GE(passes, 2u);
  EXPECT_LE(passes, 6u) << "a pass takes half a second";
}

}  // namespace
}  // namespace fanline::mirror
