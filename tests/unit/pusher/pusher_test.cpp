#include "pusher/pusher.h"

#include <gtest/gtest.h>

#include "fanline/base/misconfigured.h"
#include "fanline/model/size_class.h"
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
  EXPECT_EQ(w.metrics.skipped, 1u);
}

TEST(Pusher, ReadsTheStateAfterTheHintWhateverTheHintWasAbout) {
  BobsWorld w;
  w.Post();
  w.Delete(kAnn, kPost);  // before the hint is read: the publish's hint already finds it deleted
  w.RunUntilIdle();

  EXPECT_EQ(w.Items(w.bob), Posts{});
}

TEST(Pusher, TakesADeletedPostOutOfEveryLiveTimeline) {
  World w;
  const UserId bob = ReaderIn(0);
  w.Follow(bob, kAnn);
  w.AssignAll();
  w.Publish(kAnn, kPost, 1'000);
  w.MakeLive(bob, {{kPost, 1'000}});

  w.Delete(kAnn, kPost);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.RunUntilIdle();

  EXPECT_EQ(w.Items(bob), Posts{});
}

TEST(Pusher, APostThatIsMergedAtReadMarksItsAuthorInstead) {
  BobsWorld w;
  w.Publish(kAnn, PostId{77}, 1'000);
  w.Give(0, Hint::OfPost(kAnn, PostId{77}));
  w.Step();
  ASSERT_EQ(w.truth_calls.size(), 1u);
  PostPage page = w.mysql.Do(std::get<ReadPostPage>(w.truth_calls.front()));
  w.truth_calls.clear();
  page.posts.at(0).pushed = false;
  w.inbox.emplace_back(std::move(page));
  w.RunUntilIdle();
  EXPECT_TRUE(w.Items(w.bob).empty());
  EXPECT_EQ(w.redis.timelines().at(w.bob).marks, std::set<UserId>{kAnn});
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
  w.Pass(std::chrono::minutes(1));
  w.RunUntilIdle();
  EXPECT_EQ(w.letters.size(), 2u);
  EXPECT_EQ(w.metrics.done, 1);
}

TEST(Pusher, ASyncOfAFollowerBringsTheAuthorsPosts) {
  World w;
  const UserId bob = ReaderIn(1);
  w.AssignAll();
  w.MakeLive(bob);
  w.Publish(kAnn, kPost, 1'000);
  w.Follow(bob, kAnn);

  w.Give(1, Hint::OfSync(bob, kAnn));
  w.RunUntilIdle();

  EXPECT_EQ(w.Items(bob), Posts{kPost});
}

TEST(Pusher, ASyncOfAFormerFollowerTakesTheAuthorsPostsOnly) {
  World w;
  const UserId bob = ReaderIn(1);
  w.AssignAll();
  w.Publish(kAnn, kPost, 1'000);
  w.Publish(kBen, PostId{78}, 2'000);
  w.Follow(bob, kBen);
  w.MakeLive(bob, {{kPost, 1'000}, {PostId{78}, 2'000}});

  w.Give(1, Hint::OfSync(bob, kAnn));
  w.RunUntilIdle();

  EXPECT_EQ(w.Items(bob), Posts{PostId{78}});
}

TEST(Pusher, ASyncThatMeetsATimelineBeingBuiltDropsIt) {
  World w;
  const UserId bob = ReaderIn(1);
  w.AssignAll();
  w.redis.Begin(bob, "under way");

  w.Give(1, Hint::OfSync(bob, kAnn));
  w.RunUntilIdle();

  EXPECT_FALSE(w.IsLive(bob));
  EXPECT_FALSE(w.redis.Finish(bob, "under way", {}, kNoFloor));
}

TEST(Pusher, CountsTheTimelinesThatAFullRedisDropsAndGoesOn) {
  BobsWorld w;
  w.Publish(kAnn, kPost, 1'000);
  for (const Hint& hint : {Hint::OfPost(kAnn, kPost), Hint::OfSync(w.bob, kAnn)}) {
    w.redis.full = false;
    w.MakeLive(w.bob);
    w.redis.full = true;
    w.Give(0, hint);
    w.RunUntilIdle();
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

TEST(Pusher, LetsOtherAuthorsPassALaneThatWaits) {
  BobsWorld w;
  w.Follow(w.bob, kBen);
  w.Publish(kAnn, kPost, 1'000);
  w.Publish(kBen, PostId{78}, 2'000);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  auto anns_read = std::exchange(w.truth_calls, {});  // Ann's shard does not answer
  w.Give(0, Hint::OfPost(kBen, PostId{78}));
  w.RunUntilIdle();

  EXPECT_EQ(w.Items(w.bob), Posts{PostId{78}});
}

TEST(Pusher, WalksABigAuthorsFollowersPageByPage) {
  Limits limits;
  limits.followers_per_page = 3;
  World w(limits);
  for (int i = 0; i < 10; ++i) w.Follow(ReaderIn(0, i), kAnn);
  w.AssignAll();
  for (int i = 0; i < 10; ++i) w.MakeLive(ReaderIn(0, i));
  w.Publish(kAnn, kPost, 1'000);

  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.RunUntilIdle();

  for (int i = 0; i < 10; ++i) EXPECT_EQ(w.Items(ReaderIn(0, i)), Posts{kPost});
  EXPECT_EQ(w.metrics.delivered, 10u);
}

// ---- one's own posts ---------------------------------------------------------------------------

struct OwnPosts : World {
  explicit OwnPosts(const Limits& limits = {}) : World(limits, nullptr, 1, true) { AssignAll(); }
};

TEST(Pusher, AnAuthorIsTheFirstReaderWhereHomeTimelinesHoldOnesOwnPosts) {
  const UserId author = ReaderIn(1), cid = ReaderIn(1, 1);
  for (const bool own_posts : {true, false}) {
    World w(Limits{}, nullptr, 1, own_posts);
    w.AssignAll();
    for (const UserId reader : {author, cid}) w.MakeLive(reader);
    w.Follow(cid, author);
    w.Publish(author, kPost, 1'000);
    w.Give(1, Hint::OfPost(author, kPost));
    w.RunUntilIdle();
    EXPECT_EQ(w.Items(author), own_posts ? Posts{kPost} : Posts{});
    EXPECT_EQ(w.Items(cid), Posts{kPost});
    w.Delete(author, kPost);
    w.Give(1, Hint::OfPost(author, kPost));
    w.RunUntilIdle();
    EXPECT_EQ(w.Items(author), Posts{});
  }
}

TEST(Pusher, AnAuthorIsAReaderInTheRangeOfTheAuthorsBucketOnly) {
  OwnPosts w;
  const UserId author = ReaderIn(1);
  w.MakeLive(author);
  w.Publish(author, kPost, 1'000);
  w.Give(0, Hint::OfPost(author, kPost));
  w.Step();
  w.AnswerTruth();
  w.Step();
  EXPECT_TRUE(w.timeline_calls.empty()) << "range 0 holds no reader";
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(author), Posts{});
}

TEST(Pusher, AnAuthorIsWrittenOnceHoweverManyPagesThereAre) {
  Limits limits;
  limits.followers_per_page = 3;
  OwnPosts w(limits);
  const UserId author = ReaderIn(0);
  for (int i = 1; i <= 10; ++i) w.Follow(ReaderIn(0, i), author);
  w.MakeLive(author);
  w.Publish(author, kPost, 1'000);
  w.Give(0, Hint::OfPost(author, kPost));
  int writes = 0;
  do {
    w.Step();
    for (const auto& call : w.timeline_calls) {
      const auto* batch = std::get_if<TimelineBatch>(&call);
      for (size_t i = 0; batch != nullptr && i < batch->writes.size(); ++i) {
        writes += batch->writes[i].reader == author;
      }
    }
    w.AnswerTruth();
    w.AnswerTimelines();
  } while (!w.inbox.empty());
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(w.metrics.skipped, 10u);
  EXPECT_EQ(w.Items(author), Posts{kPost});
}

TEST(Pusher, AnAuthorMergedAtReadIsMarkedInTheAuthorsOwnTimeline) {
  OwnPosts w;
  const UserId author = ReaderIn(0);
  w.MakeLive(author);
  w.mysql.SetMode(author, true);
  w.Publish(author, kPost, 1'000);
  w.Give(0, Hint::OfPost(author, kPost));
  w.RunUntilIdle();
  EXPECT_EQ(w.redis.timelines().at(author).marks, std::set<UserId>{author});
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
  Limits limits;
  limits.timelines_per_batch = 1;
  BobsWorld w(limits);
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
  BatchWritten reply;
  reply.id = refused.id;
  reply.status = Status::Later("redis", "BUSY");
  w.inbox.emplace_back(reply);
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 0);
  EXPECT_EQ(w.metrics.takeovers.size(), 2u) << "taken over again for no reason";

  w.Pass(std::chrono::seconds(30));
  w.RunUntilIdle();
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

  w.Pass(std::chrono::seconds(1));
  w.RunUntilIdle();
  ASSERT_EQ(w.committed.size(), 1u);
  EXPECT_EQ(w.committed.front().offset, 1);
  EXPECT_EQ(w.redis.position(RangeLayout(kRanges).First(0)), (AppliedPosition{7, 1}));
}

TEST(Pusher, ClaimsAgainAndReplaysWhenAnotherOwnerWasThere) {
  BobsWorld w;
  w.redis.Do(ClaimRange{1, 0, 50});  // somebody with a higher epoch, since gone
  w.Post();
  w.sought.clear();
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(w.bob), Posts{}) << "a fenced write was applied";
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kFenced);
  EXPECT_TRUE(w.sought.empty()) << "taken back before it could be known whose it is";
  EXPECT_EQ(w.metrics.fenced, 1);
  w.Pass(std::chrono::seconds(2));
  w.RunUntilIdle();
  ASSERT_EQ(w.sought.size(), 1u);
  EXPECT_EQ(w.sought.front().offset, 0);

  w.next_offset[0] = 0;
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(w.bob), Posts{kPost});
}

TEST(Pusher, NoticesARollbackInAQuietHour) {
  World w;
  w.AssignAll();
  const UserId bob = ReaderIn(0);
  w.MakeLive(bob);
  w.redis.FlushAll();
  w.Pass(std::chrono::seconds(6));
  w.RunUntilIdle();

  EXPECT_FALSE(w.redis.LiveMembers(0).empty()) << "the range is not complete again";
  EXPECT_EQ(w.metrics.held.ranges_ready, 2u);
  EXPECT_EQ(w.metrics.takeovers.size(), 4u);  // two at the start, two now
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

// Range 0 beside a log that is read again from wherever the pusher seeks, and a Redis whose walks
// over all keys take a while.
struct LoggedWorld : World {
  using World::World;
  std::vector<std::string> log;
  size_t next = 0;
  bool flowing = false;
  Duration walk_takes = std::chrono::seconds(3);
  std::vector<std::pair<Time, ResetRange>> walks;
  size_t walks_begun = 0;
  size_t seeks = 0;

  Duration turn = std::chrono::milliseconds(100);

  // Delivers two records of the log a turn.
  void Run(Duration time) {
    for (const Time end = now.mono + time; now.mono < end; Pass(turn)) {
      for (int i = 0; i < 2 && flowing && next < log.size(); ++i) {
        next_offset[0] = static_cast<int64_t>(next);
        GiveBytes(0, log[next++]);
      }
      do {
        Step();
        Obey();
        AnswerTruth();
        HoldWalks();
        AnswerTimelines();
      } while (!inbox.empty());
    }
  }
  void HoldWalks() {
    std::erase_if(timeline_calls, [this](const TimelineRequest& call) {
      const auto* reset = std::get_if<ResetRange>(&call);
      if (reset == nullptr || reset->range != 0) return false;
      if (reset->timelines != ResetRange::Timelines::kDrop) return false;
      walks.emplace_back(now.mono + walk_takes, *reset);
      ++walks_begun;
      return true;
    });
    std::erase_if(walks, [this](const auto& walk) {
      if (walk.first > now.mono) return false;
      inbox.emplace_back(redis.Do(walk.second));
      return true;
    });
  }
  void Obey() {
    for (const auto& at : std::exchange(sought, {})) {
      if (at.partition != 0) continue;
      ++seeks;
      next = static_cast<size_t>(at.offset);
      flowing = true;
    }
    for (auto range : std::exchange(paused, {})) flowing = flowing && range != 0;
    for (auto range : std::exchange(resumed, {})) flowing = flowing || range == 0;
  }
};

TEST(Pusher, SavesPositionsWhileAQuarantineWalksOverTheKeys) {
  LoggedWorld w;
  const UserId bob = ReaderIn(0);
  w.Follow(bob, kAnn);
  w.Assign(0);
  w.Obey();
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
  w.Assign(0);
  w.Obey();
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
  w.Assign(0);
  w.Obey();
  w.log.push_back("no hint at all");
  w.Run(std::chrono::seconds(1));
  ASSERT_EQ(w.walks.size(), 1u);
  RangeReset failed;
  failed.id = w.walks.front().second.id;
  failed.status = Status::Later("redis", "timed out");
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
    ASSERT_EQ(w.timeline_calls.size(), 1u);
    RangeReset failed;
    failed.id = std::get<ResetRange>(w.timeline_calls.front()).id;
    failed.status = Status::Later("redis", "timed out");
    w.timeline_calls.clear();
    w.inbox.emplace_back(failed);
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
    ASSERT_EQ(w.truth_calls.size(), 1u);
    PostPage failed;
    failed.id = std::get<ReadPostPage>(w.truth_calls.front()).id;
    failed.status = Status::Never("the column is gone");
    w.truth_calls.clear();
    w.inbox.emplace_back(failed);
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
  w.Assign(0);
  w.Obey();
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
  w.Assign(0);
  w.Obey();
  w.log = {HintOfNewerVersion(), EncodeHint(Hint::OfPost(kAnn, kPost))};
  w.Run(std::chrono::seconds(2));
  EXPECT_EQ(w.metrics.done, 0);
  w.log[0] = w.log[1];  // as if read by a newer pusher
  w.Run(std::chrono::seconds(10));
  EXPECT_EQ(w.metrics.done, 2);
  EXPECT_EQ(w.metrics.held.ranges_awaiting_upgrade, 0u);
}

// ---- two owners -------------------------------------------------------------------------------

// Two pushers that both believe the range is theirs, over one Redis and one MariaDB.
struct Duel {
  LoggedWorld one, two{Limits{}, one.stores};
  Duel() {
    one.turn = two.turn = std::chrono::milliseconds(10);
    one.Follow(ReaderIn(0), kAnn);
    one.Assign(0);
    one.MakeLive(ReaderIn(0));
    for (uint64_t i = 1; i <= 990; ++i) {
      one.Publish(kAnn, PostId{i}, static_cast<UnixMs>(i));
      one.log.push_back(EncodeHint(Hint::OfPost(kAnn, PostId{i})));
    }
    two.log = one.log;
    two.Assign(0);
  }
  void Run(Duration time) {
    for (Duration done{}; done < time; done += one.turn) {
      one.Run(one.turn);
      two.Run(two.turn);
    }
  }
  size_t takeovers() const { return one.metrics.takeovers.size() + two.metrics.takeovers.size(); }
  int64_t position() const { return one.redis.position(RangeLayout(kRanges).First(0))->offset; }
};

TEST(Pusher, TwoOwnersOfARangeTakeTurnsInsteadOfFighting) {
  Duel d;
  d.Run(std::chrono::seconds(10));
  EXPECT_LT(d.takeovers(), 12u);
  EXPECT_GT(d.position(), 100);
  const size_t before = d.takeovers();
  d.Run(std::chrono::minutes(5));
  EXPECT_LT(d.takeovers() - before, 60u);
  EXPECT_EQ(d.position(), 990) << "neither gets on";
  EXPECT_EQ(d.one.Items(ReaderIn(0)).front(), PostId{990});
  EXPECT_FALSE(d.one.metrics.contests.empty());
  EXPECT_FALSE(d.two.metrics.contests.empty());
}

TEST(Pusher, AZombieThatHearsItLostTheRangeNeverTakesItBack) {
  Duel d;
  d.Run(std::chrono::milliseconds(500));  // the first is fenced, and hears a heartbeat later:
  d.one.inbox.emplace_back(PartitionRevoked{0});
  d.Run(std::chrono::seconds(20));
  EXPECT_EQ(d.one.metrics.takeovers.size(), 2u);
  EXPECT_EQ(d.two.metrics.takeovers.size(), 1u) << "the owner was disturbed";
  EXPECT_EQ(d.position(), 990);
  EXPECT_EQ(d.one.Items(ReaderIn(0)).front(), PostId{990});
}

// It slept on its write; meanwhile another pusher took the post, saw it deleted, and went on.
TEST(Pusher, ALateWriteOfAZombieChangesNothingAndIsCounted) {
  BobsWorld w;
  w.Post();
  w.Step();
  w.AnswerTruth();  // the post is there
  w.Step();
  ASSERT_EQ(w.timeline_calls.size(), 1u) << "no write is under way";
  w.Delete(kAnn, kPost);
  w.redis.Do(ClaimRange{1, 0, 50});

  w.inbox.emplace_back(PartitionRevoked{0});
  w.RunUntilIdle();

  EXPECT_EQ(w.Items(w.bob), Posts{});
  EXPECT_EQ(w.metrics.fenced, 1) << "whoever asked for it is gone, but it was refused";
  EXPECT_EQ(w.metrics.takeovers.size(), 2u) << "what was revoked is not claimed again";
}

// Redis lost the epoch, or the connection was lost: nobody else owns the range.
TEST(Pusher, WhatIsRefusedForWantOfAClaimIsNotFenced) {
  BobsWorld w;
  w.redis.FlushAll();
  w.Post();
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kSessionLost);
  EXPECT_EQ(w.metrics.fenced, 0);
}

TEST(Pusher, WaitsLongerForAnotherOwnerUntilThereIsPeace) {
  World w;
  w.Assign(0);
  uint64_t epoch = 100;
  const auto disturb = [&] {
    w.redis.Do(ClaimRange{1, 0, epoch += 100});
    w.Pass(std::chrono::seconds(5));  // a save finds it
    w.RunUntilIdle();
    const Duration wait = w.metrics.contests.back();
    w.Pass(wait);
    w.RunUntilIdle();
    EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
    return wait;
  };
  const Duration first = disturb(), second = disturb(), third = disturb();
  EXPECT_LE(first, std::chrono::seconds(2));
  EXPECT_GE(second, std::chrono::seconds(2));
  EXPECT_GE(third, std::chrono::seconds(4));
  w.Pass(std::chrono::seconds(61));
  w.RunUntilIdle();
  EXPECT_LE(disturb(), std::chrono::seconds(2));
}

TEST(Pusher, ARedisThatForgotTheOwnerIsNoOtherOwner) {
  World w;
  w.Assign(0);
  w.redis.FlushAll();
  w.Pass(std::chrono::seconds(5));
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kSessionLost);
  EXPECT_TRUE(w.metrics.contests.empty());
  EXPECT_EQ(w.metrics.held.ranges_ready, 1u);
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

TEST(Pusher, GoesOnCarefullyAfterTwoCrashesAndQuarantinesTheThirdTime) {
  const UserId bob = ReaderIn(0);
  World w;
  w.Follow(bob, kAnn);
  w.Publish(kAnn, kPost, 1'000);
  w.Publish(kAnn, PostId{78}, 1'001);
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Crash(0, 0);
  w.Assign(0);
  w.MakeLive(bob);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Give(0, Hint::OfPost(kAnn, PostId{78}));
  w.RunUntilIdle();
  w.Pass(Limits{}.last_words);
  w.RunUntilIdle();

  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters.front().record.offset, 0);
  EXPECT_EQ(w.metrics.done, 2);
  EXPECT_FALSE(w.IsLive(bob));
  EXPECT_EQ(w.Crashes(0), 4u) << "not settled yet";
}

// The shard was away when it was told to go, and is back.
TEST(Pusher, BlamesNoHintOfAnOwnerThatSaysSoonEnoughThatItWasToldToGo) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  World told_to_go(Limits{}, w.stores);
  told_to_go.Assign(0);
  told_to_go.Give(0, Hint::OfPost(kAnn, kPost));
  for (int i = 0; i < 3; ++i) told_to_go.Step();
  ASSERT_TRUE(w.Suspected(0, 0));
  told_to_go.owners_away = true;
  told_to_go.inbox.emplace_back(PartitionRevoked{0});
  told_to_go.RunUntilIdle();

  w.Assign(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Pass(Limits{}.last_words - std::chrono::seconds(1));
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 0);
  told_to_go.owners_away = false;
  told_to_go.Pass(std::chrono::seconds(1));
  told_to_go.RunUntilIdle();
  w.Pass(std::chrono::seconds(2));
  w.RunUntilIdle();

  EXPECT_EQ(w.metrics.done, 1);
  EXPECT_TRUE(w.metrics.quarantined.empty());
}

TEST(Pusher, AHintThatWasTriedAloneIsNotBlamedForLessThanThreeCrashes) {
  World w;
  const uint64_t told_to_go = w.Crash(0).id;
  w.Crash(0);
  w.Crash(0, 0);
  w.mysql.Do(SettleRange{1, 0, told_to_go});
  ASSERT_TRUE(w.Suspected(0, 0));
  w.Assign(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 1);
  EXPECT_TRUE(w.metrics.quarantined.empty());
}

TEST(Pusher, GoesOnAsEverOnceItHearsThatThereWereNoCrashes) {
  World w;
  World told_to_go(Limits{}, w.stores);
  told_to_go.Assign(0);
  told_to_go.owners_away = true;
  told_to_go.inbox.emplace_back(PartitionRevoked{0});
  told_to_go.RunUntilIdle();
  w.Crash(0);
  w.Assign(0);
  told_to_go.owners_away = false;
  told_to_go.Pass(std::chrono::seconds(1));
  told_to_go.RunUntilIdle();
  for (int i = 0; i < 3; ++i)
    w.Give(0, Hint::OfPost(UserId{4711u + static_cast<uint64_t>(i)}, kPost));
  for (int i = 0; i < 3; ++i) w.Step();
  EXPECT_EQ(w.truth_calls.size(), 3u) << "it heard with the first";
}

TEST(Pusher, IsolatesOneHintOfAllItsRangesAndBlamesNoneThatIsDone) {
  World w;
  for (const Range range : {0, 1}) {
    for (int i = 0; i < 2; ++i) w.Crash(range);
    w.Assign(range);  // after two crashes
  }
  for (const Range range : {0, 1}) w.Give(range, Hint::OfPost(kAnn, kPost));
  for (int i = 0; i < 4; ++i) w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u) << "a crash must be the fault of one";
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 2);
  for (const Range range : {0, 1}) {
    EXPECT_EQ(w.Crashes(range), 3u) << "not settled yet";
    EXPECT_FALSE(w.Suspected(range, 0));
  }
}

TEST(Pusher, RefusesAPartitionThatTheInstallationDoesNotHave) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{.partition = static_cast<int32_t>(kRanges)});
  EXPECT_THROW(w.Step(), Misconfigured);
  EXPECT_TRUE(w.timeline_calls.empty());
}

TEST(Pusher, AStartThatLastedForgivesThoseBeforeAndMayStillCrash) {
  World w;
  w.Crash(0);
  w.Assign(0);
  w.Pass(std::chrono::seconds(31));
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 1u) << "its own, under way";
  w.inbox.emplace_back(PartitionRevoked{0});
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 0u);
}

// The hint comes when its range has long had its owner.
TEST(Pusher, AHintIsQuarantinedByItsThirdCrashHoweverLongTheFirstOwnerLasted) {
  const auto stores = std::make_shared<Stores>();
  for (int crash = 1; crash <= 3; ++crash) {
    World crashing(Limits{}, stores);
    crashing.Assign(0);
    if (crash == 1) {
      crashing.Pass(std::chrono::seconds(31));
      crashing.RunUntilIdle();
    }
    crashing.Give(0, Hint::OfPost(kAnn, kPost));
    for (int i = 0; i < 3; ++i) crashing.Step();
    ASSERT_FALSE(crashing.truth_calls.empty()) << "it is begun";
  }
  World w(Limits{}, stores);
  w.Assign(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.RunUntilIdle();
  w.Pass(Limits{}.last_words);
  w.RunUntilIdle();
  EXPECT_EQ(w.letters.size(), 1u);
}

// Once its start has lasted, others are tried beside it.
TEST(Pusher, AHintThatWaitsSinceItWasTriedAloneIsNoSuspectForEver) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  for (int i = 0; i < 3; ++i) w.Step();
  ASSERT_TRUE(w.Suspected(0, 0));
  w.Pass(std::chrono::seconds(31));
  for (int i = 0; i < 2; ++i) w.Step();
  EXPECT_FALSE(w.truth_calls.empty()) << "it is still under way";
  EXPECT_FALSE(w.Suspected(0, 0));
}

TEST(Pusher, GoesOnAsEverOnceAStartHasLasted) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);  // after two crashes
  const auto begun = [&] {
    w.Give(0, Hint::OfPost(kAnn, kPost));
    w.Give(0, Hint::OfPost(UserId{4711}, kPost));
    for (int i = 0; i < 3; ++i) w.Step();
    return w.truth_calls.size();
  };
  EXPECT_EQ(begun(), 1u) << "isolating";
  w.RunUntilIdle();
  w.Pass(std::chrono::seconds(31));
  w.RunUntilIdle();
  EXPECT_EQ(begun(), 2u);
}

TEST(Pusher, BeingToldToGoIsNoCrash) {
  World w;
  for (int i = 0; i < 5; ++i) {  // rebalances, one after the other
    w.Assign(0);
    w.inbox.emplace_back(PartitionRevoked{0});
    w.RunUntilIdle();
  }
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Pusher, BeingToldToGoBeforeTheEpochIsKnownIsNoCrash) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  w.Step();  // asked; the answer is under way
  w.inbox.insert(w.inbox.begin(), PartitionRevoked{0});
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 0u);
}

// Restarted again and again while Redis is away; a process that dies there says nothing.
TEST(Pusher, LeavingBeforeARangeIsReadyIsNoCrash) {
  for (const bool stopped : {true, false}) {
    World w;
    for (int i = 0; i < 5; ++i) {
      World leaving(Limits{}, w.stores);
      leaving.inbox.emplace_back(PartitionAssigned{0, 0, 0});
      leaving.Step();
      leaving.Step();
      ASSERT_FALSE(leaving.timeline_calls.empty()) << "claimed, and not answered";
      if (stopped) leaving.pusher.StopTaking();
      leaving.Step();
    }
    EXPECT_EQ(w.Crashes(0), stopped ? 0u : 5u);
  }
}

// A fleet that dies of one hint: each process that comes back takes the range from an owner that
// has not met the hint yet.
TEST(Pusher, BeingToldToGoForgivesNoCrashOfOthers) {
  World w;
  for (int i = 0; i < 2; ++i) {
    World crashing(Limits{}, w.stores);
    crashing.Assign(0);
    World leaving(Limits{}, w.stores);
    leaving.Assign(0);
    leaving.inbox.emplace_back(PartitionRevoked{0});
    leaving.RunUntilIdle();
    World gone_early(Limits{}, w.stores);
    gone_early.inbox.emplace_back(PartitionAssigned{0, 0, 0});
    gone_early.Step();
    gone_early.inbox.insert(gone_early.inbox.begin(), PartitionRevoked{0});
    gone_early.RunUntilIdle();
  }
  EXPECT_EQ(w.Crashes(0), 2u);
  w.Crash(0, 5);
  World leaving(Limits{}, w.stores);
  leaving.Assign(0);
  leaving.inbox.emplace_back(PartitionRevoked{0});
  leaving.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 3u);
  EXPECT_TRUE(w.Suspected(0, 5));
}

TEST(Pusher, WhatWasBegunWhenToldToGoIsNoSuspect) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);  // isolating
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  w.Step();
  ASSERT_FALSE(w.truth_calls.empty()) << "begun, and not finished";
  w.inbox.emplace_back(PartitionRevoked{0});
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 2u);
  EXPECT_FALSE(w.Suspected(0, 0));
}

TEST(Pusher, TakesNoStartBackThatItCouldNotMake) {
  World w;
  w.owners_away = true;
  w.inbox.emplace_back(PartitionAssigned{0, 0, 0});
  for (int i = 0; i < 2; ++i) w.Step();
  w.owners_away = false;
  w.inbox.emplace_back(PartitionRevoked{0});
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 0u);
}

TEST(Pusher, AStartThatCouldNotBeSettledIsSettledLater) {
  World w;
  w.Crash(0);
  w.Assign(0);
  w.owners_away = true;
  w.Pass(std::chrono::seconds(31));
  w.RunUntilIdle();
  w.owners_away = false;
  w.Pass(std::chrono::minutes(1));
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 1u) << "its own, under way";
}

TEST(Pusher, AZombieLeavesTheNewOwnersCrashesAlone) {
  World w;
  w.Assign(0);
  w.Crash(0);  // the new owner, of another process
  w.Pass(std::chrono::seconds(31));
  w.RunUntilIdle();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.RunUntilIdle();
  EXPECT_EQ(w.Crashes(0), 1u) << "of the new owner's";
}

TEST(Pusher, AZombieStartsNothingOnceItsStartIsRefused) {
  World w;
  for (int i = 0; i < 2; ++i) w.Crash(0);
  w.Assign(0);  // after two crashes: isolating
  w.Crash(0);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Step();
  w.Step();
  EXPECT_TRUE(w.truth_calls.empty());
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kFenced);
  EXPECT_FALSE(w.Suspected(0, 0));
}

TEST(Pusher, MeasuresASampledPublishOnceFromRecordToLastDelivery) {
  BobsWorld w;
  const UserId eve = ReaderIn(1);
  w.Follow(eve, kAnn);
  w.MakeLive(eve);
  w.Publish(kAnn, kPost, 1'000);
  const auto sample = [&](uint32_t part) {
    return DeliverySample{part, kRanges, w.now.unix_ms, 5'000};
  };
  w.Give(0, Hint::OfPost(kAnn, kPost, sample(0)));
  w.Give(0, Hint::OfPost(kAnn, kPost, sample(0)));  // delivered twice
  w.Pass(std::chrono::milliseconds(20));
  w.RunUntilIdle();
  ASSERT_EQ(w.metrics.first.size(), 1u);
  EXPECT_EQ(w.metrics.first[0].first, SizeClassOf(5'000));
  EXPECT_EQ(w.metrics.first[0].second, std::chrono::milliseconds(20));
  EXPECT_TRUE(w.metrics.last.empty()) << "the other range is still to come";

  auto late = sample(1);
  late.published_at -= 20;
  w.Give(1, Hint::OfPost(kAnn, kPost, late));
  w.Pass(std::chrono::milliseconds(30));
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.first.size(), 1u);
  ASSERT_EQ(w.metrics.last.size(), 1u);
  EXPECT_EQ(w.metrics.last[0].second, std::chrono::milliseconds(50));
}

TEST(Pusher, TellsOfTheLastDeliveryOfAPostThatBelongsToATrace) {
  BobsWorld w;
  const Headers traced{{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}};
  w.Publish(kAnn, kPost, 1'000);
  const auto sample = [&](uint32_t part) {
    return DeliverySample{part, kRanges, w.now.unix_ms, 5'000};
  };
  for (uint32_t part = 0; part + 1 < kRanges; ++part) {
    w.Give(static_cast<Range>(part), Hint::OfPost(kAnn, kPost, sample(part)), traced);
  }
  w.RunUntilIdle();
  EXPECT_TRUE(w.metrics.traced.empty()) << "a range is still to come";
  const auto last = static_cast<Range>(kRanges - 1);
  auto late = sample(kRanges - 1);
  w.Give(last, Hint::OfPost(kAnn, kPost, late), traced);
  w.Pass(std::chrono::milliseconds(30));
  w.RunUntilIdle();
  ASSERT_EQ(w.metrics.traced.size(), 1u);
  EXPECT_EQ(w.metrics.traced[0].trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(w.metrics.traced[0].author, kAnn);
  EXPECT_EQ(w.metrics.traced[0].post, kPost);
  EXPECT_EQ(w.metrics.traced[0].followers, 5'000u);
  EXPECT_EQ(w.metrics.traced[0].since_published, std::chrono::milliseconds(30));
}

TEST(Pusher, SaysNothingOfAPostWithoutATrace) {
  BobsWorld w;
  w.Publish(kAnn, kPost, 1'000);
  for (uint32_t part = 0; part < kRanges; ++part) {
    w.Give(static_cast<Range>(part),
           Hint::OfPost(kAnn, kPost, DeliverySample{part, kRanges, w.now.unix_ms, 5'000}));
  }
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.last.size(), 1u);
  EXPECT_TRUE(w.metrics.traced.empty());
}

TEST(Pusher, PausesARangeThatHoldsTooManyHintsAndResumesIt) {
  Limits limits;
  limits.buffered_hints_per_range = 4;
  limits.posts_per_unit = 1;
  World w(limits);
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
  w.Pass(std::chrono::seconds(2));
  w.RunUntilIdle();

  EXPECT_TRUE(w.committed.empty());
  EXPECT_EQ(w.metrics.held.hints, 0u);
  EXPECT_EQ(w.Items(w.bob), Posts{});
}

}  // namespace
}  // namespace fanline::pusher
