#include "dispatcher/dispatcher.h"

#include <gtest/gtest.h>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

TEST(Dispatcher, StoresTheRowFirstAndThenAppendsOneHintPerRange) {
  World w;
  w.Give(Published());
  w.Step();
  ASSERT_EQ(w.transactions.size(), 1u);
  EXPECT_TRUE(w.appends.empty()) << "a hint before the row is committed";
  w.Store();
  w.Step();
  EXPECT_EQ(w.Appending(), (std::vector<Range>{0, 1, 2, 3}));
  for (const AppendHints& append : w.appends) EXPECT_EQ(append.hints[0].second.author, kAnn);
}

TEST(Dispatcher, CommitsAfterEveryHintIsAcknowledged) {
  World w;
  w.Give(Published());
  w.TakeAndStore();
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_LE(w.committed, 0);
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, AsksToBeSteppedWhenThereIsSomethingToCommit) {
  Limits limits;
  World w(limits);
  const auto idle = [&] { return !w.next_timer; };
  EXPECT_TRUE(idle());
  w.Give(Published());
  w.TakeAndStore();
  w.Acknowledge();
  w.Step();
  ASSERT_TRUE(w.next_timer);
  EXPECT_LE(*w.next_timer, w.now.mono + limits.commit_every);
  w.Pass(*w.next_timer - w.now.mono);
  w.Step();
  EXPECT_EQ(w.committed, 1);
  EXPECT_TRUE(idle());
}

TEST(Dispatcher, AppendsTogetherWhatWasStoredOnSeveralShards) {
  World w;
  w.Give(Published(PostId{1}, AuthorOn(0)));
  w.Give(Published(PostId{2}, AuthorOn(1)));
  w.Step();
  ASSERT_EQ(w.transactions.size(), 2u);
  w.inbox.emplace_back(w.mysql.Do(w.transactions[1]));
  w.Step();
  EXPECT_TRUE(w.appends.empty()) << "the other shard may answer any moment";
  w.inbox.emplace_back(w.mysql.Do(w.transactions[0]));
  w.Step();
  EXPECT_EQ(w.Appending(), (std::vector<Range>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Dispatcher, HintsWaitForAShardThatDoesNotAnswerNoLongerThanTheyGather) {
  const Limits limits;
  World w(limits);
  w.Give(Published(PostId{1}, AuthorOn(0)));
  w.Give(Published(PostId{2}, AuthorOn(1)));
  w.Step();
  ASSERT_EQ(w.transactions.size(), 2u);
  w.inbox.emplace_back(w.mysql.Do(w.transactions[1]));
  w.Step();
  ASSERT_TRUE(w.appends.empty());
  ASSERT_TRUE(w.next_timer.has_value()) << "or it sleeps until the shard answers";
  EXPECT_LE(*w.next_timer, w.now.mono + limits.gather);
  w.Pass(limits.gather);
  w.Step();
  EXPECT_EQ(w.Appending().size(), kRanges);
}

TEST(Dispatcher, AppendsHintsAgainForAnEventThatChangesNothing) {
  World w;
  w.Give(Published());
  w.Give(Published());  // delivered twice: the first may have crashed before its hints
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.log[0].hints.size(), 2 * kRanges);
}

TEST(Dispatcher, DrainsWhatItStarted) {
  World w;
  w.Give(Published());
  w.Step();
  w.dispatcher.StopTaking();
  w.Give(Published(PostId{78}));
  EXPECT_FALSE(w.dispatcher.drained());
  w.RunUntilIdle();
  EXPECT_TRUE(w.dispatcher.drained());
  EXPECT_EQ(w.committed, 1);
}

}  // namespace
}  // namespace fanline::dispatcher
