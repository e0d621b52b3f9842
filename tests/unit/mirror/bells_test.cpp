// The bells of a mirror's shards: what it does with what they say. They only save time, so whatever
// they say, the reads of reads_test.cpp find the rest.
#include <gmock/gmock.h>

#include <numeric>

#include "tests/unit/mirror/world.h"

namespace fanline::mirror {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct SeenOfBells : Metrics {
  void Applied(bool by_this, Duration) override { by_this ? ++written : ++stale; }
  void Bell(Shard forward, bool is_there) override { rings[forward] = is_there; }
  void BellLost(Shard) override { ++lost; }
  void BellSilent(Shard) override { ++silent; }
  void HeardRow(Duration) override { ++found; }
  void HeardInVain(uint64_t rows) override { vain += rows; }
  size_t written = 0, stale = 0, lost = 0, silent = 0, found = 0;
  uint64_t vain = 0;
  std::map<Shard, bool> rings;
};

// In the mode log, with nothing to do, right behind a poll.
struct BellWorld : World {
  explicit BellWorld(MirrorMode mode = MirrorMode::kLog, Duration gathers = Duration::zero()) {
    metrics = &seen;
    gather = gathers;
    bells.mode = mode;
    Start();
    Turns(2);
    if (mode != MirrorMode::kLog) return;
    Ring(0, {});
    Ring(1, {});
    AfterAPoll();
  }

  // Answers the bell of a shard, which listens, and steps.
  void Ring(Shard shard, const std::vector<uint64_t>& ids, const Status& status = Status::Done(),
            bool begun = false) {
    for (size_t i = 0; i < bells.asked.size(); ++i) {
      if (bells.asked[i].request.shard != shard) continue;
      std::swap(bells.asked[0], bells.asked[i]);
      bells.Ring(ids, status, begun);
      return Step();
    }
    FAIL() << "nobody listens to shard " << shard;
  }
  // Polls that are under way now find nothing, and none is due for a while.
  void AfterAPoll() {
    for (int i = 0; i < 3; ++i) Turns();
    AnswerAll();
  }
  void AnswerAll() {
    for (int hop = 0; hop < 9 && !requests.empty(); ++hop) {
      for (size_t left = requests.size(); left > 0; --left) AnswerAt(0, Fate::kDone);
      Step();
    }
  }
  uint64_t LastId(Shard shard = 0) const { return store.Do(ReadPending{0, shard, 0, 1}).newest; }
  // Those that read a shard's log1 from anywhere.
  size_t Polls(Shard shard = 0) const {
    size_t count = 0;
    for (const ReadPending& read : Of<ReadPending>()) count += read.shard == shard;
    return count;
  }
  // Polls of a shard within `time`, each answered.
  size_t PollsWithin(Duration time) {
    size_t count = 0;
    for (const Time until = now.mono + time; now.mono < until;) {
      Pass(milliseconds(1));
      Step();
      count += Polls();
      AnswerAll();
    }
    return count;
  }
  bool Mirrors(UserId src, UserId dst) const { return store.reverse().contains({src, dst}); }

  const UserId ann = UserOn(0), bob = UserOn(1), cid = UserOn(1, 2);
  SeenOfBells seen;
};

TEST(Bells, ARowIsAppliedAsSoonAsItsBellRings) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Step();
  ASSERT_EQ(w.Polls(), 0u) << "no poll is due";
  w.Ring(0, {w.LastId()});
  ASSERT_THAT(w.Of<AskPending>(), ::testing::SizeIs(1));
  EXPECT_THAT(w.Of<AskPending>()[0].log_ids, ElementsAre(w.LastId()));
  w.AnswerAll();
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_EQ(w.seen.found, 1u);
  EXPECT_TRUE(w.store.Do(ReadPending{0, 0, 0, 9}).changes.empty()) << "it is marked";
}

TEST(Bells, NobodyListensInOtherModes) {
  BellWorld w(MirrorMode::kAsync);
  w.PollsWithin(seconds(3));
  EXPECT_THAT(w.bells.asked, IsEmpty());
  w.bells.mode = MirrorMode::kLog;
  w.PollsWithin(seconds(1));
  EXPECT_EQ(w.bells.asked.size(), 2u) << "each shard's";
  w.Ring(0, {});
  EXPECT_TRUE(w.seen.rings[0]);
  w.bells.mode = MirrorMode::kSync;
  w.PollsWithin(seconds(1));
  w.Ring(0, {7});
  w.Ring(1, {});
  EXPECT_THAT(w.Of<AskPending>(), IsEmpty());
  EXPECT_FALSE(w.seen.rings[0]);
  EXPECT_GE(w.PollsWithin(milliseconds(200)), 9u);
  w.bells.looks = 0;
  w.PollsWithin(seconds(3));
  EXPECT_THAT(w.bells.asked, IsEmpty());
  EXPECT_LE(w.bells.looks, 4u);
}

TEST(Bells, WhileTheModeCannotBeReadItStays) {
  BellWorld w;
  w.bells.status = Status::Later("mysql_0", "away");
  w.bells.mode = MirrorMode::kAsync;
  w.PollsWithin(seconds(3));
  w.Ring(0, {});
  EXPECT_EQ(w.bells.asked.size(), 2u);
}

TEST(Bells, WhatABellSaysIsNotBelieved) {
  BellWorld w;
  w.Ring(0, {1, 77, UINT64_MAX});
  w.AnswerAll();
  w.Pass(milliseconds(100));
  w.Step();
  w.AnswerAll();
  EXPECT_EQ(w.seen.found, 0u);
  EXPECT_EQ(w.seen.vain, 3u);
  EXPECT_TRUE(w.store.reverse().empty());
}

// A server sends the event before everybody sees the transaction.
TEST(Bells, ARowThatIsNotVisibleYetIsAskedForAgain) {
  BellWorld w;
  w.Ring(0, {w.LastId() + 1});
  w.Answer<AskPending>();
  w.store.Change(w.ann, w.bob, true);
  w.Step();
  w.AnswerAll();
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
}

// Semi-synchronous replication waits for another server in between, which may be far away.
TEST(Bells, ARowThatIsShownLongAfterItsBellRangIsPolledForAsWithoutBells) {
  BellWorld w;
  w.Ring(0, {w.LastId() + 1});
  w.AnswerAll();
  ASSERT_EQ(w.seen.vain, 1u);
  w.store.Change(w.ann, w.bob, true);
  w.PollsWithin(milliseconds(50));
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  w.Ring(0, {});
  EXPECT_TRUE(w.seen.rings[0]);
}

TEST(Bells, ARowThatCameByBellAndByPollIsOne) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {w.LastId(), w.LastId()});
  w.Pass(w.limits.belled_poll_every);
  w.Step();
  ASSERT_GE(w.Polls(), 1u);
  ASSERT_THAT(w.Of<AskPending>(), ::testing::SizeIs(1));
  w.AnswerAll();
  EXPECT_EQ(w.seen.written, 1u);
  EXPECT_EQ(w.seen.stale, 0u);
  EXPECT_EQ(w.Written().size(), 1u);
}

// Both reads hold the row; it is done before the second answer comes.
TEST(Bells, ARowThatIsMarkedDuringTheQuestionIsNotBegunAgain) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {w.LastId()});
  const AskPending question = w.Of<AskPending>()[0];
  PendingAsked late = w.CarryOut(question);
  late.id = question.id;
  w.Pass(w.limits.belled_poll_every);
  w.Step();
  ASSERT_GE(w.Answer<ReadPending>(), 1u);
  w.Step();
  for (int hop = 0; hop < 9; ++hop) {
    w.Answer<AppendRelations>();
    w.Answer<ApplyEdges>();
    w.Answer<AppendHints>();
    w.Answer<MarkDone>();
    w.Step();
  }
  ASSERT_EQ(w.seen.written, 1u);
  for (size_t i = 0; i < w.requests.size(); ++i) {
    if (w.requests[i].As<AskPending>() == nullptr) continue;
    w.requests.erase(w.requests.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  w.inbox.Push(late);
  w.Step();
  w.AnswerAll();
  EXPECT_EQ(w.seen.stale, 0u);
  EXPECT_EQ(w.Written().size(), 1u);
}

TEST(Bells, PollsRestWhileABellRingsAndGoOnWhenItIsLost) {
  BellWorld w;
  EXPECT_LE(w.PollsWithin(seconds(5)), 15u) << "new rows and late ones, each once a second";
  w.Ring(0, {}, Status::Later("mysql_0", "no right"));
  EXPECT_EQ(w.seen.lost, 1u);
  EXPECT_FALSE(w.seen.rings[0]);
  EXPECT_TRUE(w.seen.rings[1]);
  EXPECT_GE(w.PollsWithin(milliseconds(200)), 9u);
}

TEST(Bells, AShardThatTellsOfTooManyRowsIsPolledForAWhile) {
  BellWorld w;
  std::vector<uint64_t> many(w.limits.most_told + 1);
  std::iota(many.begin(), many.end(), 1'000);
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, many);
  EXPECT_FALSE(w.seen.rings[0]);
  EXPECT_TRUE(w.seen.rings[1]);
  EXPECT_EQ(w.seen.lost, 0u) << "it is there";
  EXPECT_THAT(w.Of<AskPending>(), IsEmpty()) << "polls find these rows";
  EXPECT_GE(w.PollsWithin(milliseconds(200)), 9u);
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  w.PollsWithin(w.limits.polled_for - milliseconds(300));
  EXPECT_EQ(w.bells.asked.size(), 1u) << "shard 1's";
  w.PollsWithin(milliseconds(200));
  ASSERT_EQ(w.bells.asked.size(), 2u);
  EXPECT_TRUE(w.bells.asked.back().request.anew);
  w.Ring(0, {});
  EXPECT_TRUE(w.seen.rings[0]);
}

TEST(Bells, WhatNoBellToldOfIsFoundWithinASecond) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.PollsWithin(milliseconds(1'100));
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_EQ(w.seen.found, 0u);
}

// The link of a bell outlives a switch of primaries during which nobody asked the shard anything.
TEST(Bells, ABellThatDoesNotTellOfWhatAPollFindsIsHungUpAnew) {
  BellWorld w;
  w.PollsWithin(milliseconds(1'100));
  w.store.Change(w.ann, w.bob, true);
  w.PollsWithin(milliseconds(1'100));
  EXPECT_EQ(w.seen.silent, 0u) << "it may still tell";
  w.PollsWithin(milliseconds(1'100));
  EXPECT_EQ(w.seen.silent, 1u);
  EXPECT_FALSE(w.seen.rings[0]);
  EXPECT_TRUE(w.seen.rings[1]);
  EXPECT_GE(w.PollsWithin(milliseconds(200)), 9u);
  w.Ring(0, {});
  EXPECT_FALSE(w.seen.rings[0]) << "the link of before";
  w.PollsWithin(w.limits.polled_for);
  ASSERT_EQ(w.bells.asked.size(), 2u);
  EXPECT_TRUE(w.bells.asked.back().request.anew);
  w.Ring(0, {});
  EXPECT_TRUE(w.seen.rings[0]);
  w.PollsWithin(seconds(5));
  EXPECT_EQ(w.seen.silent, 1u);
}

TEST(Bells, ABellThatWasHungUpAnewByItselfNeedNotTellOfWhatPassedBefore) {
  BellWorld w;
  w.PollsWithin(milliseconds(1'100));
  w.store.Change(w.ann, w.bob, true);
  w.PollsWithin(milliseconds(1'100));
  w.Ring(0, {}, Status::Done(), true);
  w.PollsWithin(milliseconds(2'200));
  EXPECT_EQ(w.seen.silent, 0u);
  EXPECT_TRUE(w.seen.rings[0]);
}

TEST(Bells, ARowThatIsCommittedBehindHigherIdsMayBeOlderThanTheBell) {
  BellWorld w;
  w.Ring(0, {}, Status::Later("mysql_0", "away"));
  const uint64_t late = w.store.ReserveRow(0);
  w.store.Change(w.ann, w.cid, true);
  w.PollsWithin(milliseconds(1'500));
  w.store.next_row = late;
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {});
  w.PollsWithin(seconds(4));
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_EQ(w.seen.silent, 0u);
}

TEST(Bells, ABellThatIsLostIsHungUpAgainWithBackOff) {
  BellWorld w;
  size_t attempts = 0;
  for (int ms = 0; ms < 20'000; ++ms) {
    w.Pass(milliseconds(1));
    w.Step();
    w.AnswerAll();
    for (const auto& asked : w.bells.asked) {
      if (asked.request.shard != 0) continue;
      EXPECT_EQ(asked.request.anew, attempts > 0);
      ++attempts;
      w.Ring(0, {}, Status::Later("mysql_0", "away"));
      EXPECT_GT(w.next_timer, w.now.mono);
      break;
    }
  }
  EXPECT_GE(attempts, 7u);
  EXPECT_LE(attempts, 15u);
  w.PollsWithin(seconds(6));
  w.Ring(0, {});
  EXPECT_TRUE(w.seen.rings[0]);
  w.Ring(0, {}, Status::Later("mysql_0", "away"));
  w.PollsWithin(2 * w.limits.backoff.first);
  EXPECT_EQ(w.bells.asked.size(), 2u) << "a new loss begins with a short pause";
}

TEST(Bells, AfterAFailureOfTheShardTheBellIsHungUpWhereItIsNow) {
  BellWorld w;
  w.Pass(w.limits.belled_poll_every);
  w.Step();
  ASSERT_GE(w.Answer<ReadPending>(Fate::kLater), 1u);
  w.Step();
  EXPECT_FALSE(w.seen.rings[0]) << "the old server may be listened to in vain";
  w.Ring(0, {});
  EXPECT_FALSE(w.seen.rings[0]);
  ASSERT_FALSE(w.bells.asked.empty());
  EXPECT_TRUE(w.bells.asked.back().request.anew);
  w.Ring(0, {});
  EXPECT_TRUE(w.seen.rings[0]);
  EXPECT_FALSE(w.bells.asked.back().request.anew);
}

TEST(Bells, AfterAQuestionThatFailedTheNextIsAsked) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {w.LastId()});
  ASSERT_EQ(w.Answer<AskPending>(Fate::kLater), 1u);
  w.Step();
  EXPECT_FALSE(w.seen.rings[0]);
  w.PollsWithin(milliseconds(500));
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob)) << "by a poll";
  w.Ring(0, {});
  w.store.Change(w.ann, w.cid, true);
  w.Ring(0, {w.LastId()});
  EXPECT_THAT(w.Of<AskPending>(), ::testing::SizeIs(1));
  w.AnswerAll();
  EXPECT_TRUE(w.Mirrors(w.ann, w.cid));
}

TEST(Bells, ARowThatFindsNoRoomIsTakenByPollsLater) {
  BellWorld w;
  w.limits.rows_per_pair = 1;
  w.Crash();
  w.Start();
  w.Turns(2);
  w.Ring(0, {});
  w.AfterAPoll();
  w.store.Change(w.ann, w.bob, true);
  const uint64_t first = w.LastId();
  w.store.Change(w.ann, w.cid, true);
  w.Ring(0, {first, w.LastId()});
  w.Answer<AskPending>();
  w.PollsWithin(seconds(3));
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_TRUE(w.Mirrors(w.ann, w.cid));
  EXPECT_EQ(w.seen.silent, 0u) << "it was told of";
}

TEST(Bells, AShardThatIsNotOursAnyMoreIsNotListenedTo) {
  BellWorld w;
  w.inbox.Push(PartitionRevoked{0});
  w.Step();
  EXPECT_FALSE(w.seen.rings[0]);
  w.Ring(0, {7});
  EXPECT_EQ(w.bells.asked.size(), 1u) << "the other shard's";
  EXPECT_THAT(w.Of<AskPending>(), IsEmpty());
  w.inbox.Push(PartitionAssigned{0, 0, 0});
  w.Step();
  EXPECT_EQ(w.bells.asked.size(), 2u);
  w.Ring(0, {});
  EXPECT_TRUE(w.seen.rings[0]);
  w.inbox.Push(PartitionAssigned{0, 0, 0});
  w.Step();
  EXPECT_FALSE(w.seen.rings[0]) << "what this assignment reads does not rest yet";
}

TEST(Bells, AMirrorThatStopsBeginsNothingThatItHears) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {w.LastId()});
  w.mirror->StopTaking();
  ASSERT_EQ(w.Answer<AskPending>(), 1u);
  w.Step();
  EXPECT_THAT(w.Of<AppendRelations>(), IsEmpty());
  EXPECT_TRUE(w.mirror->drained());
}

TEST(Bells, ALockedRowIsNoReasonToDoubtABell) {
  BellWorld w;
  w.Pass(w.limits.belled_poll_every);
  w.Step();
  ASSERT_GE(w.Answer<ReadPending>(Fate::kLocked), 1u);
  w.Step();
  EXPECT_TRUE(w.seen.rings[0]);
}

TEST(Bells, ABellIsAskedAgainInTime) {
  BellWorld w(MirrorMode::kLog, milliseconds(100));
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {w.LastId()});
  const Time next = w.now.mono + milliseconds(10);
  w.AnswerAll();
  EXPECT_EQ(w.bells.asked.size(), 1u) << "shard 1's";
  ASSERT_EQ(w.next_timer, next);
  w.Pass(milliseconds(10));
  w.Step();
  EXPECT_EQ(w.bells.asked.size(), 2u);
}

TEST(Bells, TheAnswerToAQuestionAboutAShardThatIsNotOursAnyMoreIsNobodys) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {w.LastId()});
  w.inbox.Push(PartitionRevoked{0});
  w.Step();
  ASSERT_EQ(w.Answer<AskPending>(), 1u);
  w.Step();
  EXPECT_EQ(w.seen.found, 0u);
}

TEST(Bells, TheAnswerToAnEarlierOwnersQuestionIsNotTheNewOnes) {
  BellWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Ring(0, {w.LastId()});
  const AskPending early = w.Of<AskPending>()[0];
  w.inbox.Push(PartitionAssigned{0, 0, 0});  // it was taken away and given back
  w.Step();
  w.Ring(0, {w.LastId()});
  ASSERT_THAT(w.Of<AskPending>(), ::testing::SizeIs(2));
  w.inbox.Push(PendingAsked{early.id, Status::Later("mysql_0", "away"), {}});
  for (size_t i = 0; i < w.requests.size(); ++i) {
    const AskPending* each = w.requests[i].As<AskPending>();
    if (each == nullptr || each->id != early.id) continue;
    w.requests.erase(w.requests.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  w.Step();
  EXPECT_EQ(w.seen.found, 0u);
  EXPECT_TRUE(w.seen.rings[0]) << "nothing of the new one's has failed";
  w.Answer<AskPending>();
  w.Step();
  EXPECT_EQ(w.seen.found, 1u);
}

}  // namespace
}  // namespace fanline::mirror
