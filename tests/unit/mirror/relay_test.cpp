#include "mirror/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/mirror/world.h"

namespace fanline::mirror {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

struct PendingSeen : Metrics {
  void Pending(Shard shard, uint64_t rows, Duration oldest) override {
    seen[shard] = {rows, oldest};
  }
  std::map<Shard, std::pair<uint64_t, Duration>> seen;
};

// Keeps the applier out: its calls are never answered.
struct RelayWorld : World {
  explicit RelayWorld(const Limits& given = Limits{}) : World(given) {
    metrics = &pending;
    Start();
  }
  void Turn() {
    Pass(limits.poll_every);
    Step();
    for (size_t i = 0; i < requests.size();) {
      if (requests[i].asker == kApplier) {
        requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        AnswerAt(i, Fate::kDone);
      }
    }
    Step();
  }
  void Turns(int count) {
    for (int i = 0; i < count; ++i) Turn();
  }
  const UserId ann = UserOn(0), bob = UserOn(1);
  PendingSeen pending;
};

EdgeWritten WrittenIn(const Record& record) {
  return std::get<EdgeWritten>(std::get<RelationMessage>(DecodeRelationMessage(record.value)));
}

TEST(Relay, SendsWhatIsPendingOnceWithItsRow) {
  RelayWorld w;
  const Edge edge = w.store.Change(w.ann, w.bob, true);
  w.Turns(10);
  ASSERT_EQ(w.Written(), 1u);
  for (const auto& records : w.log) {
    for (const Record& record : records) {
      EXPECT_EQ(WrittenIn(record), (EdgeWritten{edge, 1}));
    }
  }
  w.store.Change(w.ann, w.bob, false);
  w.store.Change(w.bob, w.ann, true);
  w.Turns(3);
  EXPECT_EQ(w.Written(), 3u);
}

TEST(Relay, RelaysOnlyShardsWhosePartitionItOwns) {
  RelayWorld w;
  w.inbox.emplace_back(PartitionRevoked{1});
  w.Turns(2);
  w.store.Change(w.ann, w.bob, true);
  w.store.Change(w.bob, w.ann, true);
  w.Turns(100);
  EXPECT_EQ(w.Written(), 1u);
  w.inbox.emplace_back(PartitionAssigned{1, 0, 0});
  w.Turns(3);
  EXPECT_EQ(w.Written(), 2u);
}

TEST(Relay, FindsARowThatCommittedLateBelowWhatItSaw) {
  RelayWorld w;
  w.Turns(2);
  const uint64_t early = w.store.ReserveRow(0);
  w.store.Change(w.ann, w.bob, true);
  w.Turns(2);
  ASSERT_EQ(w.Written(), 1u);
  w.store.next_row = early;
  w.store.Change(w.ann, UserId{77}, true);
  w.Turns(static_cast<int>(w.limits.pass_every / w.limits.poll_every) + 2);
  EXPECT_EQ(w.Written(), 2u);
}

TEST(Relay, SendsAgainWhatStaysPendingAndForgetsWhatIsDone) {
  RelayWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.store.Change(w.ann, UserId{77}, true);
  w.Turns(2);
  ASSERT_EQ(w.Written(), 2u);
  w.store.Finish(0, {1});
  w.Turns(100);
  EXPECT_EQ(w.Written(), 2u) << "sent again too soon";
  w.Pass(w.limits.relay_again.first);
  w.Turns(100);
  EXPECT_EQ(w.Written(), 3u);
  w.Pass(w.limits.relay_again.first / 2);
  w.Turns(100);
  EXPECT_EQ(w.Written(), 3u) << "ever more rarely";
}

TEST(Relay, AppendsAgainSoonWhatMayNotHaveBeenAppended) {
  RelayWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.Pass(w.limits.poll_every);
  w.Answer<ReadPending>();
  w.Step();
  ASSERT_EQ(w.Answer<AppendRelations>(Fate::kLater), 1u);
  w.Turns(200);
  EXPECT_EQ(w.Written(), 1u);
}

LoggedChange Damaged(const RelayWorld& w) {
  return {.edge = {w.ann, w.ann, 7, true, 5}, .written_at = w.store.now};
}

// Somebody wrote it by hand. No message can be made of it, so no applier would mark it done.
TEST(Relay, ARowThatNobodyCouldApplyIsALetterOnceAndThenDone) {
  RelayWorld w;
  w.store.Log(0, Damaged(w));
  w.store.Change(w.ann, w.bob, true);
  w.Turns(3);
  EXPECT_EQ(w.Written(), 1u) << "the other";
  ASSERT_THAT(w.letters, SizeIs(1));
  const DeadLetter& letter = w.letters[0];
  EXPECT_EQ(letter.reason,
            "row 1 of log1 on shard 0: written.dst: found src itself, " + ToString(w.ann));
  EXPECT_EQ(letter.record.topic, kRelationLogTopic);
  EXPECT_EQ(letter.record.offset, 1);
  EXPECT_FALSE(letter.record.value.empty());
  EXPECT_THAT(w.store.Do(ReadPending{1, 0, 0, 10}).changes, SizeIs(1)) << "the other";
  w.Pass(std::chrono::hours(1));
  w.Turns(100);
  EXPECT_THAT(w.letters, SizeIs(1));
}

TEST(Relay, ARowWhoseLetterIsWrittenOnlyNeedsItsMark) {
  RelayWorld w;
  w.store.Log(0, Damaged(w));
  w.Pass(w.limits.poll_every);
  w.Step();
  w.Answer<ReadPending>();
  w.Step();
  ASSERT_EQ(w.Answer<AppendDeadLetter>(Fate::kLater), 1u);
  w.Step();
  EXPECT_THAT(w.store.Do(ReadPending{1, 0, 0, 10}).changes, SizeIs(1)) << "nobody was told";
  const auto until = [&](auto answered) {
    for (int turn = 0; turn < 1'000; ++turn) {
      w.Pass(w.limits.poll_every);
      w.Step();
      w.Answer<ReadPending>();
      w.Step();
      if (answered()) return true;
    }
    return false;
  };
  ASSERT_TRUE(until([&] { return w.Answer<AppendDeadLetter>() > 0; }));
  w.Step();
  ASSERT_EQ(w.Answer<MarkDone>(Fate::kLater), 1u);
  ASSERT_TRUE(until([&] { return w.Answer<MarkDone>() > 0; }));
  EXPECT_THAT(w.letters, SizeIs(1));
  EXPECT_THAT(w.store.Do(ReadPending{1, 0, 0, 10}).changes, IsEmpty());
}

TEST(Relay, AFriendshipIsTwoForwardWritesWithThePairsVersion) {
  RelayWorld w;
  const auto agreed = static_cast<uint64_t>(w.now.unix_ms);
  w.store.Befriend(w.ann, w.bob, true, 7);
  w.Pass(w.limits.poll_every);
  w.Answer<ReadPending>();
  w.Step();
  const auto changes = w.Of<ChangeEdge>();
  ASSERT_THAT(changes, SizeIs(2));
  for (const ChangeEdge& change : changes) {
    EXPECT_EQ(change.change.origin, Origin::kFriendship);
    EXPECT_EQ(change.change.origin_version, 7u);
    EXPECT_TRUE(change.change.live);
    EXPECT_EQ(change.change.unix_us, agreed * 1000) << "not by the time of the relay";
  }
  w.Turns(10);
  EXPECT_TRUE(w.store.forward().at({w.ann, w.bob}).live);
  EXPECT_TRUE(w.store.forward().at({w.bob, w.ann}).live);
  EXPECT_EQ(w.Written(), 4u) << "each half by its own row, and that of its announcement";
  EXPECT_EQ(w.store.pending(), 4u) << "the friendship's row is done";
}

TEST(Relay, AFriendshipWithOneHalfAwayStaysPending) {
  RelayWorld w;
  w.store.Befriend(w.ann, w.bob, true, 7);
  w.Pass(w.limits.poll_every);
  w.Answer<ReadPending>();
  w.Step();
  ASSERT_THAT(w.Of<ChangeEdge>(), SizeIs(2));
  for (size_t i = 0; i < w.requests.size(); ++i) {
    if (w.requests[i].As<ChangeEdge>() == nullptr) continue;
    w.AnswerAt(i, Fate::kLater);
    break;
  }
  w.Answer<ChangeEdge>();
  w.Step();
  EXPECT_THAT(w.Of<MarkDone>(), IsEmpty());
  w.Turns(200);
  EXPECT_EQ(w.Written(), 4u);
  EXPECT_EQ(w.store.pending(), 4u);
}

// The mirror was away: both changes of the friendship are still to come.
TEST(Relay, AFriendshipThatComesLateUndoesNothingThatAUserSaidAfterIt) {
  RelayWorld w;
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
TEST(Relay, AReplyToAnEarlierAssignmentDoesNotCountForAFriendshipTakenAnew) {
  RelayWorld w;
  w.store.Befriend(w.ann, w.bob, true, 7);
  const auto take = [&w] {
    w.Pass(w.limits.poll_every);
    w.Step();
    w.Answer<ReadPending>();
    w.Step();
  };
  const auto answer = [&w](const ChangeEdge& asked, Fate fate) {
    const auto found =
        std::find_if(w.requests.begin(), w.requests.end(), [&](const Request& request) {
          const auto* change = request.As<ChangeEdge>();
          return change != nullptr && change->id == asked.id;
        });
    w.AnswerAt(static_cast<size_t>(found - w.requests.begin()), fate);
    w.Step();
  };
  take();
  const int32_t home = static_cast<int32_t>(w.shards.ShardOf(w.ann));
  w.inbox.emplace_back(PartitionRevoked{home});
  w.inbox.emplace_back(PartitionAssigned{home, 0, 0});
  take();
  const std::vector<ChangeEdge> asked = w.Of<ChangeEdge>();
  ASSERT_THAT(asked, SizeIs(4));
  answer(asked[0], Fate::kDone);  // one edge, of before and of now
  answer(asked[2], Fate::kDone);
  EXPECT_THAT(w.Of<MarkDone>(), IsEmpty()) << "the other edge was never written";
  answer(asked[1], Fate::kLater);
  answer(asked[3], Fate::kLater);
  EXPECT_THAT(w.Of<MarkDone>(), IsEmpty());
  w.Turns(200);
  EXPECT_TRUE(w.store.forward().at({w.ann, w.bob}).live);
  EXPECT_TRUE(w.store.forward().at({w.bob, w.ann}).live);
}

// A failover gives ids out again: one change gets the id of a row under way, another an id below
// the newest seen.
TEST(Relay, AnIdGivenOutOnceMoreIsAnotherRow) {
  RelayWorld w;
  for (uint64_t dst = 101; dst <= 105; ++dst) w.store.Change(w.ann, UserId{dst}, true);
  w.Turns(3);
  ASSERT_EQ(w.Written(), 5u);
  w.Pass(w.limits.poll_every);
  w.Step();
  w.store.LoseRows(w.shards.ShardOf(w.ann), 5);
  ASSERT_GE(w.Answer<ReadPending>(Fate::kLater), 1u);
  w.Step();
  w.store.Change(w.ann, UserId{201}, true);
  w.Pass(w.limits.backoff.most);
  w.Turns(2);
  EXPECT_EQ(w.Written(), 6u);
}

TEST(Relay, AfterAShardWasAwayNewRowsAreFoundBelowTheNewestSeen) {
  Limits limits;
  limits.pass_every = std::chrono::hours(24);
  RelayWorld w(limits);
  w.Turns(2);
  for (uint64_t dst = 101; dst <= 105; ++dst) w.store.Change(w.ann, UserId{dst}, true);
  w.Turns(3);
  ASSERT_EQ(w.Written(), 5u);
  w.store.LoseRows(w.shards.ShardOf(w.ann), 5);
  w.Pass(w.limits.poll_every);
  w.Step();
  ASSERT_GE(w.Answer<ReadPending>(Fate::kLater), 1u);
  w.Step();
  w.store.Change(w.ann, UserId{201}, true);
  w.Pass(w.limits.backoff.most);
  w.Turns(3);
  EXPECT_EQ(w.Written(), 6u);
}

TEST(Relay, TellsHowMuchIsPendingAndForHowLong) {
  RelayWorld w;
  for (uint64_t dst = 100; dst < 103; ++dst) w.store.Change(w.ann, UserId{dst}, true);
  w.Pass(std::chrono::seconds(5));
  w.Turns(100);
  EXPECT_EQ(w.pending.seen[0].first, 3u);
  EXPECT_GE(w.pending.seen[0].second, std::chrono::seconds(5));
  w.store.Finish(0, {1, 2, 3});
  w.Turns(100);
  EXPECT_EQ(w.pending.seen[0], std::pair(uint64_t{0}, Duration{0}));
}

TEST(Relay, HoldsNoMoreRowsThanItMayAndTakesTheRestLater) {
  Limits limits;
  limits.rows_per_read = 4;
  limits.rows_under_way = 10;
  RelayWorld w(limits);
  for (uint64_t dst = 100; dst < 130; ++dst) w.store.Change(w.ann, UserId{dst}, true);
  w.Turns(200);
  EXPECT_LE(w.Written(), 10u + 4u);
  for (int round = 0; round < 10; ++round) {
    std::vector<uint64_t> sent;
    for (const auto& records : w.log) {
      for (const Record& record : records) {
        sent.push_back(WrittenIn(record).log_id);
      }
    }
    w.store.Finish(0, sent);
    w.Turns(150);
  }
  EXPECT_EQ(w.Written(), 30u);
}

TEST(Relay, AShardThatWasBackIsAskedAgainAsSoonAsTheFirstTime) {
  RelayWorld w;
  const auto asked_again_after = [&w] {  // a read that failed
    EXPECT_GT(w.Answer<ReadPending>(Fate::kLater), 0u);
    w.Step();
    Duration waited{};
    for (const Duration step = std::chrono::milliseconds(10);
         w.Of<ReadPending>().empty() && waited < std::chrono::minutes(1); waited += step) {
      w.Pass(step);
      w.Step();
    }
    return waited;
  };
  w.inbox.emplace_back(PartitionRevoked{1});
  w.Turns(2);
  w.Pass(w.limits.poll_every);
  w.Step();
  for (int failures = 0; failures < 10; ++failures) asked_again_after();
  EXPECT_GE(asked_again_after(), w.limits.backoff.most / 2);
  w.Turns(100);
  while (w.Of<ReadPending>().empty()) w.Pass(w.limits.poll_every), w.Step();
  EXPECT_LE(asked_again_after(), w.limits.backoff.first + std::chrono::milliseconds(10));
}

TEST(Relay, WhatIsBeingAppendedTakesItsPlaceUntilItIsAnswered) {
  Limits limits;
  limits.rows_under_way = 2;  // one for each shard of followers
  RelayWorld w(limits);
  const int pass = static_cast<int>(limits.pass_every / limits.poll_every) + 2;
  w.store.Change(w.ann, w.UserOn(1, 1), true);
  w.Answer<ReadPending>();
  w.Step();
  ASSERT_THAT(w.Of<AppendRelations>(), SizeIs(1));
  w.store.Finish(0, {1});  // by another mirror's message
  w.store.Change(w.ann, w.UserOn(1, 2), true);
  for (int i = 0; i < 3 * pass; ++i) {
    w.Pass(limits.poll_every);
    w.Answer<ReadPending>();
    w.Step();
  }
  EXPECT_THAT(w.Of<AppendRelations>(), SizeIs(1)) << "more than may be under way";
  w.Turns(3 * pass);
  EXPECT_EQ(w.Written(), 2u);
}

TEST(Relay, AShardThatIsAwayForLongLeavesTheOthersTheirShare) {
  Limits limits;
  limits.rows_per_read = 4;
  limits.rows_under_way = 10;
  RelayWorld w(limits);
  for (uint64_t nth = 1; nth <= 30; ++nth) {  // never done
    w.store.Change(w.ann, w.UserOn(1, nth), true);
  }
  w.Turns(200);
  const size_t stuck = w.Written();
  EXPECT_LE(stuck, 10u);
  w.store.Change(w.ann, w.UserOn(0, 5), true);
  w.Turns(200);
  size_t others = 0;
  for (const auto& records : w.log) {
    for (const Record& record : records) {
      const auto written = WrittenIn(record);
      others += w.shards.ShardOf(written.edge.dst) == 0 ? 1 : 0;
    }
  }
  EXPECT_GE(others, 1u);
}

TEST(Relay, NewRowsDoNotWaitForTheEndOfALongPass) {
  Limits limits;
  limits.rows_per_read = 4;
  RelayWorld w(limits);
  for (uint64_t nth = 1; nth <= 400; ++nth) {  // of a shard that is away: never done
    w.store.Change(w.ann, w.UserOn(1, nth), true);
  }
  w.Turns(400);
  ASSERT_EQ(w.Written(), 400u);
  w.pending.seen.clear();
  while (w.pending.seen.empty()) w.Turn();  // a pass has just ended
  w.Pass(w.limits.pass_every);
  w.Turns(2);  // and the next one begun, of a hundred pages
  for (uint64_t nth = 1; nth <= 6; ++nth) {
    w.store.Change(w.ann, w.UserOn(0, 4 + nth), true);
    w.Turns(4);
    EXPECT_EQ(w.Written(), 400u + nth);
  }
  w.Turns(300);
  EXPECT_EQ(w.pending.seen[0].first, 406u) << "the pass goes on to its end all the same";
}

TEST(Relay, PurgesWhatIsDoneAndOld) {
  RelayWorld w;
  w.store.Change(w.ann, w.bob, true);
  w.store.Finish(0, {1});
  w.Pass(w.limits.keep_done + std::chrono::hours(1));
  w.Turns(2);
  EXPECT_THAT(w.store.Do(ReadPending{0, 0, 0, 10}).changes, IsEmpty());
  EXPECT_EQ(w.store.Do(PurgeDone{0, 0, std::chrono::seconds(0), 10}).deleted, 0u)
      << "it was still there";
}

TEST(Relay, AShardThatIsAwayIsAskedAgainWithBackOff) {
  RelayWorld w;
  w.Turns(2);
  w.Pass(w.limits.poll_every);
  w.Step();
  const size_t asked = w.Answer<ReadPending>(Fate::kLater);
  ASSERT_EQ(asked, 2u);
  w.Step();
  EXPECT_THAT(w.Of<ReadPending>(), IsEmpty());
  w.Pass(w.limits.backoff.most);
  w.Step();
  EXPECT_THAT(w.Of<ReadPending>(), SizeIs(2));
}

}  // namespace
}  // namespace fanline::mirror
