// Hints that cannot be read: dead letters, the walk that drops a range, and hints of a newer
// version.
#include "pusher/pusher.h"

#include <gtest/gtest.h>

#include "tests/unit/pusher/logged_world.h"

namespace fanline::pusher {
namespace {

TEST(Pusher, KeepsOfAHintsHeadersThoseThatTravelOn) {
  World w;
  w.AssignAll();
  w.GiveBytes(0, "no hint",
              {{"traceparent", "00-ab-cd-01"}, {"baggage", std::string(20'000, 'b')}});
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters.front().record.headers, (Headers{{"traceparent", "00-ab-cd-01"}}));
}

TEST(Pusher, DeadLettersWhatItCannotReadAndDropsTheRangesTimelines) {
  World w;
  const UserId bob = ReaderIn(0), eve = ReaderIn(1);
  w.AssignAll();
  w.MakeLive(bob);
  w.MakeLive(eve);
  w.GiveBytes(0, "no hint at all");
  w.RunUntilIdle();

  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters.front().record.value, "no hint at all");
  EXPECT_EQ(w.letters.front().stage, "pusher");
  EXPECT_FALSE(w.letters.front().reason.empty());
  EXPECT_FALSE(w.IsLive(bob)) << "its readers' timelines may lack what the hint was about";
  EXPECT_TRUE(w.IsLive(eve));
  EXPECT_EQ(w.metrics.done, 1);
}

// The hint said that the post is deleted.
TEST(Pusher, APostThatWasReadBeforeAHintThatNobodyCanReadIsReadAgain) {
  BobsWorld w;
  w.Post();
  w.Step();
  w.AnswerTruth();
  w.Step();
  w.FailCall<TimelineBatch>(Status::Later("redis", "BUSY"));
  w.Step();
  ASSERT_EQ(w.metrics.held.units_parked, 1u);
  w.Delete(kAnn, kPost);
  w.GiveBytes(0, "no hint at all");
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  ASSERT_FALSE(w.IsLive(w.bob));
  w.MakeLive(w.bob);
  w.RunFor(std::chrono::seconds(1));
  EXPECT_EQ(w.metrics.done, 2);
  EXPECT_TRUE(w.Items(w.bob).empty());
}

// As above, between two pages.
TEST(Pusher, FurtherPagesBehindAHintThatNobodyCanReadBeginAnew) {
  World w({.followers_on_first_page = 1, .followers_per_page = 1});
  w.AssignAll();
  std::vector<UserId> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(ReaderIn(0, i));
    w.Follow(readers.back(), kAnn);
    w.MakeLive(readers.back());
  }
  w.Publish(kAnn, kPost, 1'000);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  w.AnswerTruth();
  w.Step();  // the first page is being written
  w.Delete(kAnn, kPost);
  w.GiveBytes(0, "no hint at all");
  w.Step();
  w.AnswerTimelines();
  w.Step();  // the second page and the walk are under way
  w.AnswerTimelines();
  for (const UserId reader : readers) {
    ASSERT_FALSE(w.IsLive(reader));
    w.MakeLive(reader);
  }
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 2);
  for (const UserId reader : readers) EXPECT_TRUE(w.Items(reader).empty());
}

TEST(Pusher, SavesPositionsWhileAQuarantineWalksOverTheKeys) {
  LoggedWorld w;
  const UserId bob = ReaderIn(0);
  w.Follow(bob, kAnn);
  w.MakeLive(bob);
  for (uint64_t i = 1; i <= 20; ++i) {
    w.Publish(kAnn, PostId{i}, static_cast<UnixMs>(i));
    w.log.push_back(i == 10 ? "no hint at all" : EncodeHint(Hint::OfPost(kAnn, PostId{i})));
  }
  w.Run(std::chrono::seconds(30));

  EXPECT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.walks_begun, 1u);
  EXPECT_EQ(w.metrics.takeovers.size(), 1u) << "its own saves were taken for a rollback";
  EXPECT_EQ(w.redis.position(RangeLayout(kRanges).First(0)), (AppliedPosition{7, 20}));
  EXPECT_FALSE(w.IsLive(bob));
}

TEST(Pusher, OneWalkServesEveryHintThatWaitsForIt) {
  LoggedWorld w;
  for (int i = 0; i < 60; ++i) w.log.push_back("no hint at all");
  w.Run(std::chrono::seconds(10));

  // Hints read during a walk need the next: a timeline that it has passed may be rebuilt by then.
  EXPECT_EQ(w.walks_begun, 2u);
  ASSERT_EQ(w.letters.size(), 60u);
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(w.letters[i].record.offset, static_cast<int64_t>(i));
  }
  EXPECT_EQ(w.metrics.quarantined.size(), 60u);
  EXPECT_EQ(w.metrics.done, 60);
}

TEST(Pusher, AWalkThatFailsIsBegunAgain) {
  LoggedWorld w;
  w.log.push_back("no hint at all");
  w.Run(std::chrono::seconds(1));
  ASSERT_EQ(w.walks.size(), 1u);
  const RangeReset failed{.id = w.walks.front().second.id,
                          .status = Status::Later("redis", "timed out")};
  w.walks.clear();
  w.inbox.emplace_back(failed);
  w.Run(std::chrono::seconds(5));

  EXPECT_EQ(w.walks_begun, 2u);
  EXPECT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.metrics.quarantined.size(), 1u) << "counted again";
}

TEST(Pusher, AWalkThatFailsAgainAndAgainIsBegunMoreAndMoreRarely) {
  World w;
  w.Assign(0);
  w.GiveBytes(0, "no hint at all");
  w.Step();
  Duration wait{};
  for (int failures = 1; failures <= 5; ++failures) {
    w.FailCall<ResetRange>(Status::Later("redis", "timed out"));
    for (wait = Duration{0}; wait < std::chrono::seconds(1); wait += std::chrono::milliseconds(1)) {
      w.Step();
      if (!w.timeline_calls.empty()) break;
      w.Pass(std::chrono::milliseconds(1));
    }
  }
  const Backoff backoff;
  EXPECT_GE(wait, backoff.Delay(5, 0));
  EXPECT_LE(wait, 2 * backoff.Delay(5, 0));
}

// Of two lanes: an undecodable hint, and one of an author whose truth cannot be read.
TEST(Pusher, OneWalkOfARangeIsUnderWayAtATime) {
  World w;
  w.Assign(0);
  w.GiveBytes(0, "no hint at all");
  w.Step();
  ASSERT_EQ(w.timeline_calls.size(), 1u);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  for (int times = 0; times < 2; ++times) {  // the second time alone
    w.FailPage(Status::Never("the column is gone"));
    w.Step();
  }
  EXPECT_EQ(w.metrics.quarantined.size(), 2u);
  EXPECT_EQ(w.timeline_calls.size(), 1u) << "a second walk beside the first";
  w.RunUntilIdle();
  EXPECT_EQ(w.letters.size(), 2u);
}

std::string HintOfNewerVersion() {
  return EncodeHint(Hint::OfPost(kAnn, kPost)).replace(0, 2, "\x08\x03");
}

TEST(Pusher, WaitsAtAHintOfANewerVersionUntilItIsUpgraded) {
  LoggedWorld w;
  w.log = {EncodeHint(Hint::OfPost(kAnn, kPost)), HintOfNewerVersion(),
           EncodeHint(Hint::OfPost(kAnn, kPost))};
  w.Run(std::chrono::seconds(60));

  EXPECT_TRUE(w.letters.empty());
  EXPECT_EQ(w.walks_begun, 0u);
  EXPECT_EQ(w.metrics.held.ranges_awaiting_upgrade, 1u);
  EXPECT_GT(w.seeks, 10u) << "never looked at again";
  EXPECT_LT(w.seeks, 30u) << "looked at again without a pause";
  EXPECT_EQ(w.metrics.held.hints, 0u) << "held in memory";
  EXPECT_EQ(w.redis.position(RangeLayout(kRanges).First(0)), (AppliedPosition{7, 1}));
  w.pusher.StopTaking();
  w.Run(std::chrono::seconds(1));
  EXPECT_TRUE(w.pusher.drained()) << "an upgrade begins with a drain";
}

TEST(Pusher, GoesOnOnceAHintOfANewerVersionCanBeRead) {
  LoggedWorld w;
  w.log = {HintOfNewerVersion(), EncodeHint(Hint::OfPost(kAnn, kPost))};
  w.Run(std::chrono::seconds(2));
  EXPECT_EQ(w.metrics.done, 0);
  w.log[0] = w.log[1];  // as if read by a newer pusher
  w.Run(std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.done, 2);
  EXPECT_EQ(w.metrics.held.ranges_awaiting_upgrade, 0u);
}

TEST(Pusher, ADrainDoesNotWaitForAWalkThatFails) {
  LoggedWorld w;
  w.log.push_back("no hint at all");
  w.Run(std::chrono::seconds(1));
  w.pusher.StopTaking();
  ASSERT_EQ(w.walks.size(), 1u);
  for (auto& [at, walk] : std::exchange(w.walks, {})) {
    w.inbox.emplace_back(RangeReset{.id = walk.id, .status = Status::Later("redis", "timed out")});
  }
  w.Run(std::chrono::seconds(1));
  EXPECT_TRUE(w.pusher.drained());
  EXPECT_TRUE(w.walks.empty());
  EXPECT_TRUE(w.letters.empty()) << "the next owner's";
}

}  // namespace
}  // namespace fanline::pusher
