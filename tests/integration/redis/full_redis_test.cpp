// What the timeline scripts do in a Redis at its maxmemory.
#include <gtest/gtest.h>

#include "tests/integration/redis/timelines_world.h"

namespace fanline::redis::testing {
namespace {

class FullRedis : public RedisTimelines {
 protected:
  ~FullRedis() override { MakeRoom(); }
  void Fill() { console_.Run({"CONFIG", "SET", "maxmemory", "1mb"}); }
  void MakeRoom() {
    console_.Run({"CONFIG", "SET", "maxmemory", "0"});
    console_.Run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  }
};

// What some services set by themselves.
TEST_F(FullRedis, UnderVolatileLruTimelinesGoAndWhatFencesWritersStays) {
  Build(kBob, 3);
  const std::string live = Name(keys_.Live(range_)), own = Name(keys_.Own(range_));
  console_.Run({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
  Fill();
  const BatchWritten added = Push(kBob, {At(77, 9)});
  MakeRoom();
  EXPECT_TRUE(added.status.done()) << added.status.message;
  EXPECT_EQ(added.results, std::vector<int8_t>{BatchWritten::kNotLive});
  EXPECT_FALSE(Exists(kBob));
  EXPECT_EQ(console_.Run({"EXISTS", live, own}), "2");
  Build(kBob, 3);
  EXPECT_EQ(Push(kBob, {At(77, 9)}).results, std::vector<int8_t>{1});
}

TEST_F(FullRedis, ATimelineThatCannotTakeAPostIsDroppedSoThatItsReaderRebuildsIt) {
  Build(kBob, 3);
  Fill();
  const BatchWritten added = Push(kBob, {At(77, 9)});
  MakeRoom();
  EXPECT_TRUE(added.status.done()) << added.status.message;
  EXPECT_EQ(added.results, std::vector<int8_t>{BatchWritten::kNotLive});
  EXPECT_EQ(added.full, 1u);
  EXPECT_EQ(added.key_error, "") << "no key failed";
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
}

TEST_F(FullRedis, TheKeyThatIsNamedIsTheOneToBeDeleted) {
  const UserId other = OthersHere(1).front();
  const std::string wrong = Name(keys_.Timeline(kBob));
  for (const bool wrong_first : {true, false}) {
    Build(other, 3);
    console_.Run({"SET", wrong, "not a timeline"});
    BatchOf batch(range_, kEpoch);
    // A removal needs no memory, so Redis looks at the key.
    if (wrong_first) batch.Write(kBob, {At(77, 9)}, {At(2)});
    batch.Write(other, {At(77, 9)});
    if (!wrong_first) batch.Write(kBob, {At(77, 9)}, {At(2)});
    Fill();
    const BatchWritten written = driver_.Do(batch.Take());
    MakeRoom();
    console_.Run({"DEL", wrong});
    EXPECT_TRUE(written.status.done()) << written.status.message;
    EXPECT_EQ(written.full, 1u);
    EXPECT_EQ(written.key_error.find(wrong + ": WRONGTYPE"), 0u) << written.key_error;
  }
}

TEST_F(FullRedis, ARebuildThatMissedAPushStartsAgain) {
  Open(kBob, "a");
  Fill();
  EXPECT_EQ(Push(kBob, {At(77, 9)}).full, 1u);
  MakeRoom();
  EXPECT_FALSE(Close(kBob, "a", {At(1, 1)}));
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(FullRedis, NoTimelineOfABatchClaimsMoreThanItHas) {
  const std::vector<UserId> readers = OthersHere(20);
  BatchOf batch(range_, kEpoch);
  for (UserId reader : readers) {
    Build(reader, 3);
    batch.Write(reader, {At(77, 9), At(78, 9)}, {At(2)});
  }
  const TimelineBatch adds_only = [&] {
    BatchOf later(range_, kEpoch);
    for (UserId reader : readers) later.Write(reader, {At(79, 10)});
    return later.Take();
  }();
  Fill();
  const BatchWritten both = driver_.Do(batch.Take());
  const BatchWritten written = driver_.Do(adds_only);
  MakeRoom();
  EXPECT_TRUE(both.status.done());
  EXPECT_TRUE(written.status.done());
  EXPECT_GE(written.full, 1u);
  for (size_t i = 0; i < readers.size(); ++i) {
    if (!Exists(readers[i])) continue;
    EXPECT_EQ(written.results[i], 1);
    EXPECT_EQ(Page(readers[i]).items,
              (std::vector{At(79, 10), At(78, 9), At(77, 9), At(3, 3), At(1, 1)}));
  }
}

TEST_F(FullRedis, RemovalsStillWork) {
  Build(kBob, 3);
  Fill();
  EXPECT_EQ(Push(kBob, {}, {At(2)}).removed, 1u);
  EXPECT_EQ(Page(kBob).items, (std::vector{At(3, 3), At(1, 1)}));
}

// A removal that a rebuild must learn of is recorded, full or not.
TEST_F(FullRedis, ARemovalMeetingARebuildIsNotForgotten) {
  Open(kBob, "a");
  Fill();
  Push(kBob, {}, {At(2)});
  MakeRoom();
  if (Close(kBob, "a", {At(2, 2), At(1, 1)})) {
    EXPECT_EQ(Page(kBob).items, std::vector{At(1, 1)});
  }
}

TEST_F(FullRedis, ASyncThatCannotAddDropsTheTimeline) {
  const std::vector<ApplySync> syncs = {
      {0, range_, kEpoch, kBob, kAnn, {At(77, 9), At(3, 3), At(2, 2), At(1, 1)}},
      {0, range_, kEpoch, kBob, kAnn, {At(77, 9)}},
      {0, range_, kEpoch, kBob, UserId{1}, {}, At(0, 2).created_at},
  };
  for (const ApplySync& sync : syncs) {
    Build(kBob, 3);
    Fill();
    const SyncApplied applied = driver_.Do(sync);
    MakeRoom();
    EXPECT_TRUE(applied.status.done()) << applied.status.message;
    EXPECT_FALSE(applied.live);
    EXPECT_TRUE(applied.full);
    EXPECT_FALSE(Exists(kBob));
    EXPECT_FALSE(IsListed(kBob));
  }
}

TEST_F(FullRedis, MutesThatCannotBeNamedDropTheTimeline) {
  Build(kBob, 3);
  Fill();
  EXPECT_FALSE(driver_.Do(SetMutes{0, range_, kEpoch, kBob, 0}).full) << "it names none";
  EXPECT_TRUE(driver_.Do(SetMutes{0, range_, kEpoch, kBob, 7}).full);
  MakeRoom();
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
}

// Otherwise a Redis full of timelines would only grow.
TEST_F(FullRedis, NoTimelineIsMade) {
  Fill();
  EXPECT_TRUE(reader_.Begin(kBob, "a").status.later());
  MakeRoom();
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
}

TEST_F(FullRedis, ARebuildThatCannotBeWrittenLeavesNoTimeline) {
  Open(kBob, "a");
  Fill();
  EXPECT_TRUE(reader_.Finish(kBob, "a", {At(1, 1)}, At(0, 0).created_at).status.later());
  MakeRoom();
  EXPECT_FALSE(Exists(kBob));
}

TEST_F(FullRedis, RangesAreTakenOverAndPositionsSaved) {
  Build(kBob, 3);
  Fill();
  TakeOver(kEpoch + 1);
  EXPECT_FALSE(Exists(kBob));
  EXPECT_TRUE(driver_.Do(ReadNews{0, range_, kEpoch + 1, 0, 10}).status.done());
  const PositionSaved saved = driver_.Do(SavePosition{0, range_, kEpoch + 1, {1, 0}, {1, 9}});
  EXPECT_TRUE(saved.status.done()) << saved.status.message;
  EXPECT_FALSE(saved.mismatch);
}

// After a failover to a replica that was behind, `own:` is old, though the session goes on.
TEST_F(FullRedis, AnEpochThatFellBehindIsRaisedByWhateverIsWrittenFirst) {
  const std::string own = Name(keys_.Own(range_));
  const auto fall_behind = [&] { console_.Run({"SET", own, std::to_string(kEpoch - 1)}); };
  const auto raised = [&] { return console_.Run({"GET", own}) == std::to_string(kEpoch); };
  Build(kBob, 3);
  fall_behind();
  Fill();
  const BatchWritten written = Push(kBob, {At(77, 9)}, {At(2)});
  EXPECT_TRUE(written.status.done()) << written.status.message;
  EXPECT_TRUE(raised());
  MakeRoom();
  if (Exists(kBob)) {
    EXPECT_EQ(Page(kBob).items, (std::vector{At(77, 9), At(3, 3), At(1, 1)}));
  }
  fall_behind();
  Fill();
  const PositionSaved saved = driver_.Do(SavePosition{0, range_, kEpoch, {1, 0}, {1, 9}});
  EXPECT_TRUE(saved.status.done()) << saved.status.message;
  EXPECT_TRUE(raised());
}

}  // namespace
}  // namespace fanline::redis::testing
