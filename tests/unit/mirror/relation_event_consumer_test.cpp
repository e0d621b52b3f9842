#include "mirror/relation_event_consumer.h"

#include <gmock/gmock.h>

#include "tests/unit/mirror/world.h"

namespace fanline::mirror {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Keeps the mirror out: its calls are never answered.
struct EventWorld : World {
  explicit EventWorld(const Limits& given = Limits{}) : World(given) { Start(); }

  void Follow(uint64_t version) { AppendEvent({RelationEventKind::kFollow, edge, version}); }
  void Unfollow(uint64_t version) { AppendEvent({RelationEventKind::kUnfollow, edge, version}); }
  void Turns(int count = 5) {
    for (int i = 0; i < count; ++i) {
      Step();
      for (size_t at = 0; at < requests.size();) {
        if (requests[at].asker == kEvents) {
          AnswerAt(at, Fate::kDone);
        } else {
          ++at;
        }
      }
    }
    Pass(limits.commit_every);
    Step();
  }
  bool live() const { return store.forward().at(edge).live; }

  struct Held : Metrics {
    uint64_t events = 0, parked = 0, too_old = 0;
    void OldMessageRejected() override { ++too_old; }
    void Buffered(uint64_t of_all, uint64_t of_away) override {
      events = of_all;
      parked = of_away;
    }
  };

  const UserId ann = UserOn(0), bob = UserOn(1);
  const EdgeKey edge{ann, bob};
};

TEST(RelationEventConsumer, WritesTheForwardRowAndLeavesTheRestToTheMirror) {
  EventWorld w;
  w.Follow(1);
  w.Turns();
  EXPECT_TRUE(w.live());
  EXPECT_THAT(w.store.reverse(), IsEmpty());
  EXPECT_EQ(w.store.pending(), 1u);
  EXPECT_EQ(w.event_committed, 1);
  w.Unfollow(2);
  w.Turns();
  EXPECT_FALSE(w.live());
}

TEST(RelationEventConsumer, CommitsNothingBeforeTheRowIsWritten) {
  EventWorld w;
  w.Follow(1);
  w.Step();
  ASSERT_THAT(w.Of<ChangeEdge>(), SizeIs(1));
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_EQ(w.event_committed, 0);
}

TEST(RelationEventConsumer, WhatCannotBeUsedGoesToTheDeadLettersAsItWas) {
  EventWorld w;
  const std::string bad = R"({"schema_version":1,"type":"relation.follow","src":"5","dst":"6"})";
  w.AppendEventBytes(bad);
  w.store.most_followed = 0;
  w.Follow(1);
  w.Turns();
  ASSERT_THAT(w.letters, SizeIs(2));
  EXPECT_EQ(w.letters[0].record.value, bad);
  EXPECT_THAT(w.letters[0].reason, HasSubstr("version: missing"));
  EXPECT_THAT(w.letters[1].reason, HasSubstr("follows as many"));
  EXPECT_EQ(w.event_committed, 2);
}

TEST(RelationEventConsumer, RefusesAnEventOlderThanTombstonesAreKept) {
  EventWorld w;
  EventWorld::Held told;
  w.metrics = &told;
  w.Crash();
  w.Start();
  w.Follow(1);
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  w.Turns();
  EXPECT_EQ(told.too_old, 1u);
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_THAT(w.store.forward(), IsEmpty());
}

TEST(RelationEventConsumer, AReplayMakesAnEventNoYounger) {
  EventWorld w;
  w.Follow(1);
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  Record& record = w.events.back();
  record.headers = {{"fanline-first-appended", std::to_string(record.timestamp)}};
  record.timestamp = w.now.unix_ms;
  w.Turns();
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_THAT(w.store.forward(), IsEmpty());
}

// The shard of src decides by it (backends/mysql/edges/mirror_store.cpp).
TEST(RelationEventConsumer, SaysOfAnOldEventSinceWhenItIsThere) {
  EventWorld w;
  const UnixMs appended = w.now.unix_ms;
  w.Follow(1);
  w.now.unix_ms += Milliseconds(w.limits.known_for);
  w.Step();
  ASSERT_THAT(w.Of<ChangeEdge>(), SizeIs(1));
  EXPECT_EQ(w.Of<ChangeEdge>()[0].change.since, 0);
  w.Turns();
  w.Follow(2);
  w.events.back().timestamp = appended;
  w.now.unix_ms += 1;
  w.Step();
  ASSERT_THAT(w.Of<ChangeEdge>(), SizeIs(1));
  EXPECT_EQ(w.Of<ChangeEdge>()[0].change.since, appended);
}

TEST(RelationEventConsumer, WritesALetterAgainThatMayNotHaveBeenWritten) {
  EventWorld w;
  w.AppendEventBytes("{}");
  w.Step();
  ASSERT_EQ(w.Answer<AppendDeadLetter>(Fate::kLater), 1u);
  w.Step();
  w.Pass(w.limits.commit_every);
  w.Step();
  EXPECT_EQ(w.event_committed, 0);
  w.Pass(std::chrono::seconds(10));
  w.Turns();
  EXPECT_THAT(w.letters, SizeIs(1));
  EXPECT_EQ(w.event_committed, 1);
}

// A person's transaction holds the row of one user.
TEST(RelationEventConsumer, ALockedRowHoldsUpItsOwnEventsOnly) {
  EventWorld w;
  const UserId cid = w.UserOn(0, 2);
  for (uint64_t i = 0; i < 20; ++i) {
    w.AppendEvent({RelationEventKind::kFollow, {w.ann, UserId{1'000'000 + i}}, 1});
    w.AppendEvent({RelationEventKind::kFollow, {cid, UserId{1'000'000 + i}}, 1});
  }
  size_t tries = 0;
  for (int turn = 0; turn < 300; ++turn) {
    w.Pass(std::chrono::milliseconds(100));
    w.Step();
    for (size_t at = 0; at < w.requests.size();) {
      const auto* change = w.requests[at].As<ChangeEdge>();
      const bool locked = change != nullptr && change->change.src == w.ann;
      tries += locked ? 1 : 0;
      w.requests[at].asker == kEvents ? w.AnswerAt(at, locked ? Fate::kLocked : Fate::kDone)
                                      : (void)++at;
    }
  }
  EXPECT_EQ(w.store.forward().size(), 20u) << "all of the other user's";
  EXPECT_LE(tries, 40u) << "each once, then one at a time, ever more rarely";
  EXPECT_THAT(w.letters, IsEmpty());
  w.Pass(w.limits.backoff.most);
  w.Turns(40);
  EXPECT_EQ(w.store.forward().size(), 40u);
  EXPECT_EQ(w.event_committed, 40);
}

struct AwayWorld : EventWorld {
  explicit AwayWorld(const Limits& given) : EventWorld(given) {}

  void TurnWithoutAnn() {
    Step();
    for (size_t at = 0; at < requests.size();) {
      const auto* change = requests[at].As<ChangeEdge>();
      if (requests[at].asker != kEvents) {
        ++at;
      } else {
        AnswerAt(at, change != nullptr && change->change.src == ann ? Fate::kLater : Fate::kDone);
      }
    }
    Step();
  }
};

TEST(RelationEventConsumer, AShardThatIsAwayForLongDoesNotStopTheOthersAndLosesNothing) {
  AwayWorld w({.records_open = 16});
  constexpr uint64_t kEvents = 100;
  for (uint64_t i = 0; i < kEvents; ++i) {
    w.AppendEvent({RelationEventKind::kFollow, {w.ann, UserId{1'000'000 + i}}, 1});
    w.AppendEvent({RelationEventKind::kFollow, {w.bob, UserId{1'000'000 + i}}, 1});
    w.TurnWithoutAnn();
    w.TurnWithoutAnn();
    ASSERT_TRUE(w.store.forward().contains({w.bob, UserId{1'000'000 + i}})) << i;
    w.Pass(std::chrono::milliseconds(100));
  }
  EXPECT_LE(w.event_committed, 0) << "the first event is in no row";

  for (int i = 0; i < 10; ++i) {
    w.Pass(std::chrono::seconds(10));
    w.Turns();
  }
  EXPECT_EQ(w.store.forward().size(), 2 * kEvents);
  EXPECT_EQ(w.event_committed, static_cast<int64_t>(2 * kEvents));
}

TEST(RelationEventConsumer, WhatIsParkedIsBounded) {
  // Room for some thirty events.
  AwayWorld w({.records_open = 16, .event_bytes_per_shard = 20'000});
  for (uint64_t i = 0; i < 100; ++i) {
    w.AppendEvent({RelationEventKind::kFollow, {w.ann, UserId{1'000'000 + i}}, 1});
    w.TurnWithoutAnn();
  }
  w.AppendEvent({RelationEventKind::kFollow, {w.bob, w.ann}, 1});
  w.TurnWithoutAnn();
  EXPECT_FALSE(w.store.forward().contains({w.bob, w.ann})) << "it is behind what does not fit";

  for (int i = 0; i < 20; ++i) {
    w.Pass(std::chrono::seconds(10));
    w.Turns();
  }
  EXPECT_TRUE(w.store.forward().contains({w.bob, w.ann}));
  EXPECT_EQ(w.event_committed, 101);
}

// No parked event can be committed, so each owner reads all of them again, this one too.
TEST(RelationEventConsumer, WhatIsParkedIsHeldOnceHoweverOftenItsPartitionMoves) {
  constexpr uint64_t kParked = 30;
  // Room for three times what is parked.
  AwayWorld w({.changes_in_flight = 4, .event_bytes_per_shard = 60'000});
  EventWorld::Held held;
  w.metrics = &held;
  w.Crash();
  w.Start();
  for (uint64_t i = 0; i < kParked; ++i) {
    w.AppendEvent({RelationEventKind::kFollow, {w.ann, UserId{1'000'000 + i}}, 1});
  }
  for (int moves = 0; moves < 8; ++moves) {
    w.TurnWithoutAnn();
    w.Step();
    ASSERT_EQ(held.events, kParked) << "after " << moves;
    ASSERT_EQ(held.parked, kParked) << "after " << moves;
    if (moves % 2 == 0) w.event_inbox.emplace_back(PartitionRevoked{0});
    w.event_inbox.emplace_back(PartitionAssigned{0, w.event_committed, 0});
    w.Step();
    EXPECT_EQ(held.events, 0u) << "its next owner's to do";
  }
  EXPECT_FALSE(w.events_paused);

  for (int i = 0; i < 10; ++i) {
    w.Pass(std::chrono::seconds(10));
    w.Turns();
  }
  EXPECT_EQ(w.store.forward().size(), kParked);
  EXPECT_EQ(w.event_committed, static_cast<int64_t>(kParked));
}

TEST(RelationEventConsumer, WhatIsUnderWayWhenItsPartitionGoesIsWrittenButNotParked) {
  for (const Fate fate : {Fate::kDone, Fate::kLater}) {
    EventWorld w;
    w.Follow(1);
    w.Step();
    w.event_inbox.emplace_back(PartitionRevoked{0});
    w.Step();
    EXPECT_FALSE(w.event_consumer->drained());
    ASSERT_EQ(w.Answer<ChangeEdge>(fate), 1u);
    w.Step();
    EXPECT_TRUE(w.event_consumer->drained());
    EXPECT_EQ(w.store.forward().contains(w.edge), fate == Fate::kDone);
  }
}

TEST(RelationEventConsumer, DrainsWhatItStarted) {
  EventWorld w;
  w.Follow(1);
  w.Step();
  w.event_consumer->StopTaking();
  w.Unfollow(2);
  w.Turns();
  EXPECT_TRUE(w.event_consumer->drained());
  EXPECT_TRUE(w.live());
  EXPECT_EQ(w.event_committed, 1);
}

TEST(RelationEventConsumer, TellsTheMirrorOfPartitionsThatComeAndGo) {
  World w;
  fakes::Inbox<MirrorInput> told;
  RelationEventConsumer consumer({.forward = {w.of_events, w.event_inbox},
                                  .dead_letters = {w.of_events, w.event_inbox},
                                  .metrics = *w.metrics,
                                  .assigned = told,
                                  .revoked = told},
                                 {w.shards, 1}, w.limits);
  std::vector<RelationEventInput> inputs{PartitionAssigned{1, 5, 0}, PartitionRevoked{1}};
  (void)consumer.Step(inputs, w.now);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(std::get<PartitionAssigned>(told[0]).partition, 1);
  EXPECT_EQ(std::get<PartitionRevoked>(told[1]).partition, 1);
}

}  // namespace
}  // namespace fanline::mirror
