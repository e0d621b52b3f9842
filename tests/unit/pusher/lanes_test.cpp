#include "pusher/units/lanes.h"

#include <gtest/gtest.h>

namespace fanline::pusher {
namespace {

using Offsets = std::vector<int64_t>;

constexpr UserId kFirst{1}, kSecond{2}, kBob{9};

struct LanesWorld {
  void Post(UserId author) { Add(Hint::OfPost(author, PostId{1})); }
  void Sync(UserId author) { Add(Hint::OfSync(kBob, author)); }
  void Add(Decoded<Hint> hint) {
    ReceivedHint received{{}, std::move(hint)};
    received.record.offset = next_offset++;
    lanes.Add(std::move(received));
  }
  Offsets Take(bool singly = false, size_t syncs = 100) {
    unit = lanes.Take(lanes.next(0), singly, syncs, begun);
    Offsets offsets;
    for (const ReceivedHint& hint : unit.hints) offsets.push_back(hint.record.offset);
    return offsets;
  }
  // All that is left, unit by unit, each finished before the next is taken.
  std::vector<Offsets> Rest() {
    std::vector<Offsets> taken;
    while (lanes.runnable()) {
      taken.push_back(Take());
      lanes.Finished(unit);
    }
    return taken;
  }

  Limits limits;
  const ShardMap map = ShardMap::Even(1);
  Lanes lanes{limits, map};
  std::map<int64_t, BegunHints> begun;
  Unit unit;  // taken last
  int64_t next_offset = 0;
};

TEST(Lanes, NothingBehindAHeadIsTakenBeforeItIsFinished) {
  LanesWorld w;
  w.Post(kFirst);
  EXPECT_EQ(w.Take(), Offsets{0});
  w.Post(kFirst);
  EXPECT_FALSE(w.lanes.runnable());
  w.lanes.Finished(w.unit);
  EXPECT_EQ(w.Take(), Offsets{1});
  w.lanes.Finished(w.unit);
  EXPECT_EQ(w.lanes.units(), 0u);
}

TEST(Lanes, HintsThatWereBegunTogetherAreAUnitAgain) {
  LanesWorld w;
  w.begun[0] = {.offset = 0, .hints = 2};
  for (int i = 0; i < 4; ++i) w.Post(kFirst);
  EXPECT_EQ(w.Rest(), (std::vector<Offsets>{{0, 1}, {2, 3}}));
}

TEST(Lanes, AuthorsTakeTurns) {
  LanesWorld w;
  w.limits.posts_per_unit = 1;
  for (int i = 0; i < 2; ++i) {
    w.Post(kFirst);
    w.Post(kSecond);
  }
  EXPECT_EQ(w.Rest(), (std::vector<Offsets>{{0}, {1}, {2}, {3}}));
}

TEST(Lanes, AUnitIsOfOneKind) {
  LanesWorld w;
  w.Post(kFirst);
  w.Post(kFirst);
  w.Sync(kFirst);
  w.Sync(kFirst);
  w.Post(kFirst);
  EXPECT_EQ(w.Rest(), (std::vector<Offsets>{{0, 1}, {2, 3}, {4}}));
}

TEST(Lanes, WhatCannotBeDecodedIsALaneOfItsOwn) {
  LanesWorld w;
  w.Post(kFirst);
  w.Add(Rejection{});
  w.Post(kFirst);
  w.Add(Rejection{});
  EXPECT_EQ(w.Rest(), (std::vector<Offsets>{{0, 2}, {1, 3}}));
}

TEST(Lanes, AUnitHasABoundOfPostsAndOneOfSyncs) {
  LanesWorld w;
  w.limits.posts_per_unit = 2;
  for (int i = 0; i < 3; ++i) w.Post(kFirst);
  for (int i = 0; i < 3; ++i) w.Sync(kSecond);
  EXPECT_EQ(w.Take(), (Offsets{0, 1}));
  EXPECT_EQ(w.Take(false, 2), (Offsets{3, 4}));
  w.lanes.Finished(w.unit);
  EXPECT_EQ(w.Take(false, 0), Offsets{5}) << "one, in any case";
}

TEST(Lanes, ALaneTakenApartIsNextAndGoesOneByOneUntilItIsEmpty) {
  LanesWorld w;
  for (int i = 0; i < 3; ++i) w.Post(kFirst);
  ASSERT_EQ(w.Take(), (Offsets{0, 1, 2}));
  w.Post(kSecond);
  w.Post(kFirst);
  w.lanes.TakeApart(std::move(w.unit));
  EXPECT_EQ(w.Rest(), (std::vector<Offsets>{{0}, {3}, {1}, {2}, {4}}));
  w.Post(kFirst);
  w.Post(kFirst);
  EXPECT_EQ(w.Take(), (Offsets{5, 6}));
  EXPECT_FALSE(w.unit.alone);
}

TEST(Lanes, AParkedUnitCountsItsHintsAndThoseBehindIt) {
  LanesWorld w;
  for (int i = 0; i < 2; ++i) w.Post(kFirst);
  w.Take();
  w.Sync(kFirst);
  w.lanes.SetParked(w.unit, true);
  w.Sync(kFirst);
  w.Post(kSecond);
  EXPECT_EQ(w.lanes.hints().parked(), 4u);
  w.lanes.SetParked(w.unit, false);
  EXPECT_EQ(w.lanes.hints().parked(), 0u);
}

// Two shards; each has half of the room.
struct TwoShards {
  static UserId AuthorOn(Shard shard, uint64_t nth) {
    for (uint64_t id = 1;; ++id) {
      if (ShardMap::Even(2).ShardOf(UserId{id}) == shard && nth-- == 0) return UserId{id};
    }
  }
  void Post(UserId author) { lanes.Add({{}, Hint::OfPost(author, PostId{1})}); }

  const Limits limits{.buffered_hints_per_range = 7};
  const ShardMap map = ShardMap::Even(2);
  Lanes lanes{limits, map};
  const UserId ann = AuthorOn(0, 0), ben = AuthorOn(0, 1), cid = AuthorOn(1, 0);
};

TEST(Lanes, OfOneShardAreTakenWhateverTheOthersDo) {
  TwoShards w;
  w.Post(w.ann);
  w.Post(w.cid);
  w.Post(w.ben);
  EXPECT_EQ(w.lanes.Take(w.lanes.next(0), false, 1, {}).author, w.ann);
  EXPECT_EQ(w.lanes.Take(w.lanes.next(0), false, 1, {}).author, w.ben);
  EXPECT_FALSE(w.lanes.runnable(0));
  EXPECT_TRUE(w.lanes.runnable(1));
  EXPECT_TRUE(w.lanes.runnable());
  EXPECT_EQ(w.lanes.Take(w.lanes.next(1), false, 1, {}).author, w.cid);
  EXPECT_FALSE(w.lanes.runnable());
}

TEST(Lanes, WhatAShardHasBeyondItsShareIsHeldUp) {
  TwoShards w;
  for (int i = 0; i < 4; ++i) w.Post(w.ann);
  EXPECT_EQ(w.lanes.hints().held_up(), 0u) << "half of seven, rounded up";
  w.Post(w.ben);
  w.Post(w.cid);
  EXPECT_EQ(w.lanes.hints().held_up(), 1u);
  const Unit taken = w.lanes.Take(w.lanes.next(0), false, 1, {});
  EXPECT_EQ(w.lanes.hints().held_up(), 1u) << "a unit that hangs holds its hints";
  w.lanes.SetParked(taken, true);
  EXPECT_EQ(w.lanes.hints().held_up(), 4u) << "those that are parked";
  w.Post(w.ben);
  EXPECT_EQ(w.lanes.hints().held_up(), 4u) << "and others of that shard go on";
  w.lanes.SetParked(taken, false);
  EXPECT_EQ(w.lanes.hints().held_up(), 2u);
  w.lanes.Finished(taken);
  EXPECT_EQ(w.lanes.hints().held_up(), 0u);
}

}  // namespace
}  // namespace fanline::pusher
