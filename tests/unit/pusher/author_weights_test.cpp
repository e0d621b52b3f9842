// What a post met is counted where its hint asks for it.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

Hint Weighed(PostId post, UnixMs since) {
  Hint hint = Hint::OfPost(kAnn, post);
  std::get<Hint::Post>(hint.what).weighed_since = since;
  return hint;
}

// Ann has six followers in range 0, on three pages; four of them are live.
struct AnnsWorld : World {
  explicit AnnsWorld(std::shared_ptr<Stores> theirs = nullptr)
      : World({.followers_per_page = 2}, std::move(theirs)) {
    Assign(0);
    for (int i = 0; i < 6; ++i) Follow(ReaderIn(0, i), kAnn);
    for (int i = 0; i < 4; ++i) MakeLive(ReaderIn(0, i));
    Publish(kAnn, kPost, 1'000);
  }
};

TEST(AuthorWeights, AreTheLiveFollowersOfARangeTimesTheRangesAndHowLateThePostWas) {
  AnnsWorld w;
  w.Give(0, Weighed(kPost, w.now.unix_ms));
  w.RunFor(std::chrono::milliseconds(20));
  ASSERT_EQ(w.weighed.size(), 1u);
  EXPECT_EQ(w.weighed[0].author, kAnn);
  EXPECT_EQ(w.weighed[0].live, 4 * kRanges);
  EXPECT_EQ(w.weighed[0].lag, std::chrono::milliseconds(20));
  EXPECT_EQ(w.metrics.weighed, 1);
}

TEST(AuthorWeights, AreTakenOnlyWhereTheHintSaysSo) {
  AnnsWorld w;
  w.Push(0, Hint::OfPost(kAnn, kPost));
  EXPECT_TRUE(w.weighed.empty());
}

TEST(AuthorWeights, OfAPostThatIsMergedAtReadAreTheTimelinesItMarks) {
  AnnsWorld w;
  w.mysql.SetPushed(kAnn, kPost, false);
  w.Push(0, Weighed(kPost, w.now.unix_ms));
  w.Give(0, Weighed(kPost, w.now.unix_ms));  // all are marked already
  w.RunUntilIdle();
  ASSERT_EQ(w.weighed.size(), 2u);
  EXPECT_EQ(w.weighed[0].live, 4 * kRanges);
  EXPECT_EQ(w.weighed[1].live, 4 * kRanges);
}

TEST(AuthorWeights, LeaveOutTheAuthorWhereHomeTimelinesHoldOnesOwnPosts) {
  const UserId author = ReaderIn(0);
  for (const bool live : {true, false}) {
    // A page with the author is two batches.
    World w({.timelines_per_batch = 2, .followers_per_page = 2}, nullptr, 1, true);
    w.Assign(0);
    if (live) w.MakeLive(author);
    for (int i = 1; i < 5; ++i) w.Follow(ReaderIn(0, i), author);
    for (int i = 1; i < 4; ++i) w.MakeLive(ReaderIn(0, i));
    w.Publish(author, kPost, 1'000);
    Hint hint = Hint::OfPost(author, kPost);
    std::get<Hint::Post>(hint.what).weighed_since = w.now.unix_ms;
    w.Push(0, hint);
    ASSERT_EQ(w.weighed.size(), 1u);
    EXPECT_EQ(w.weighed[0].live, 3 * kRanges) << live;
    EXPECT_EQ(w.Items(author).size(), live ? 1u : 0u);
  }
}

TEST(AuthorWeights, HintsThatAreCarriedOutTogetherAreOneEstimate) {
  AnnsWorld w;
  w.Publish(kAnn, PostId{78}, 2'000);
  w.Give(0, Weighed(kPost, w.now.unix_ms));
  w.Push(0, Weighed(PostId{78}, w.now.unix_ms));
  ASSERT_EQ(w.weighed.size(), 1u);
  EXPECT_EQ(w.weighed[0].live, 4 * kRanges);
}

TEST(AuthorWeights, APageThatIsWrittenAgainIsCountedOnce) {
  BobsWorld w({.timelines_per_batch = 1});
  const UserId eve = ReaderIn(0, 1);
  w.Follow(eve, kAnn);
  w.MakeLive(eve);
  w.Publish(kAnn, kPost, 1'000);
  w.Give(0, Weighed(kPost, w.now.unix_ms));
  w.Step();
  w.AnswerTruth();
  w.Step();
  ASSERT_EQ(w.timeline_calls.size(), 2u);  // a batch each
  for (size_t i = 0; i < 2; ++i) {
    const auto& batch = std::get<TimelineBatch>(w.timeline_calls[i]);
    BatchWritten written = w.redis.Do(batch);
    if (i == 1) written.status = Status::Later("redis", "slow");
    w.inbox.emplace_back(written);
  }
  w.timeline_calls.clear();
  w.RunUntilIdle();
  w.RunFor(std::chrono::seconds(5));
  ASSERT_EQ(w.weighed.size(), 1u);
  EXPECT_EQ(w.weighed[0].live, 2 * kRanges);
}

TEST(AuthorWeights, ARunThatIsTakenUpInTheMiddleIsNone) {
  AnnsWorld before;
  before.Give(0, Weighed(kPost, before.now.unix_ms));
  before.Step();
  before.AnswerTruth();
  before.Step();
  before.AnswerTimelines();
  before.Step();
  before.Pass(std::chrono::seconds(2));
  before.Step();
  before.AnswerTimelines();
  before.Step();
  ASSERT_EQ(before.redis.position(0).value().begun.size(), 1u);
  World after({.followers_per_page = 2}, before.stores);
  after.Assign(0);
  after.Push(0, Weighed(kPost, after.now.unix_ms));
  EXPECT_EQ(after.metrics.gone_on, 1);
  EXPECT_EQ(after.metrics.done, 1);
  EXPECT_TRUE(after.weighed.empty());
}

TEST(AuthorWeights, OnlySoManyAreUnderWay) {
  AnnsWorld w;
  w.weights_answered = false;
  for (int i = 0; i < 100; ++i) w.Push(0, Weighed(kPost, w.now.unix_ms));
  ASSERT_EQ(w.weighed.size(), AuthorWeights::kMostUnderWay);
  w.inbox.emplace_back(AuthorWeighed{w.weighed[0].id, Status::Later("mysql", "away")});
  w.Push(0, Weighed(kPost, w.now.unix_ms));
  EXPECT_EQ(w.weighed.size(), AuthorWeights::kMostUnderWay + 1);
  EXPECT_EQ(w.metrics.weighed, 0);
}

}  // namespace
}  // namespace fanline::pusher
