#include "mirror/applier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fanline/wire/dead_letter.h"
#include "tests/unit/mirror/world.h"

namespace fanline::mirror {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Keeps the relay out: the test appends the messages.
struct ApplierWorld : World {
  explicit ApplierWorld(const Limits& given = Limits{}) : World(Quiet(given)) { Start(); }
  static Limits Quiet(Limits given) {
    given.poll_every = std::chrono::hours(24);
    given.purge_every = std::chrono::hours(24);
    given.mode_every = std::chrono::hours(24);
    return given;
  }
  // A message of an edge to `dst` that has no row of log1.
  void Give(UserId src, UserId dst, uint64_t ver, bool live = true) {
    Append(EdgeWritten{{src, dst, ver, live, 1}});
  }
  void Go(int steps = 1) {
    for (int i = 0; i < steps; ++i) Step();
  }
  int64_t commits() const { return committed[0] + committed[1]; }
  void RunUntilIdle() {
    for (int i = 0; i < 20; ++i) {
      Step();
      while (!requests.empty()) AnswerAt(0, Fate::kDone);
    }
    Pass(limits.commit_every);
    Step();
  }

  const UserId ann = UserOn(0), bob = UserOn(1);
};

TEST(Applier, ReverseRowThenHintThenMsg2ThenLogThenOffset) {
  ApplierWorld w;
  w.store.Change(w.ann, w.bob, true);
  const LoggedChange row = w.store.Do(ReadPending{0, 0, 0, 10}).changes.at(0);
  w.Append(EdgeWritten{row.edge, row.id});
  w.Answer<ReadPending>();  // the relay's first read; the msg1 it sends is never appended
  w.Answer<ReadMirrorMode>();

  w.Step();
  ASSERT_THAT(w.Of<ApplyEdges>(), SizeIs(1));
  EXPECT_THAT(w.Of<AppendHints>(), IsEmpty()) << "a hint before the reverse row";
  w.Answer<ApplyEdges>();
  w.requests.clear();
  w.Step();
  ASSERT_THAT(w.Of<AppendHints>(), SizeIs(1));
  EXPECT_THAT(w.Of<AppendRelations>(), IsEmpty()) << "msg2 before the hint";
  w.Answer<AppendHints>();
  EXPECT_THAT(w.hints, ElementsAre(Hint::OfSync(w.ann, w.bob)));
  w.Step();
  ASSERT_THAT(w.Of<AppendRelations>(), SizeIs(1));
  EXPECT_THAT(w.Of<MarkDone>(), IsEmpty()) << "done before msg2";
  w.Answer<AppendRelations>();
  EXPECT_THAT(w.Mirrored(), ElementsAre(EdgeMirrored{row.edge.key(), row.edge.ver}));
  w.Pass(std::chrono::seconds(1));
  w.Step();
  ASSERT_THAT(w.Of<MarkDone>(), SizeIs(1));
  EXPECT_EQ(w.Of<MarkDone>()[0].shard, w.shards.ShardOf(w.ann));
  EXPECT_THAT(w.Of<MarkDone>()[0].rows, ElementsAre(row.row()));
  EXPECT_EQ(w.store.pending(), 1u);
  const int64_t before = w.commits();
  w.RunUntilIdle();
  EXPECT_EQ(w.store.pending(), 0u);
  EXPECT_EQ(w.commits(), before + 2) << "msg1 and msg2";
}

TEST(Applier, AStaleOrRepeatedMessageIsHintedAndAnsweredAgain) {
  ApplierWorld w;
  w.Give(w.ann, w.bob, 9);
  w.RunUntilIdle();
  w.Give(w.ann, w.bob, 9);
  w.Give(w.ann, w.bob, 7, false);
  w.RunUntilIdle();
  EXPECT_THAT(w.hints, SizeIs(3));
  const EdgeMirrored nine{{w.ann, w.bob}, 9};
  EXPECT_THAT(w.Mirrored(), ElementsAre(nine, nine, nine));
  EXPECT_TRUE(w.store.reverse().at({w.ann, w.bob}).live);
}

TEST(Applier, ManyEdgesOfAShardAreOneTransaction) {
  ApplierWorld w;
  for (uint64_t src = 1; src <= 50; ++src) {
    if (UserId{src} != w.bob) w.Give(UserId{src}, w.bob, src);
  }
  w.Step();
  ASSERT_THAT(w.Of<ApplyEdges>(), SizeIs(1));
  EXPECT_THAT(w.Of<ApplyEdges>()[0].edges, SizeIs(49));
}

TEST(Applier, HintsThatMayBeMissingAreAppendedAgainBeforeMsg2) {
  for (const Fate fate : {Fate::kLater, Fate::kUnknown}) {
    ApplierWorld w;
    w.Give(w.ann, w.bob, 9);
    w.Step();
    w.Answer<ApplyEdges>();
    w.Step();
    ASSERT_EQ(w.Answer<AppendHints>(fate), 1u);
    w.Step();
    EXPECT_THAT(w.Of<AppendHints>(), IsEmpty()) << "without any back-off";
    EXPECT_THAT(w.Of<AppendRelations>(), IsEmpty());
    w.Pass(std::chrono::seconds(10));
    w.Step();
    ASSERT_THAT(w.Of<AppendHints>(), SizeIs(1));
    w.RunUntilIdle();
    EXPECT_THAT(w.Mirrored(), SizeIs(1));
  }
}

// A partition of fanout-tasks without a leader.
TEST(Applier, ARangeThatTakesNothingHoldsUpItsOwnEdgesOnly) {
  ApplierWorld w;
  const Range silent = w.layout.RangeOf(w.ann);
  w.takes_nothing = {silent};
  size_t others = 0, all = 0;
  const auto follow = [&](uint64_t from, uint64_t to) {
    for (uint64_t src = from; src < to; ++src) {
      if (UserId{src} == w.bob) continue;
      others += w.layout.RangeOf(UserId{src}) != silent;
      ++all;
      w.Give(UserId{src}, w.bob, src);
    }
    w.Step();
    w.Answer<ApplyEdges>();
    w.Step();
  };
  follow(1, 41);
  ASSERT_EQ(w.Answer<AppendHints>(), 1u);
  w.Step();
  w.Answer<AppendRelations>();
  ASSERT_LT(others, all);
  EXPECT_THAT(w.Mirrored(), SizeIs(others));

  follow(41, 81);
  EXPECT_THAT(w.Of<AppendHints>(), SizeIs(2)) << "they wait for each other no more";
  w.Answer<AppendHints>();
  w.Pass(std::chrono::seconds(10));
  w.Step();
  w.Answer<AppendRelations>();
  EXPECT_THAT(w.Mirrored(), SizeIs(others));
  ASSERT_THAT(w.Of<AppendHints>(), SizeIs(1)) << "once more, after a back-off";
  for (const auto& [range, hint] : w.Of<AppendHints>()[0].hints) EXPECT_EQ(range, silent);

  w.takes_nothing.clear();
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_THAT(w.Mirrored(), SizeIs(all));
  EXPECT_THAT(w.hints, SizeIs(all)) << "each once";
  follow(81, 121);
  EXPECT_THAT(w.Of<AppendHints>(), SizeIs(1));
}

TEST(Applier, AShardThatIsAwayHoldsUpItsOwnEdgesOnly) {
  ApplierWorld w;
  w.Give(w.ann, w.bob, 9);
  w.Give(w.bob, w.ann, 9);
  w.Step();
  ASSERT_THAT(w.Of<ApplyEdges>(), SizeIs(2));
  for (size_t i = 0; i < w.requests.size(); ++i) {
    const auto* apply = w.requests[i].As<ApplyEdges>();
    if (apply == nullptr || apply->shard != 1) continue;
    w.AnswerAt(i, Fate::kLater);
    break;
  }
  w.Answer<ApplyEdges>();
  w.Step();
  EXPECT_THAT(w.Of<ApplyEdges>(), IsEmpty()) << "asked again without back-off";
  w.RunUntilIdle();
  EXPECT_THAT(w.Mirrored(), ElementsAre(EdgeMirrored{{w.bob, w.ann}, 9}));
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_THAT(w.Mirrored(), SizeIs(2));
}

// A store whose second shard is away, for as long as it takes.
struct Away : ApplierWorld {
  explicit Away(const Limits& given = Few()) : ApplierWorld(given) { RunUntilIdle(); }
  static Limits Few() {
    Limits limits;
    limits.records_open = 16;
    return limits;
  }
  // ann follows users of the shard that is away: the rows of log1 and the msg1s in the log.
  void Follow(uint64_t from, uint64_t to) {
    for (uint64_t nth = from; nth <= to; ++nth) {
      const Edge edge = store.Change(ann, UserOn(1, nth), true);
      Append(EdgeWritten{edge, ++rows});
    }
  }
  void RunWithShard1Away(bool rows_by_src_too = false) {
    for (int i = 0; i < 20; ++i) {
      Step();
      for (size_t open = requests.size(); open > 0; --open) {
        const auto* apply = requests[0].As<ApplyEdges>();
        const auto* mark = requests[0].As<MarkDone>();
        const auto* read = requests[0].As<ReadPending>();
        if (mark != nullptr) marked += mark->rows.size();
        reads += read != nullptr ? 1 : 0;
        const bool away = (apply != nullptr && apply->shard == 1) ||
                          (read != nullptr && read->shard == 1 && rows_by_src_too);
        AnswerAt(0, away ? Fate::kLater : Fate::kDone);
      }
    }
  }
  // Runs until messages held up for long are given back, and their offsets are committed.
  void RunForLong(bool rows_by_src_too = false) {
    RunWithShard1Away(rows_by_src_too);
    Pass(limits.keep_waiting);
    RunWithShard1Away(rows_by_src_too);
    Pass(limits.commit_every);
    Step();
  }
  // As a rebalance does: all messages from the committed offsets on are read again.
  void MovePartitions(bool revoked) {
    for (int32_t p = 0; p < kPartitions; ++p) {
      if (revoked) inbox.emplace_back(PartitionRevoked{p});
      inbox.emplace_back(PartitionAssigned{p, committed[static_cast<size_t>(p)], 0});
    }
  }
  uint64_t rows = 0;  // of log1, on the shard of ann
  size_t marked = 0, reads = 0;
};

TEST(Applier, AShardThatIsAwayForLongGivesItsEdgesBackToTheLog) {
  Away w;
  w.Follow(1, 8);
  w.RunWithShard1Away();
  EXPECT_EQ(w.commits(), 0) << "given back before they harmed anybody for long";
  w.Pass(w.limits.keep_waiting);
  w.RunWithShard1Away();
  w.Pass(w.limits.commit_every);
  w.Step();
  EXPECT_EQ(w.commits(), 8);
  EXPECT_EQ(w.store.pending(), 8u) << "no relay would find them again";
  EXPECT_EQ(w.Written(), 8u) << "the relay appends them again, nobody else";
  w.Append(EdgeWritten{{w.bob, w.ann, 9, true, 1}, 9});
  w.RunWithShard1Away();
  EXPECT_THAT(w.Mirrored(), ElementsAre(EdgeMirrored{{w.bob, w.ann}, 9}));
  EXPECT_EQ(w.marked, 1u);
}

// With little traffic the oldest records are half an hour old by the time so much is open. So they
// are for a mirror that starts far behind.
TEST(Applier, WhatIsPendingIsGivenBackHoweverOldItsRecordIs) {
  Away w;
  w.Follow(1, 8);
  w.Pass(std::chrono::hours(1));
  w.RunForLong();
  EXPECT_EQ(w.commits(), 8);
  EXPECT_EQ(w.store.pending(), 8u);
}

TEST(Applier, RowsInDoubtAreLookedUpManyAtATime) {
  Limits limits = Away::Few();
  limits.rows_per_read = 4;
  Away w(limits);
  w.Follow(1, 16);
  w.store.Finish(0, {2, 3, 5, 6, 7, 8, 9, 10});
  w.reads = 0;
  w.RunForLong();
  EXPECT_EQ(w.reads, 3u) << "rows 1 4 11 12, then 13 to 16, then for the copies";
  EXPECT_EQ(w.store.pending(), 8u);
  EXPECT_EQ(w.Written(), 16u + 8u) << "those that were done are appended anew";
}

TEST(Applier, AShardThatIsBackIsTriedBeforeAnythingIsGivenBack) {
  Away w;
  w.Follow(1, 8);
  w.RunWithShard1Away();
  w.Pass(w.limits.keep_waiting);  // and is back
  w.RunUntilIdle();
  EXPECT_THAT(w.Mirrored(), SizeIs(8));
}

// A log read once more from an earlier offset, or a letter sent again: the row was done before.
TEST(Applier, AReplayedMessageWhoseRowIsDoneGoesRoundAndIsNotLost) {
  Away w;
  w.Follow(1, 8);
  w.store.Finish(0, {1, 2, 3, 4, 5, 6, 7, 8});
  w.RunForLong();
  EXPECT_EQ(w.commits(), 8);
  EXPECT_EQ(w.Written(), 16u) << "finished without a copy that stands for it";
  for (int i = 0; i < 5; ++i) w.RunWithShard1Away();
  EXPECT_EQ(w.Written(), 16u) << "round as fast as the log is read";
  w.Pass(std::chrono::minutes(1));
  w.RunUntilIdle();
  EXPECT_THAT(w.Mirrored(), SizeIs(8));
}

// While nothing is committed, each owner reads all messages again, this one too.
TEST(Applier, WhatGoesRoundIsAppendedOnceHoweverOftenItsPartitionMoves) {
  Away w;
  w.Follow(1, 8);
  w.store.Finish(0, {1, 2, 3, 4, 5, 6, 7, 8});
  for (size_t rounds = 1; rounds <= 6; ++rounds) {
    w.RunWithShard1Away();
    w.MovePartitions(rounds % 2 == 0);
    w.RunForLong();
    EXPECT_EQ(w.Written(), 8 * (rounds + 1));
  }
  w.Pass(std::chrono::minutes(1));
  w.RunUntilIdle();
  EXPECT_THAT(w.store.reverse(), SizeIs(8));
}

TEST(Applier, WhatWaitsWhenItsPartitionGoesIsForgotten) {
  for (const bool for_row_of_log1 : {false, true}) {
    Away w;
    if (for_row_of_log1) {
      w.Append(EdgeWritten{{w.bob, w.ann, 9, true, 1}, 9});
    } else {
      w.Follow(1, 3);
    }
    for (int i = 0; i < 4; ++i) {
      w.Step();
      w.Answer<ApplyEdges>(for_row_of_log1 ? Fate::kDone : Fate::kLater);
      w.Answer<AppendHints>();
      w.Answer<AppendRelations>();
      w.Answer<MarkDone>(Fate::kLater);
    }
    w.mirror->StopTaking();
    w.Step();
    EXPECT_FALSE(w.mirror->drained());
    for (int32_t p = 0; p < World::kPartitions; ++p) w.inbox.emplace_back(PartitionRevoked{p});
    w.Step();
    EXPECT_TRUE(w.mirror->drained()) << "its next owner's to do";
  }
}

TEST(Applier, WhatIsInDoubtWhenItsPartitionGoesIsNotAppendedAnew) {
  Away w;
  w.Follow(1, 8);
  w.store.Finish(0, {1, 2, 3, 4, 5, 6, 7, 8});
  w.RunWithShard1Away();
  w.Pass(w.limits.keep_waiting);
  w.Step();
  ASSERT_EQ(w.Answer<ApplyEdges>(Fate::kLater), 1u);
  w.Step();
  ASSERT_THAT(w.Of<ReadPending>(), SizeIs(1));
  w.MovePartitions(true);
  w.Step();
  w.RunWithShard1Away();
  EXPECT_EQ(w.Written(), 8u) << "its next owner has had it for no time";
}

TEST(Applier, WhatIsUnderWayWhenItsPartitionGoesIsNotWaitedWith) {
  for (const bool away : {false, true}) {
    Away w;
    w.Follow(1, 8);
    w.Step();
    for (int32_t p = 0; p < World::kPartitions; ++p) w.inbox.emplace_back(PartitionRevoked{p});
    w.Step();
    w.mirror->StopTaking();
    ASSERT_EQ(w.Answer<ApplyEdges>(away ? Fate::kLater : Fate::kDone), 1u);
    w.Step();
    EXPECT_THAT(w.Of<AppendHints>(), SizeIs(away ? 0 : 1));
    EXPECT_EQ(w.mirror->drained(), away);
  }
}

TEST(Applier, AnIdOfLog1ThatWasGivenOutAgainProvesNothing) {
  Away w;
  w.Follow(1, 8);
  for (uint64_t nth = 9; nth <= 16; ++nth) {  // of changes that the shard lost in a fail-over
    w.Append(EdgeWritten{{w.ann, w.UserOn(1, nth), nth, true, 1}, nth - 8});
  }
  w.RunForLong();
  EXPECT_EQ(w.Written(), 24u) << "appended anew, for no relay would";
  w.Pass(std::chrono::minutes(1));
  w.RunUntilIdle();
  EXPECT_EQ(w.store.reverse().size(), 8u) << "of the others, which are given back";
}

TEST(Applier, AMessageWithoutARowGoesRound) {
  Away w;
  for (uint64_t ver = 1; ver <= 16; ++ver) w.Give(w.ann, w.bob, ver);
  w.RunForLong();
  EXPECT_EQ(w.commits(), 16);
  EXPECT_EQ(w.Written(), 32u);
  w.Pass(std::chrono::minutes(1));
  w.RunUntilIdle();
  EXPECT_EQ(w.store.reverse().at({w.ann, w.bob}).ver, 16u);
}

TEST(Applier, WhatGoesRoundKeepsItsHeadersAndItsAge) {
  Away w;
  const UnixMs first = w.now.unix_ms;
  w.Append(EdgeWritten{{w.ann, w.bob, 1, true, 1}},
           {{"traceparent", "00-abc-01"}, {"odd", std::string("\0\xff", 2)}});
  for (uint64_t ver = 2; ver <= 16; ++ver) w.Give(w.ann, w.bob, ver);
  for (int rounds = 0; rounds < 2; ++rounds) w.RunForLong();
  ASSERT_EQ(w.Written(), 48u);
  std::vector<Record> newest;
  for (const auto& records : w.log) {
    for (const Record& record : records) {
      if (!HeaderOf(record, "traceparent")) continue;
      newest.push_back(record);
    }
  }
  ASSERT_THAT(newest, SizeIs(3));
  EXPECT_THAT(newest[0].headers, SizeIs(2));
  for (const size_t round : {1, 2}) {
    EXPECT_GT(newest[round].timestamp, first);
    EXPECT_EQ(newest[round].headers, (Headers{{"traceparent", "00-abc-01"},
                                              {"odd", std::string("\0\xff", 2)},
                                              {"fanline-first-appended", std::to_string(first)}}));
  }

  w.Pass(w.limits.oldest_record - w.limits.keep_waiting);
  w.MovePartitions(true);
  w.RunUntilIdle();
  EXPECT_THAT(w.letters, SizeIs(16)) << "older than tombstones are kept, though appended anew";
}

TEST(Applier, WhatIsAppendedAnewIsFinishedOnlyOnceItIsAcknowledged) {
  Away w;
  for (uint64_t ver = 1; ver <= 16; ++ver) w.Give(w.ann, w.bob, ver);
  w.RunWithShard1Away();
  w.Pass(w.limits.keep_waiting);
  w.Step();
  w.Answer<ApplyEdges>(Fate::kLater);
  w.Step();
  ASSERT_EQ(w.Answer<AppendRelations>(Fate::kLater), 1u);
  w.Pass(w.limits.commit_every);
  w.Step();
  EXPECT_EQ(w.commits(), 0);
}

TEST(Applier, AnEdgeBetweenTwoUsersOfTheShardThatIsAwayGoesRound) {
  Away w;
  const UserId carl = w.UserOn(1, 2);
  for (uint64_t row = 1; row <= 8; ++row) {
    w.Append(EdgeWritten{w.store.Change(carl, w.UserOn(1, 2 + row), true), row});
  }
  w.RunForLong(true);
  EXPECT_EQ(w.commits(), 8);
  EXPECT_EQ(w.Written(), 16u);
}

// All is acknowledged but the mark: the row stays pending and is relayed again, at no harm.
TEST(Applier, AShardOfLog1ThatIsAwayForLongHoldsUpNobodyHoweverOldTheRecords) {
  Away w;
  for (uint64_t ver = 1; ver <= 8; ++ver) {
    w.Append(EdgeWritten{{w.bob, w.ann, ver, true, 1}, ver});
  }
  w.Pass(std::chrono::hours(1));
  for (int i = 0; i < 20; ++i) {
    w.Step();
    w.Answer<MarkDone>(Fate::kLater);
    while (!w.requests.empty()) w.AnswerAt(0, Fate::kDone);
    if (i == 10) w.Pass(w.limits.keep_waiting);
  }
  w.Pass(w.limits.commit_every);
  w.Step();
  EXPECT_GE(w.commits(), 8);
}

TEST(Applier, WhatItCannotReadGoesToTheDeadLettersAsItWas) {
  ApplierWorld w;
  w.AppendBytes("no message");
  w.RunUntilIdle();
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_EQ(w.letters[0].record.value, "no message");
  EXPECT_EQ(w.letters[0].record.key, "1:2");
  EXPECT_EQ(w.letters[0].stage, "mirror");
  EXPECT_THAT(w.letters[0].reason, HasSubstr("RelationLog"));
  EXPECT_EQ(w.commits(), 1);
}

TEST(Applier, WritesALetterAgainThatMayNotHaveBeenWritten) {
  ApplierWorld w;
  w.AppendBytes("no message");
  w.Step();
  ASSERT_EQ(w.Answer<AppendDeadLetter>(Fate::kLater), 1u);
  w.Step();
  w.Pass(w.limits.commit_every);
  w.Step();
  EXPECT_EQ(w.commits(), 0);
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_THAT(w.letters, SizeIs(1));
  EXPECT_EQ(w.commits(), 1);
}

TEST(Applier, ARowThatMayNotHaveBeenMarkedIsMarkedAgainBeforeItsOffset) {
  ApplierWorld w;
  w.requests.clear();  // the relay's: never answered
  w.store.Change(w.ann, w.bob, true);
  const LoggedChange row = w.store.Do(ReadPending{0, 0, 0, 10}).changes.at(0);
  w.Append(EdgeWritten{row.edge, row.id});
  w.Step();
  w.Answer<ApplyEdges>();
  w.Step();
  w.Answer<AppendHints>();
  w.Step();
  w.Answer<AppendRelations>();
  w.Step();
  ASSERT_EQ(w.Answer<MarkDone>(Fate::kLater), 1u);
  w.Step();
  w.Pass(w.limits.commit_every);
  w.Step();
  EXPECT_EQ(w.commits(), 0);
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.store.pending(), 0u);
  EXPECT_EQ(w.commits(), 2);
}

TEST(Applier, FindsTheOneEdgeThatCannotBeStoredAndMarksItDone) {
  ApplierWorld w;
  for (uint64_t src = 1; src <= 9; ++src) {
    if (UserId{src} != w.bob) w.Append(EdgeWritten{{UserId{src}, w.bob, 5, true, 1}, src});
  }
  std::vector<uint64_t> marked;
  for (int turn = 0; turn < 30; ++turn) {
    w.Step();
    while (!w.requests.empty()) {
      bool bad = false;
      if (const auto* apply = w.requests[0].As<ApplyEdges>()) {
        for (const Edge& edge : apply->edges) bad = bad || edge.src == UserId{3};
      } else if (const auto* mark = w.requests[0].As<MarkDone>()) {
        for (const LogRow& row : mark->rows) marked.push_back(row.id);
      }
      w.AnswerAt(0, bad ? Fate::kNever : Fate::kDone);
    }
  }
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_EQ(w.letters[0].reason, "it cannot be");
  EXPECT_THAT(marked, ::testing::Contains(3u)) << "or it is relayed for ever";
  EXPECT_EQ(w.Mirrored().size() + 1, marked.size());
}

TEST(Applier, RefusesAMessageOlderThanTombstonesAreKept) {
  ApplierWorld w;
  w.Give(w.ann, w.bob, 9);
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  w.RunUntilIdle();
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_THAT(w.store.reverse(), IsEmpty());
}

TEST(Applier, AReplayMakesAMessageNoYounger) {
  ApplierWorld w;
  const UnixMs first = w.now.unix_ms;
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  w.Give(w.ann, w.bob, 9);
  for (auto& records : w.log) {
    for (Record& record : records) {
      record.headers = {{"fanline-first-appended", std::to_string(first)}};
    }
  }
  w.RunUntilIdle();
  ASSERT_THAT(w.letters, SizeIs(1));
  EXPECT_THAT(w.store.reverse(), IsEmpty());
}

TEST(Applier, PausesWhileTooMuchIsUnderWay) {
  Limits limits;
  limits.records_open = 4;
  ApplierWorld w(limits);
  for (uint64_t ver = 1; ver <= 5; ++ver) w.Give(w.ann, w.bob, ver);
  w.Step();
  EXPECT_EQ(w.paused, static_cast<size_t>(World::kPartitions));
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, w.paused);
}

TEST(Applier, DoesNotCommitForAPartitionItLost) {
  ApplierWorld w;
  w.Give(w.ann, w.bob, 9);
  w.Step();
  for (int32_t partition = 0; partition < World::kPartitions; ++partition) {
    w.inbox.emplace_back(PartitionRevoked{partition});
  }
  w.RunUntilIdle();
  EXPECT_THAT(w.hints, SizeIs(1));
  EXPECT_EQ(w.commits(), 0);
}

TEST(Applier, DrainsWhatItStarted) {
  ApplierWorld w;
  w.RunUntilIdle();
  w.Give(w.ann, w.bob, 9);
  w.Step();
  w.mirror->StopTaking();
  w.Give(w.bob, w.ann, 9);
  EXPECT_FALSE(w.mirror->drained());
  w.RunUntilIdle();
  EXPECT_TRUE(w.mirror->drained());
  EXPECT_THAT(w.hints, SizeIs(1));
}

}  // namespace
}  // namespace fanline::mirror
