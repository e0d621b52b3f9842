// The behaviour of a mirror: what it does with the changes in log1, whatever its calls answer.
#include "mirror/mirror.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/unit/mirror/world.h"

namespace fanline::mirror {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Seen : Metrics {
  void Applied(bool by_this, Duration) override { by_this ? ++written : ++stale; }
  void Pending(Shard forward, Shard reverse, uint64_t rows, Duration oldest) override {
    pending[{forward, reverse}] = {rows, oldest};
  }
  void Rejected(const std::string&) override { ++rejected; }
  size_t written = 0, stale = 0, rejected = 0;
  std::map<std::pair<Shard, Shard>, std::pair<uint64_t, Duration>> pending;
};

struct MirrorWorld : World {
  explicit MirrorWorld(const Limits& given = Limits{}) : World(given) {
    metrics = &seen;
    Start();
    Turns(2);
  }

  // The changes are read: their msg1s are under way.
  void Read() {
    Pass(limits.poll_every);
    Step();
    Answer<ReadPending>();
    Step();
  }
  // Answers these calls, if there are any, and steps on.
  template <class R>
  void Go(Fate fate = Fate::kDone) {
    ASSERT_GE(Answer<R>(fate), 1u);
    Step();
  }
  // A change up to its msg1.
  void FollowAndAppend() {
    store.Change(ann, bob, true);
    Read();
    Go<AppendRelations>();
  }
  template <class R>
  bool Waits() const {
    return !Of<R>().empty();
  }
  std::vector<uint64_t> Pending(Shard shard = 0) {
    std::vector<uint64_t> ids;
    for (const auto& change : store.Do(ReadPending{0, shard, 0, 100}).changes) {
      ids.push_back(change.id);
    }
    return ids;
  }
  bool Mirrors(UserId src, UserId dst) const {
    const auto row = store.reverse().find({src, dst});
    return row != store.reverse().end() && row->second == store.forward().at({src, dst});
  }
  // Answers what waits, for so long; of the calls of one kind a few by themselves.
  template <class R>
  void RunWith(Duration time, const std::function<Fate(const R&)>& fate) {
    for (const Time until = now.mono + time; now.mono < until;) {
      Pass(milliseconds(10));
      Step();
      for (size_t left = requests.size(); left > 0; --left) {
        const R* one = requests.front().template As<R>();
        AnswerAt(0, one == nullptr ? Fate::kDone : fate(*one));
      }
    }
    Step();
  }

  const UserId ann = UserOn(0), bob = UserOn(1), cid = UserOn(0, 2);
  Seen seen;
};

// ---- mutes ----------------------------------------------------------------------------------

struct MutesWorld : MirrorWorld {
  void Mute(uint64_t author) { store.Do(ChangeMutes{.user = ann, .authors = {UserId{author}}}); }
};

TEST(Mirror, OfMutesTheTimelineIsToldAndNobodyElse) {
  MutesWorld w;
  w.Mute(77);
  w.Read();
  EXPECT_FALSE(w.Waits<MarkDone>()) << "the hint is not acknowledged";
  w.Go<AppendHints>();
  EXPECT_THAT(w.hints, ElementsAre(Hint::OfSync(w.ann, w.ann)));
  w.Go<MarkDone>();
  EXPECT_THAT(w.Pending(), IsEmpty());
  w.Turns(100);
  EXPECT_THAT(w.hints, SizeIs(1));
  EXPECT_THAT(w.log, IsEmpty());
  EXPECT_THAT(w.store.reverse(), IsEmpty());
}

TEST(Mirror, AHintOfMutesIsAppendedUntilItIsAcknowledged) {
  MutesWorld w;
  w.Mute(77);
  w.Read();
  w.Go<AppendHints>(Fate::kLater);
  EXPECT_FALSE(w.Waits<MarkDone>());
  w.Mute(78);
  w.Turns(100);
  EXPECT_THAT(w.Pending(), IsEmpty());
  EXPECT_THAT(w.hints, SizeIs(2)) << "the second change came after the first hint was sent";
}

TEST(Mirror, WhoCrashesBeforeTheMarkTellsTheTimelineAgain) {
  MutesWorld w;
  w.Mute(77);
  w.Read();
  w.Go<AppendHints>();
  w.Crash();
  w.Start();
  w.Turns(100);
  EXPECT_THAT(w.hints, SizeIs(2));
  EXPECT_THAT(w.Pending(), IsEmpty());
}

TEST(Mirror, ARowOfMutesThatNamesTwoUsersIsSetAside) {
  MutesWorld w;
  w.store.Log(0, {0, ChangeKind::kMutes, {w.ann, w.bob, 5, true, 0}, 0});
  w.Turns(100);
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_EQ(w.letters[0].reason, "row 1 of log1 on shard 0: src " + ToString(w.ann) + ", dst " +
                                     ToString(w.bob) + ": send the user as both");
  EXPECT_THAT(w.Pending(), IsEmpty());
  EXPECT_THAT(w.hints, IsEmpty());
}

// ---- the steps ------------------------------------------------------------------------------

TEST(Mirror, Msg1ThenReverseRowThenHintThenMsg2ThenMark) {
  MirrorWorld w;
  const Edge edge = w.store.Change(w.ann, w.bob, true);
  w.Read();
  EXPECT_FALSE(w.Waits<ApplyEdges>()) << "its msg1 is not acknowledged";
  w.Go<AppendRelations>();
  EXPECT_THAT(w.Written(), ElementsAre(EdgeWritten{edge, 1}));
  EXPECT_FALSE(w.Waits<AppendHints>()) << "the reverse row is not committed";
  w.Go<ApplyEdges>();
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_FALSE(w.Waits<AppendRelations>()) << "the hint is not acknowledged";
  w.Go<AppendHints>();
  EXPECT_THAT(w.hints, ElementsAre(Hint::OfSync(w.ann, w.bob)));
  EXPECT_FALSE(w.Waits<MarkDone>()) << "msg2 is not acknowledged";
  w.Go<AppendRelations>();
  EXPECT_THAT(w.Mirrored(), ElementsAre(EdgeMirrored{edge.key(), edge.ver}));
  EXPECT_THAT(w.Pending(), ElementsAre(1));
  w.Go<MarkDone>();
  EXPECT_THAT(w.Pending(), IsEmpty());
  w.Turns(100);
  EXPECT_THAT(w.log, SizeIs(2)) << "once";
}

// A crash may have lost the earlier hint.
TEST(Mirror, AStaleChangeIsHintedAndAnsweredAgain) {
  MirrorWorld w;
  const Edge edge = w.store.Change(w.ann, w.bob, true);
  w.store.Do(ApplyEdges{0, 1, {edge}});
  w.Turns(3);
  EXPECT_THAT(w.hints, SizeIs(1));
  EXPECT_THAT(w.Mirrored(), SizeIs(1));
  EXPECT_EQ(w.seen.stale, 1u);
}

TEST(Mirror, ManyEdgesOfAShardAreOneTransactionAndOneStatementMarksThem) {
  MirrorWorld w;
  for (uint64_t nth = 1; nth <= 50; ++nth) w.store.Change(w.ann, w.UserOn(1, nth), true);
  w.Read();
  EXPECT_THAT(w.Of<AppendRelations>(), SizeIs(1));
  w.Go<AppendRelations>();
  ASSERT_THAT(w.Of<ApplyEdges>(), SizeIs(1));
  EXPECT_THAT(w.Of<ApplyEdges>()[0].edges, SizeIs(50));
  w.Go<ApplyEdges>();
  w.Go<AppendHints>();
  w.Go<AppendRelations>();
  ASSERT_THAT(w.Of<MarkDone>(), SizeIs(1));
  EXPECT_THAT(w.Of<MarkDone>()[0].rows, SizeIs(50));
}

TEST(Mirror, ChangesOfOneEdgeAreWrittenOnceAtTheHighestVersion) {
  MirrorWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.store.Change(w.ann, w.bob, false);
  const Edge last = w.store.Change(w.ann, w.bob, true);
  w.Read();
  w.Go<AppendRelations>();
  EXPECT_THAT(w.Written(), SizeIs(3)) << "the msg1 of each";
  ASSERT_THAT(w.Of<ApplyEdges>(), SizeIs(1));
  EXPECT_THAT(w.Of<ApplyEdges>()[0].edges, ElementsAre(last));
  w.Turns(3);
  EXPECT_THAT(w.Mirrored(), SizeIs(1));
  EXPECT_THAT(w.hints, SizeIs(1));
  EXPECT_THAT(w.Pending(), IsEmpty());
}

TEST(Mirror, ChangesThatComeWhileTheirEdgeIsWrittenAreWrittenNext) {
  MirrorWorld w;
  w.FollowAndAppend();
  w.store.Change(w.ann, w.bob, false);
  w.Read();
  w.Go<AppendRelations>();
  EXPECT_THAT(w.Of<ApplyEdges>(), SizeIs(1)) << "one at a time";
  w.Go<ApplyEdges>();
  w.Go<AppendHints>();
  EXPECT_FALSE(w.Waits<ApplyEdges>());
  w.Turns(3);
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_THAT(w.Mirrored(), SizeIs(2));
  EXPECT_THAT(w.Pending(), IsEmpty());
}

TEST(Mirror, WhatMayNotHaveBeenAppendedIsAppendedAgainBeforeTheNextStep) {
  MirrorWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Read();
  w.Go<AppendRelations>(Fate::kUnknown);
  EXPECT_FALSE(w.Waits<ApplyEdges>());
  w.Pass(seconds(1));
  w.Step();
  w.Go<AppendRelations>();
  EXPECT_THAT(w.Written(), SizeIs(2)) << "a repetition does no harm";
  w.Go<ApplyEdges>();
  w.Go<AppendHints>(Fate::kUnknown);
  EXPECT_FALSE(w.Waits<AppendRelations>());
  w.Pass(seconds(1));
  w.Step();
  w.Go<AppendHints>();
  EXPECT_THAT(w.hints, SizeIs(2));
  w.Go<AppendRelations>(Fate::kLater);
  EXPECT_FALSE(w.Waits<MarkDone>());
  w.Pass(seconds(1));
  w.Step();
  w.Go<AppendRelations>();
  EXPECT_TRUE(w.Waits<MarkDone>());
}

TEST(Mirror, ARowThatMayNotHaveBeenMarkedIsMarkedAgain) {
  MirrorWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.RunWith<MarkDone>(milliseconds(200), [](const MarkDone&) { return Fate::kLater; });
  EXPECT_THAT(w.Pending(), ElementsAre(1));
  w.Pass(seconds(10));
  w.Turns(3);
  EXPECT_THAT(w.Pending(), IsEmpty());
  EXPECT_THAT(w.log, SizeIs(2)) << "nothing else is done again";
}

// The read was sent before the mark, and its answer comes after it.
TEST(Mirror, ARowThatWasMarkedMeanwhileIsNotTakenAnew) {
  MirrorWorld w;
  w.FollowAndAppend();
  w.Go<ApplyEdges>();
  w.Go<AppendHints>();
  w.Go<AppendRelations>();
  PendingRead stale{.changes = w.store.Do(ReadPending{0, 0, 0, 10}).changes};
  w.Answer<ReadPending>();
  w.Pass(seconds(1));
  w.Step();
  ASSERT_TRUE(w.Waits<ReadPending>()) << "the last seconds again";
  w.Go<MarkDone>();
  for (const Request& request : w.requests) {
    const auto* read = std::get_if<fakes::Asked<ReadPending>>(&request.asked);
    if (read == nullptr || read->request.shard != 0) continue;
    stale.id = read->request.id;
    read->to(stale);
  }
  std::erase_if(w.requests, [](const Request& each) {
    return each.As<ReadPending>() != nullptr && each.As<ReadPending>()->shard == 0;
  });
  w.Step();
  w.Turns(3);
  EXPECT_THAT(w.Written(), SizeIs(1));
}

// ---- shards that are away, slow, or locked ----------------------------------------------------

TEST(Mirror, AShardThatIsAwayHoldsUpItsOwnChangesOnlyAndIsTriedWithBackOff) {
  MirrorWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.store.Change(w.ann, w.cid, true);
  size_t tries = 0;
  w.RunWith<ApplyEdges>(seconds(30), [&](const ApplyEdges& apply) {
    return apply.shard == 1 ? ++tries, Fate::kLater : Fate::kDone;
  });
  EXPECT_TRUE(w.Mirrors(w.ann, w.cid));
  EXPECT_THAT(w.Pending(), ElementsAre(1));
  EXPECT_LE(tries, 20u);
  EXPECT_THAT(w.Written(), SizeIs(2)) << "each once";
  w.Pass(w.limits.backoff.most);
  w.Turns(3);
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_THAT(w.Pending(), IsEmpty());
}

// A partition of fanout-tasks without a leader.
TEST(Mirror, ARangeThatTakesNothingHoldsUpItsOwnEdgesOnly) {
  MirrorWorld w;
  const Range silent = w.layout.RangeOf(w.ann);
  w.takes_nothing = {silent};
  size_t silents = 0;
  const auto follow = [&](uint64_t from, uint64_t to) {
    for (uint64_t nth = from; nth < to; ++nth) {
      const UserId src = w.UserOn(0, nth);
      silents += w.layout.RangeOf(src) == silent;
      w.store.Change(src, w.bob, true);
    }
    w.Read();
    w.Go<AppendRelations>();
    w.Go<ApplyEdges>();
  };
  const auto done = [](const AppendHints&) { return Fate::kDone; };
  follow(1, 41);
  EXPECT_THAT(w.Of<AppendHints>(), SizeIs(1));
  w.RunWith<AppendHints>(milliseconds(50), done);
  ASSERT_GT(silents, 0u);
  EXPECT_THAT(w.Pending(), SizeIs(silents));

  follow(41, 81);
  EXPECT_GE(w.Of<AppendHints>().size(), 2u) << "they wait for each other no more";
  w.RunWith<AppendHints>(seconds(10), done);
  EXPECT_THAT(w.Pending(), SizeIs(silents));
  EXPECT_THAT(w.hints, SizeIs(80 - silents)) << "each once";

  w.takes_nothing.clear();
  w.RunWith<AppendHints>(seconds(30), done);
  EXPECT_THAT(w.Pending(), IsEmpty());
  EXPECT_THAT(w.hints, SizeIs(80)) << "each once";
}

TEST(Mirror, AShardThatHangsLeavesTheOthersTheirRoom) {
  MirrorWorld w({.rows_per_pair = 16, .rows_per_read = 8});
  for (uint64_t nth = 1; nth <= 100; ++nth) w.store.Change(w.ann, w.UserOn(1, nth), true);
  w.RunWith<ApplyEdges>(seconds(1), [](const ApplyEdges&) { return Fate::kDone; });
  ASSERT_THAT(w.Pending(), IsEmpty());
  for (uint64_t nth = 101; nth <= 200; ++nth) w.store.Change(w.ann, w.UserOn(1, nth), true);
  // Calls to shard 1 are never answered.
  for (int turn = 0; turn < 200; ++turn) {
    if (turn % 4 == 0 && turn < 180)
      w.store.Change(w.ann, w.UserOn(0, 5 + static_cast<uint64_t>(turn)), true);
    w.Pass(w.limits.poll_every);
    w.Step();
    for (size_t at = 0; at < w.requests.size();) {
      const auto* apply = w.requests[at].As<ApplyEdges>();
      apply != nullptr && apply->shard == 1 ? (void)++at : w.AnswerAt(at, Fate::kDone);
    }
  }
  w.Step();
  EXPECT_EQ(w.store.pending(), 100u) << "all others are done";
  EXPECT_EQ(w.Written().size() - w.Mirrored().size(), 16u) << "no more are in memory";
  w.Turns(100);
  EXPECT_EQ(w.store.pending(), 0u);
}

// A person's transaction holds the counter of one author.
TEST(Mirror, ALockedRowHoldsUpItselfAlone) {
  MirrorWorld w({.edges_per_transaction = 32});
  const UserId locked = w.UserOn(1, 3);
  for (uint64_t nth = 1; nth <= 20; ++nth) {
    for (uint64_t author = 1; author <= 10; ++author) {
      w.store.Change(w.UserOn(0, nth), w.UserOn(1, author), true);
    }
  }
  size_t tries = 0;
  const auto fate = [&](const ApplyEdges& apply) {
    const bool meets = std::any_of(apply.edges.begin(), apply.edges.end(),
                                   [&](const Edge& edge) { return edge.dst == locked; });
    tries += meets ? 1 : 0;
    return meets ? Fate::kLocked : Fate::kDone;
  };
  w.RunWith<ApplyEdges>(seconds(1), fate);
  EXPECT_EQ(w.store.pending(), 20u);
  EXPECT_LE(tries, 25u);
  tries = 0;
  w.RunWith<ApplyEdges>(seconds(30), fate);
  EXPECT_LE(tries, 15u) << "with back-off";
  EXPECT_THAT(w.letters, IsEmpty());
  w.Pass(w.limits.backoff.most);
  w.Turns(20);
  EXPECT_EQ(w.store.pending(), 0u);
}

// ---- what can never be written ----------------------------------------------------------------

TEST(Mirror, TheOneEdgeThatCannotBeStoredIsFoundBecomesALetterAndIsThenDone) {
  MirrorWorld w;
  for (uint64_t nth = 1; nth <= 20; ++nth) w.store.Change(w.ann, w.UserOn(1, nth), true);
  const EdgeKey bad{w.ann, w.UserOn(1, 7)};
  const auto fate = [&](const ApplyEdges& apply) {
    const bool meets = std::any_of(apply.edges.begin(), apply.edges.end(),
                                   [&](const Edge& edge) { return edge.key() == bad; });
    return meets ? Fate::kNever : Fate::kDone;
  };
  w.RunWith<ApplyEdges>(seconds(1), fate);
  EXPECT_EQ(w.store.reverse().size(), 19u);
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_EQ(w.letters[0].reason, "it cannot be");
  EXPECT_EQ(w.letters[0].record.topic, kRelationLogTopic);
  const auto message = std::get<RelationMessage>(DecodeRelationMessage(w.letters[0].record.value));
  EXPECT_EQ(KeyOf(message), bad);
  EXPECT_THAT(w.Pending(), IsEmpty());
  EXPECT_EQ(w.seen.rejected, 1u);
}

LoggedChange Damaged(const MirrorWorld& w) {
  return {.edge = {w.ann, w.ann, 7, true, 5}, .written_at = w.store.now};
}

// Somebody wrote it by hand.
TEST(Mirror, ARowThatNobodyCouldApplyIsALetterOnceAndThenDone) {
  MirrorWorld w;
  w.store.Log(0, Damaged(w));
  w.store.Change(w.ann, w.bob, true);
  w.Turns(3);
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob)) << "the other";
  ASSERT_THAT(w.letters, SizeIs(1));
  const DeadLetter& letter = w.letters[0];
  EXPECT_EQ(letter.reason,
            "row 1 of log1 on shard 0: written.dst: found src itself, " + ToString(w.ann));
  EXPECT_EQ(letter.record.offset, 1);
  EXPECT_FALSE(letter.record.value.empty());
  EXPECT_THAT(w.Pending(), IsEmpty());
  w.Pass(std::chrono::hours(1));
  w.Turns(100);
  EXPECT_THAT(w.letters, SizeIs(1));
}

TEST(Mirror, ARowIsNotMarkedBeforeItsLetterIsAcknowledged) {
  MirrorWorld w;
  w.store.Log(0, Damaged(w));
  w.RunWith<AppendDeadLetter>(milliseconds(100),
                              [](const AppendDeadLetter&) { return Fate::kLater; });
  EXPECT_THAT(w.Pending(), ElementsAre(1));
  w.Pass(seconds(10));
  w.Turns(3);
  EXPECT_THAT(w.letters, SizeIs(1));
  EXPECT_EQ(w.seen.rejected, 1u) << "told once";
  EXPECT_THAT(w.Pending(), IsEmpty());
}

// ---- rows that were read long ago -------------------------------------------------------------

struct OldWorld : MirrorWorld {
  OldWorld() {
    FollowAndAppend();
    Go<ApplyEdges>(Fate::kLater);
    Pass(limits.fresh_for + seconds(5));  // the process hangs
    Step();
  }
};

TEST(Mirror, ARowThatWasReadLongAgoIsAskedForBeforeItIsWritten) {
  OldWorld w;
  EXPECT_FALSE(w.Waits<ApplyEdges>());
  ASSERT_THAT(w.Of<AskPending>(), SizeIs(1));
  EXPECT_THAT(w.Of<AskPending>()[0].log_ids, ElementsAre(1));
  w.Go<AskPending>();
  EXPECT_TRUE(w.Waits<ApplyEdges>());
  w.Turns(3);
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
  EXPECT_THAT(w.Pending(), IsEmpty());
}

TEST(Mirror, ARowThatSomebodyElseHasDoneMeanwhileIsDropped) {
  OldWorld w;
  w.store.Finish(0, {1});
  w.Go<AskPending>();
  w.Turns(3);
  EXPECT_THAT(w.store.reverse(), IsEmpty()) << "its tombstone may be gone";
  EXPECT_TRUE(w.mirror->drained());
}

// Or hints that take longer than a row stays fresh would be appended for ever.
TEST(Mirror, AHintThatWasAcknowledgedLateIsNotAppendedAgain) {
  MirrorWorld w;
  w.FollowAndAppend();
  w.Go<ApplyEdges>();
  w.Pass(w.limits.fresh_for + seconds(5));
  w.Go<AppendHints>();
  w.Go<AskPending>();
  EXPECT_FALSE(w.Waits<ApplyEdges>());
  EXPECT_TRUE(w.Waits<AppendRelations>()) << "msg2";
  w.Turns(3);
  EXPECT_THAT(w.Pending(), IsEmpty());
}

// The reconciler then finds that the forward shard lost what the reverse row says.
TEST(Mirror, ARunOneOfWhoseRowsIsGoneEndsWithoutAMsg2) {
  MirrorWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.store.Change(w.ann, w.bob, false);
  w.Read();
  w.Go<AppendRelations>();
  w.Go<ApplyEdges>();
  w.Pass(w.limits.fresh_for + seconds(5));
  w.Go<AppendHints>();
  w.store.LoseRows(0, 1);
  w.Go<AskPending>();
  EXPECT_FALSE(w.Waits<AppendRelations>());
  EXPECT_TRUE(w.Waits<MarkDone>());
}

// A failover lost the row, and its id is another row's now.
TEST(Mirror, ARowWhoseIdIsAnothersNowIsDropped) {
  OldWorld w;
  w.store.LoseRows(0, 1);
  w.store.Change(w.ann, w.cid, true);
  w.Go<AskPending>();
  w.Turns(60);
  EXPECT_FALSE(w.store.reverse().contains({w.ann, w.bob}));
  EXPECT_TRUE(w.Mirrors(w.ann, w.cid));
}

TEST(Mirror, WhileItsOwnShardIsAwayAnOldRowWaits) {
  OldWorld w;
  w.Go<AskPending>(Fate::kLater);
  EXPECT_FALSE(w.Waits<ApplyEdges>());
  w.Pass(seconds(10));
  w.Turns(5);
  EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
}

// The forward shard dies after the msg1, and its replica lacks the change. A msg2 would end the
// reconciler's interest in it.
TEST(Mirror, AChangeThatItsShardMayHaveLostIsAskedForBeforeItsMsg2) {
  for (const bool lost : {true, false}) {
    MirrorWorld w;
    w.FollowAndAppend();
    w.Go<ApplyEdges>();
    if (lost) w.store.LoseRows(0, 1);
    w.Pass(w.limits.poll_every);
    w.Step();
    w.Go<ReadPending>(Fate::kLater);
    w.Go<AppendHints>();
    EXPECT_FALSE(w.Waits<AppendRelations>());
    w.Go<AskPending>();
    w.Turns(20);
    EXPECT_THAT(w.Mirrored(), SizeIs(lost ? 0 : 1));
    EXPECT_EQ(w.store.pending(), 0u);
  }
}

// ---- ownership --------------------------------------------------------------------------------

TEST(Mirror, WorksOnlyShardsWhosePartitionItOwns) {
  for (const uint32_t partitions : {2u, 8u}) {
    MirrorWorld w;
    w.Crash();
    w.partitions = partitions;
    w.Start();
    const auto others = static_cast<int32_t>(partitions / 2);
    for (int32_t each = others; each < 2 * others; ++each)
      w.inbox.emplace_back(PartitionRevoked{each});
    w.Turns(2);
    w.store.Change(w.ann, w.bob, true);
    w.store.Change(w.bob, w.ann, true);
    w.Turns(100);
    EXPECT_TRUE(w.Mirrors(w.ann, w.bob));
    EXPECT_FALSE(w.store.reverse().contains({w.bob, w.ann}));
    w.inbox.emplace_back(PartitionAssigned{others, 0, 0});
    w.Turns(3);
    EXPECT_TRUE(w.Mirrors(w.bob, w.ann));
  }
}

// The assignor (range) deals partitions that stand side by side, the rest to the first members.
TEST(Mirror, AsManyMembersAsShardsHaveOneEach) {
  for (uint64_t shards = 1; shards <= 20; ++shards) {
    for (uint64_t partitions = shards; partitions <= 64; ++partitions) {
      uint64_t dealt = 0;
      for (uint64_t member = 0; member < shards; ++member) {
        ASSERT_EQ(PartitionOf(member, shards, partitions), dealt) << shards << " of " << partitions;
        dealt += partitions / shards + (member < partitions % shards ? 1 : 0);
      }
    }
  }
}

TEST(Mirror, MoreShardsThanPartitionsAreSpreadOverAll) {
  for (uint64_t shard = 0; shard < 6; ++shard) EXPECT_EQ(PartitionOf(shard, 6, 3), shard / 2);
}

TEST(Mirror, WhatWaitsWhenItsPartitionGoesIsTheNextOwners) {
  MirrorWorld w;
  for (const bool again : {false, true}) {
    const Edge edge = w.store.Change(w.ann, w.bob, !again);
    w.Read();
    w.Go<AppendRelations>();
    w.inbox.emplace_back(PartitionRevoked{0});
    if (again) w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
    w.Step();
    w.Go<ApplyEdges>(again ? Fate::kLater : Fate::kDone);  // it was under way
    w.Turns(30);
    EXPECT_EQ(w.store.pending(), again ? 0u : 1u);
    EXPECT_EQ(w.store.reverse().at(edge.key()).ver, edge.ver);
    if (!again) w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
    w.Turns(30);
    EXPECT_EQ(w.store.pending(), 0u);
  }
}

TEST(Mirror, AMarkOfARowThatWasLostDoesNotMeetTheRowThatHasItsIdNow) {
  MirrorWorld w;
  w.FollowAndAppend();
  w.Go<ApplyEdges>();
  w.Go<AppendHints>();
  w.Go<AppendRelations>();
  w.store.LoseRows(0, 1);
  w.store.Change(w.ann, w.cid, true);
  w.Go<MarkDone>();
  EXPECT_THAT(w.Pending(), ElementsAre(1));
  w.Turns(static_cast<int>(w.limits.late_every / w.limits.poll_every) + 3);
  EXPECT_TRUE(w.Mirrors(w.ann, w.cid));
  EXPECT_THAT(w.Pending(), IsEmpty());
}

TEST(Mirror, FinishesWhatIsUnderWayAndNothingElse) {
  MirrorWorld w;
  w.FollowAndAppend();
  w.mirror->StopTaking();
  w.store.Change(w.ann, w.cid, true);
  EXPECT_FALSE(w.mirror->drained());
  w.Turns(5);
  EXPECT_TRUE(w.mirror->drained());
  EXPECT_THAT(w.Pending(), ElementsAre(2));
  EXPECT_THAT(w.Mirrored(), SizeIs(1));
}

TEST(Mirror, DoesNotWaitForAShardThatIsAwayWhenItStops) {
  MirrorWorld w;
  w.FollowAndAppend();
  w.mirror->StopTaking();
  w.Go<ApplyEdges>(Fate::kLater);
  EXPECT_TRUE(w.mirror->drained());
}

// ---- friendships ------------------------------------------------------------------------------

TEST(Mirror, AFriendshipIsTwoForwardWritesWithThePairsVersion) {
  MirrorWorld w;
  const auto agreed = static_cast<uint64_t>(w.now.unix_ms);
  w.store.Befriend(w.ann, w.bob, true, 7);
  w.Read();
  const auto changes = w.Of<ChangeEdge>();
  ASSERT_THAT(changes, SizeIs(2));
  for (const ChangeEdge& change : changes) {
    EXPECT_EQ(change.change.origin, Origin::kFriendship);
    EXPECT_EQ(change.change.origin_version, 7u);
    EXPECT_TRUE(change.change.live);
    EXPECT_EQ(change.change.unix_us, agreed * 1000) << "not by the time of the write";
  }
  w.Turns(10);
  EXPECT_TRUE(w.store.forward().at({w.ann, w.bob}).live);
  EXPECT_EQ(w.store.forward(), w.store.reverse()) << "each half by its own row";
  EXPECT_EQ(w.store.pending(), 0u);
}

TEST(Mirror, AFriendshipWithOneHalfAwayStaysPending) {
  MirrorWorld w;
  w.store.Befriend(w.ann, w.bob, true, 7);
  size_t refused = 0;
  w.RunWith<ChangeEdge>(milliseconds(40), [&](const ChangeEdge& change) {
    const bool refuse = change.change.src == w.bob;
    refused += refuse ? 1 : 0;
    return refuse ? Fate::kLater : Fate::kDone;
  });
  EXPECT_GE(refused, 1u);
  EXPECT_FALSE(w.store.forward().at({w.bob, w.ann}).live);
  w.Pass(seconds(10));
  w.Turns(10);
  EXPECT_TRUE(w.store.forward().at({w.bob, w.ann}).live);
  EXPECT_EQ(w.store.pending(), 0u);
}

// The mirror was away: both changes of the friendship are still to come.
TEST(Mirror, AFriendshipThatComesLateUndoesNothingThatAUserSaidAfterIt) {
  MirrorWorld w;
  w.store.Befriend(w.ann, w.bob, true, 7);
  w.store.Change(w.ann, w.bob, false);  // the user said it last, so it is to stay
  w.Turns(10);
  EXPECT_FALSE(w.store.forward().at({w.ann, w.bob}).live);
  EXPECT_TRUE(w.store.forward().at({w.bob, w.ann}).live);
  w.store.Befriend(w.ann, w.bob, false, 8);
  w.store.Change(w.bob, w.ann, true);
  w.Turns(10);
  EXPECT_TRUE(w.store.forward().at({w.bob, w.ann}).live);
}

// The partition is taken away and given back while both forward writes are under way.
TEST(Mirror, AReplyToAnEarlierAssignmentDoesNotCountForAFriendshipTakenAnew) {
  MirrorWorld w;
  w.store.Befriend(w.ann, w.bob, true, 7);
  w.Read();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.Read();
  const std::vector<ChangeEdge> asked = w.Of<ChangeEdge>();
  ASSERT_THAT(asked, SizeIs(4));
  const auto answer = [&w](const ChangeEdge& change, Fate fate) {
    for (size_t at = 0; at < w.requests.size(); ++at) {
      const auto* one = w.requests[at].As<ChangeEdge>();
      if (one != nullptr && one->id == change.id) return w.AnswerAt(at, fate), w.Step();
    }
  };
  answer(asked[0], Fate::kDone);  // one edge, asked for before and now
  answer(asked[2], Fate::kDone);
  EXPECT_FALSE(w.Waits<MarkDone>()) << "the other edge was never written";
  answer(asked[1], Fate::kLater);
  answer(asked[3], Fate::kLater);
  EXPECT_FALSE(w.Waits<MarkDone>());
  w.Pass(seconds(10));
  w.Turns(10);
  EXPECT_TRUE(w.store.forward().at({w.ann, w.bob}).live);
  EXPECT_TRUE(w.store.forward().at({w.bob, w.ann}).live);
}

// ---- the rest -------------------------------------------------------------------------------

TEST(Mirror, TellsHowMuchIsPendingForWhichShardAndForHowLong) {
  MirrorWorld w;
  for (uint64_t nth = 1; nth <= 3; ++nth) w.store.Change(w.ann, w.UserOn(1, nth), true);
  w.Pass(seconds(5));
  w.RunWith<ApplyEdges>(seconds(2), [](const ApplyEdges&) { return Fate::kLater; });
  EXPECT_EQ((w.seen.pending[{0, 1}].first), 3u);
  EXPECT_GE((w.seen.pending[{0, 1}].second), seconds(5));
  EXPECT_EQ((w.seen.pending[{0, 0}].first), 0u);
  w.Pass(seconds(10));
  w.Turns(60);
  EXPECT_EQ((w.seen.pending[{0, 1}]), std::pair(uint64_t{0}, Duration{0}));
}

TEST(Mirror, PurgesWhatIsDoneAndOldHoweverOftenItsPartitionMoves) {
  MirrorWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Turns(3);
  w.Pass(w.limits.keep_done + std::chrono::hours(1));
  w.requests.clear();
  w.Crash();
  w.Start();
  size_t purges = 0;
  for (int moves = 0; moves < 10; ++moves) {
    w.Pass(w.limits.purge_every / 3);
    w.inbox.emplace_back(PartitionRevoked{0});
    w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
    w.Step();
    purges += w.Answer<PurgeDone>();
    w.Turns(1);
  }
  EXPECT_GE(purges, 2u);
  EXPECT_EQ(w.store.Do(PurgeDone{0, 0, seconds(0), 10}).deleted, 0u) << "it was still there";
}

}  // namespace
}  // namespace fanline::mirror
