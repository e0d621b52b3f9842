// What becomes of hints: writes into live timelines, lanes, positions, flow.
#include "pusher/pusher.h"

#include <gtest/gtest.h>

#include "fanline/base/misconfigured.h"
#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using Posts = std::vector<PostId>;

TEST(Pusher, SkipsTimelinesThatAreNotLive) {
  BobsWorld w;
  const UserId cid = ReaderIn(0, 1);
  w.Follow(cid, kAnn);  // and has not read for weeks
  w.Post();
  w.RunUntilIdle();

  EXPECT_EQ(w.Items(w.bob), Posts{kPost});
  EXPECT_FALSE(w.IsLive(cid));  // a push never creates one
  EXPECT_EQ(w.metrics.passed_over, 1u);
}

TEST(Pusher, APostThatIsMergedAtReadMarksItsAuthorInstead) {
  BobsWorld w;
  w.Publish(kAnn, PostId{77}, 1'000);
  w.Give(0, Hint::OfPost(kAnn, PostId{77}));
  w.Step();
  ASSERT_EQ(w.state_calls.size(), 1u);
  PostStates states = w.mysql.Do(w.state_calls.front());
  w.state_calls.clear();
  states.posts.at(0).pushed = false;
  w.inbox.emplace_back(std::move(states));
  w.RunUntilIdle();
  EXPECT_TRUE(w.Items(w.bob).empty());
  EXPECT_EQ(w.redis.timelines().at(w.bob).marks, std::set<Mark>{Mark{kAnn}});
  EXPECT_EQ(w.metrics.done, 1);
}

TEST(Pusher, WritesALetterAgainThatMayNotHaveBeenWritten) {
  World w;
  w.Assign(0);
  w.of_letters = Status::Later("kafka", "away");
  w.GiveBytes(0, "no hint");
  w.RunUntilIdle();
  EXPECT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.metrics.done, 0);
  w.of_letters = Status::Done();
  w.RunFor(std::chrono::minutes(1));
  EXPECT_EQ(w.letters.size(), 2u);
  EXPECT_EQ(w.metrics.done, 1);
}

TEST(Pusher, CountsTheTimelinesThatAFullRedisDropsAndGoesOn) {
  BobsWorld w;
  w.Publish(kAnn, kPost, 1'000);
  for (const Hint& hint : {Hint::OfPost(kAnn, kPost), Hint::OfSync(w.bob, kAnn)}) {
    w.redis.full = false;
    w.MakeLive(w.bob);
    w.redis.full = true;
    w.Push(0, hint);
    EXPECT_FALSE(w.IsLive(w.bob));
  }
  EXPECT_EQ(w.metrics.full, 2u);
  EXPECT_EQ(w.metrics.done, 2);
}

TEST(Pusher, WritesNothingBehindALanesHeadBeforeTheHeadIsDone) {
  BobsWorld w;
  w.Post();
  w.Step();
  w.AnswerTruth();  // the head has read its truth, and is written
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();

  EXPECT_EQ(w.timeline_calls.size(), 1u);
  EXPECT_TRUE(w.truth_calls.empty()) << "the second hint was started beside the first";

  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 2);
}

TEST(Pusher, AUnitIsParkedOnceItsPostsAndItsFollowersAreBothAnswered) {
  BobsWorld w;
  w.Post();
  w.Step();
  const PostStates failed{.id = w.state_calls.at(0).id, .status = Status::Later("mysql_0", "away")};
  w.state_calls.clear();
  w.inbox.emplace_back(failed);
  w.Step();
  EXPECT_EQ(w.metrics.held.units_parked, 0u) << "its followers would be taken for the next page";
  w.AnswerTruth();
  w.Step();
  EXPECT_EQ(w.metrics.held.units_parked, 1u);

  w.Pass(std::chrono::seconds(1));
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(w.bob), Posts{kPost});
}

TEST(Pusher, RangesThatBeginTogetherReadAPostOnce) {
  World w;
  w.AssignAll();
  const UserId readers[] = {ReaderIn(0, 1), ReaderIn(1, 1)};
  for (const UserId reader : readers) {
    w.Follow(reader, kAnn);
    w.MakeLive(reader);
  }
  // The second time the followers are listed.
  for (const PostId post : {kPost, PostId{78}}) {
    w.Publish(kAnn, post, static_cast<UnixMs>(Raw(post)));
    for (const Range range : {0, 1}) w.Give(range, Hint::OfPost(kAnn, post));
    w.Step();
    ASSERT_EQ(w.state_calls.size(), 1u);
    EXPECT_EQ(w.state_calls[0].posts, (std::vector<PostKey>{{kAnn, post}}));
    w.RunUntilIdle();
    for (const UserId reader : readers) EXPECT_EQ(w.Items(reader).front(), post);
  }
}

TEST(Pusher, APostThatCanNeverBeReadIsQuarantinedAloneOfThoseReadTogether) {
  BobsWorld w;
  w.Follow(w.bob, kBen);
  const auto broken = [](const ReadPostStates& call) {
    return std::any_of(call.posts.begin(), call.posts.end(),
                       [](const PostKey& post) { return post.first == kBen; });
  };
  for (const UserId author : {kAnn, kBen}) {
    w.Publish(author, PostId{Raw(author)}, 1'000);
    w.Give(0, Hint::OfPost(author, PostId{Raw(author)}));
  }
  size_t together = 0;
  for (int step = 0; step < 12; ++step) {
    for (const auto& call : std::exchange(w.state_calls, {})) {
      together = std::max(together, call.posts.size());
      PostStates reply = w.mysql.Do(call);
      if (broken(call)) reply = {.id = call.id, .status = Status::Never("a column is gone")};
      w.inbox.emplace_back(std::move(reply));
    }
    w.Step();
    w.AnswerTruth();
    w.AnswerTimelines();
  }
  EXPECT_EQ(together, 2u);
  EXPECT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.metrics.done, 2);
}

TEST(Pusher, PostsThatWereReadAreNotReadAgainWithTheFollowers) {
  BobsWorld w;
  w.Post();
  w.Step();
  w.FailPage(Status::Later("mysql_0", "away"));
  w.Step();
  ASSERT_EQ(w.metrics.held.units_parked, 1u);
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u);
  EXPECT_TRUE(w.state_calls.empty());

  w.RunUntilIdle();
  EXPECT_EQ(w.Items(w.bob), Posts{kPost});
}

TEST(Pusher, PostsOfOneAuthorThatWaitTogetherAreOneWritePerTimeline) {
  BobsWorld w;
  for (uint64_t i = 0; i < 3; ++i) {
    w.Publish(kAnn, PostId{80 + i}, 1'000 + static_cast<UnixMs>(i));
    w.Give(0, Hint::OfPost(kAnn, PostId{80 + i}));
  }
  w.Step();
  w.AnswerTruth();
  w.Step();

  ASSERT_EQ(w.timeline_calls.size(), 1u);
  const auto& batch = std::get<TimelineBatch>(w.timeline_calls.front());
  EXPECT_EQ(batch.writes.size(), 1u);
  EXPECT_EQ(batch.adds.size(), 3u);
}

// A plain refusal (BUSY, a script that was cut off): the range stays claimed, the page is not done.
TEST(Pusher, ABatchThatFailedIsWrittenAgainBeforeItsHintIsDone) {
  BobsWorld w({.timelines_per_batch = 1});
  const UserId cid = ReaderIn(0, 1);
  w.Follow(cid, kAnn);
  w.MakeLive(cid);
  w.Post();
  w.Step();
  w.AnswerTruth();
  w.Step();
  ASSERT_EQ(w.timeline_calls.size(), 2u);
  const auto refused = std::get<TimelineBatch>(w.timeline_calls.front());
  w.timeline_calls.erase(w.timeline_calls.begin());
  w.inbox.emplace_back(BatchWritten{.id = refused.id, .status = Status::Later("redis", "BUSY")});
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 0);
  EXPECT_EQ(w.metrics.takeovers.size(), 2u) << "taken over again for no reason";

  w.RunFor(std::chrono::seconds(30));
  EXPECT_EQ(w.metrics.done, 1);
  EXPECT_EQ(w.Items(w.bob), Posts{kPost});
  EXPECT_EQ(w.Items(cid), Posts{kPost});
}

TEST(Pusher, CommitsOnlyWhatThePositionInRedisSays) {
  BobsWorld w;
  w.committed.clear();
  w.Post();
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 1);
  EXPECT_TRUE(w.committed.empty()) << "committed before pos: was written";

  w.RunFor(std::chrono::seconds(1));
  ASSERT_EQ(w.committed.size(), 1u);
  EXPECT_EQ(w.committed.front().offset, 1);
  EXPECT_EQ(w.redis.position(RangeLayout(kRanges).First(0)), (AppliedPosition{7, 1}));
}

// A reader can tell from pos: how late its page may be.
TEST(Pusher, SaysUpToWhenAllThatTheLogHeldIsApplied) {
  BobsWorld w;
  const auto as_of = [&w] { return w.redis.position(RangeLayout(kRanges).First(0))->as_of; };
  const auto look = [&w](int64_t end) { w.inbox.emplace_back(LogEndSeen{0, end, w.now.mono}); };
  const auto second = [&w] { w.RunFor(std::chrono::seconds(1)); };
  second();
  EXPECT_EQ(as_of(), 0) << "nobody has looked";
  const UnixMs first = w.now.unix_ms;
  look(0);
  second();
  EXPECT_EQ(as_of(), first) << "nothing to be read, and it says so";

  const UnixMs before = w.now.unix_ms;
  look(1);  // a post that has not come yet
  second();
  look(2);
  second();
  EXPECT_EQ(as_of(), first);
  w.Post();
  w.RunUntilIdle();
  second();
  EXPECT_EQ(as_of(), before) << "the second look saw more";
}

// What was read by the time of an older Redis is not in it.
TEST(Pusher, SaysNothingOfARangeThatWasRolledBackBeforeItIsLookedAtAgain) {
  BobsWorld w;
  const auto position = [&w] { return w.redis.position(RangeLayout(kRanges).First(0)); };
  const fakes::FakeRedis before = w.redis;
  w.Post();
  w.RunUntilIdle();
  w.inbox.emplace_back(LogEndSeen{0, 1, w.now.mono});
  w.RunFor(std::chrono::seconds(1));
  ASSERT_NE(position()->as_of, 0);
  w.redis = before;
  for (int i = 0; i < 10; ++i) w.RunFor(std::chrono::seconds(1));
  ASSERT_EQ(w.metrics.takeovers.back(), TakeoverCause::kRolledBack);
  EXPECT_EQ(position()->as_of, 0);
}

// ---- flow -------------------------------------------------------------------------------------

TEST(Pusher, PausesARangeThatIsNotReadyAndResumesItWithTheSeek) {
  BobsWorld w;
  EXPECT_TRUE(w.paused.empty());
  BatchWritten lost;
  w.Post();
  w.Step();
  w.AnswerTruth();
  w.Step();
  ASSERT_EQ(w.timeline_calls.size(), 1u);
  lost.id = std::get<TimelineBatch>(w.timeline_calls.front()).id;
  lost.status = Status::Later("redis", "the connection was lost");
  lost.needs_claim = true;
  w.timeline_calls.clear();
  w.inbox.emplace_back(lost);
  w.sought.clear();
  w.Step();
  EXPECT_EQ(w.paused, std::vector<int32_t>{0});
  w.Step();
  EXPECT_EQ(w.paused.size(), 1u) << "ordered twice";
  EXPECT_TRUE(w.sought.empty());

  w.RunUntilIdle();
  ASSERT_EQ(w.sought.size(), 1u);
  EXPECT_EQ(w.sought.front().offset, 0);
  EXPECT_TRUE(w.resumed.empty()) << "the seek resumes";
}

TEST(Pusher, RefusesAPartitionThatTheInstallationDoesNotHave) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{.partition = static_cast<int32_t>(kRanges)});
  EXPECT_THROW(w.Step(), Misconfigured);
  EXPECT_TRUE(w.timeline_calls.empty());
}

TEST(Pusher, PausesARangeThatHoldsTooManyHintsAndResumesIt) {
  World w({.posts_per_unit = 1, .buffered_hints_per_range = 4});
  w.AssignAll();
  for (int i = 0; i < 5; ++i) w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  EXPECT_EQ(w.paused, std::vector<int32_t>{0});
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, std::vector<int32_t>{0});
}

TEST(Pusher, DrainsWhatItStartedAndCommitsIt) {
  World w;
  w.AssignAll();
  w.Publish(kAnn, kPost, 1'000);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  w.pusher.StopTaking();
  w.Give(0, Hint::OfPost(kAnn, kPost));  // comes too late
  EXPECT_FALSE(w.pusher.drained());
  w.RunUntilIdle();

  EXPECT_TRUE(w.pusher.drained());
  EXPECT_EQ(w.committed.back().offset, 1);
}

TEST(Pusher, ForgetsARevokedRangesWork) {
  BobsWorld w;
  w.Post();
  w.Step();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.committed.clear();
  w.RunUntilIdle();
  w.RunFor(std::chrono::seconds(2));

  EXPECT_TRUE(w.committed.empty());
  EXPECT_EQ(w.metrics.held.hints, 0u);
  EXPECT_EQ(w.Items(w.bob), Posts{});
}

}  // namespace
}  // namespace fanline::pusher
