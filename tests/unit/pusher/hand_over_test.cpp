// A range changes its owner while posts of an author with many followers are under way: the next
// owner goes on behind the pages that are done, and nobody misses anything.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using Posts = std::vector<PostId>;

constexpr PostId kOther{78};

// Six live readers of range 0 follow Ann: three pages.
struct Owner : World {
  explicit Owner(std::shared_ptr<Stores> theirs = nullptr)
      : World({.followers_per_page = 2}, std::move(theirs)) {}

  void MakeAnnPopular() {
    for (int i = 0; i < 6; ++i) {
      readers.push_back(ReaderIn(0, i));
      Follow(readers.back(), kAnn);
    }
    Assign(0);
    for (const UserId reader : readers) MakeLive(reader);
  }
  void Post(PostId post = kPost) {
    Publish(kAnn, post, 1'000);
    Give(0, Hint::OfPost(kAnn, post));
  }
  // Reads and writes so many pages; the next one is asked for.
  void Do(int pages) {
    for (; pages > 0; --pages) {
      Step();
      AnswerTruth();
      Step();
      AnswerTimelines();
    }
    Step();
  }
  void SaveInTime() {
    Pass(std::chrono::seconds(2));
    Step();
    AnswerTimelines();
    Step();
  }
  size_t Have(PostId post) {
    size_t have = 0;
    for (int i = 0; i < 6; ++i) {
      const Posts items = Items(ReaderIn(0, i));
      have += std::count(items.begin(), items.end(), post);
    }
    return have;
  }
  std::vector<BegunHints> Begun() const { return redis.position(0).value().begun; }

  std::vector<UserId> readers;
};

struct TwoOwners {
  TwoOwners() { old.MakeAnnPopular(); }
  // Of three pages two are done, and Redis knows it.
  void Begin(const Posts& posts) {
    for (const PostId post : posts) old.Post(post);
    old.Do(2);
    old.SaveInTime();
  }
  // The new owner has taken over, and the log gives it the hints again.
  void HandOver(const std::vector<PostId>& hints = {kPost}) {
    next.Assign(0);
    for (const PostId post : hints) next.Give(0, Hint::OfPost(kAnn, post));
    next.RunUntilIdle();
  }
  Owner old;
  Owner next{old.stores};
};

TEST(HandOver, TheNextOwnerGoesOnBehindThePagesThatAreDone) {
  TwoOwners w;
  w.Begin({kPost});
  EXPECT_EQ(w.next.Have(kPost), 4u);
  w.HandOver();

  EXPECT_EQ(w.next.metrics.followers_read, 2u);
  EXPECT_EQ(w.next.metrics.gone_on, 1);
  EXPECT_EQ(w.next.Have(kPost), 6u);
  w.next.SaveInTime();
  EXPECT_EQ(w.next.redis.position(0), (AppliedPosition{7, 1}));
}

TEST(HandOver, APageThatRedisHasNotAcknowledgedIsReadAgain) {
  TwoOwners w;
  w.old.Post();
  w.old.Do(1);
  w.old.AnswerTruth();
  w.old.Step();  // the second page's writes are under way
  std::erase_if(w.old.timeline_calls,
                [](const auto& call) { return std::holds_alternative<TimelineBatch>(call); });
  w.old.SaveInTime();
  w.HandOver();

  EXPECT_EQ(w.next.metrics.followers_read, 4u);
  EXPECT_EQ(w.next.Have(kPost), 6u);
}

// Its own hint stands behind, but may be one that the log has lost.
TEST(HandOver, APostThatWasDeletedMeanwhileIsRemovedFromTheFirstPageOn) {
  TwoOwners w;
  w.Begin({kPost});
  w.old.Delete(kAnn, kPost);
  w.HandOver();

  EXPECT_EQ(w.next.metrics.begun_anew, 1);
  EXPECT_EQ(w.next.Have(kPost), 0u);
}

TEST(HandOver, AnotherHintInTheSamePlaceBeginsAtTheFirstPage) {
  TwoOwners w;
  w.Begin({kPost});
  w.old.Publish(kAnn, kOther, 1'000);
  w.HandOver({kOther});

  EXPECT_EQ(w.next.metrics.begun_anew, 1);
  EXPECT_EQ(w.next.Have(kOther), 6u);
}

TEST(HandOver, PostsThatCameLaterGoToEverybody) {
  TwoOwners w;
  w.Begin({kPost});
  w.old.Post(kOther);
  w.HandOver({kPost, kOther});

  EXPECT_EQ(w.next.metrics.gone_on, 1);
  EXPECT_EQ(w.next.metrics.followers_read, 2u + 6u);
  EXPECT_EQ(w.next.Have(kPost), 6u);
  EXPECT_EQ(w.next.Have(kOther), 6u);
}

TEST(HandOver, PostsThatWereBegunTogetherGoOnTogether) {
  TwoOwners w;
  w.Begin({kPost, kOther});
  w.HandOver({kPost, kOther});

  EXPECT_EQ(w.next.metrics.followers_read, 2u);
  EXPECT_EQ(w.next.Have(kPost), 6u);
  EXPECT_EQ(w.next.Have(kOther), 6u);
}

TEST(HandOver, ThoseOfWhichOnlyOneIsHereYetBeginAtTheFirstPage) {
  TwoOwners w;
  w.Begin({kPost, kOther});
  w.HandOver({kPost});
  EXPECT_EQ(w.next.metrics.begun_anew, 1);
  w.next.Push(0, Hint::OfPost(kAnn, kOther));

  EXPECT_EQ(w.next.Have(kPost), 6u);
  EXPECT_EQ(w.next.Have(kOther), 6u);
}

TEST(HandOver, WhatAnOwnerHasNotTakenUpYetStaysBegun) {
  TwoOwners w;
  w.Begin({kPost});
  const auto begun = w.old.Begun();
  ASSERT_EQ(begun.size(), 1u);
  w.next.Assign(0);
  w.next.SaveInTime();
  EXPECT_EQ(w.next.Begun(), begun);
  w.next.Give(0, Hint::OfPost(kAnn, kPost));
  w.next.Step();  // taken up, not answered
  w.next.Pass(std::chrono::seconds(6));
  w.next.Step();
  w.next.AnswerTimelines();
  EXPECT_EQ(w.next.Begun(), begun);
}

// The pages that the roll-back took away are done again, although the owner remembers them.
TEST(HandOver, AfterARollbackRedisSaysWhatIsBegun) {
  Owner w;
  w.MakeAnnPopular();
  w.Post();
  w.Do(1);
  w.SaveInTime();
  const fakes::FakeRedis before = w.redis;
  w.Do(1);
  w.SaveInTime();
  w.redis = before;
  w.Pass(std::chrono::seconds(6));
  w.RunUntilIdle();  // the save finds it out; the range is taken over again
  w.next_offset[0] = 0;
  w.Push(0, Hint::OfPost(kAnn, kPost));

  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kRolledBack);
  EXPECT_EQ(w.Have(kPost), 6u);
}

TEST(HandOver, NothingIsBegunInALogThatLostItsTail) {
  TwoOwners w;
  w.Begin({kPost, kOther});
  w.next.Assign(0, 5, 0, 1);
  EXPECT_EQ(w.next.Begun(), std::vector<BegunHints>{});
}

TEST(HandOver, OnlySoMuchIsNamed) {
  Owner w;
  w.MakeAnnPopular();
  for (uint64_t author = 1; author <= Limits{}.begun_saved + 2; ++author) {
    for (const UserId reader : w.readers) w.Follow(reader, UserId{5'000 + author});
    w.Publish(UserId{5'000 + author}, kPost, 1'000);
    w.Give(0, Hint::OfPost(UserId{5'000 + author}, kPost));
  }
  w.Do(1);
  w.Do(1);
  w.SaveInTime();
  ASSERT_EQ(w.Begun().size(), Limits{}.begun_saved);
  EXPECT_EQ(w.Begun().front().offset, 0);
}

TEST(HandOver, ADrainEndsWithThePageUnderWay) {
  TwoOwners w;
  w.old.Post();
  w.old.Do(1);
  w.old.pusher.StopTaking();
  w.old.Step();
  EXPECT_FALSE(w.old.pusher.drained());
  w.old.RunUntilIdle();

  EXPECT_TRUE(w.old.pusher.drained());
  EXPECT_EQ(w.old.metrics.followers_read, 4u);
  EXPECT_EQ(w.old.metrics.done, 0);
  EXPECT_TRUE(std::none_of(w.old.committed.begin(), w.old.committed.end(),
                           [](const auto& at) { return at.offset > 0; }));
  w.HandOver();
  EXPECT_EQ(w.next.metrics.followers_read, 2u);
  EXPECT_EQ(w.next.Have(kPost), 6u);
}

TEST(HandOver, ADrainDoesNotWaitForWhatIsParked) {
  Owner w;
  w.MakeAnnPopular();
  w.Post();
  w.Step();
  w.FailPage(Status::Later("mysql_0", "away"));
  w.Step();
  w.pusher.StopTaking();
  w.Pass(std::chrono::seconds(10));  // by now it would be tried again
  w.Step();
  EXPECT_TRUE(w.truth_calls.empty());
  w.RunUntilIdle();
  EXPECT_TRUE(w.pusher.drained());
}

TEST(HandOver, ADrainDoesNotWaitForARedisThatTakesNoPosition) {
  Owner w;
  w.MakeAnnPopular();
  w.Post();
  w.Do(1);
  w.pusher.StopTaking();
  w.Do(1);
  w.FailCall<SavePosition>(Status::Later("redis", "away"));
  w.Step();
  EXPECT_TRUE(w.timeline_calls.empty());
  w.Step();
  EXPECT_TRUE(w.pusher.drained());
}

TEST(HandOver, ARevokedRangeIsLeftAsFarAsItIs) {
  TwoOwners w;
  w.old.Post();
  w.old.Do(2);
  w.old.inbox.emplace_back(PartitionRevoked{0});
  w.old.Step();
  w.old.AnswerTimelines();
  w.HandOver();

  EXPECT_EQ(w.next.metrics.followers_read, 2u);
  EXPECT_EQ(w.next.Have(kPost), 6u);
}

// Hints that a rolled-back Redis lost are not taken for applied.
TEST(HandOver, ARangeThatIsRevokedAsItBecomesReadyIsLeftAsItWasFound) {
  Owner w;
  w.MakeAnnPopular();
  const fakes::FakeRedis before = w.redis;
  w.Post();
  w.RunUntilIdle();
  w.SaveInTime();
  ASSERT_EQ(w.redis.position(0), (AppliedPosition{7, 1}));
  w.redis = before;
  w.Pass(std::chrono::seconds(6));
  while (w.inbox.empty() || !std::holds_alternative<RangeReset>(w.inbox.back())) {
    w.Step();
    w.AnswerTimelines();
  }
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  w.AnswerTimelines();
  EXPECT_EQ(w.redis.position(0), (AppliedPosition{7, 0}));
}

}  // namespace
}  // namespace fanline::pusher
