// Reposts: how they stand in timelines, how they go, and who gets none.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

constexpr Original kOriginal{PostId{7}, kBen};
constexpr PostId kRepost{78};
using PostIds = std::vector<PostId>;

// Bob wants no reposts of Ann, Cid does.
struct RepostsWorld : World {
  explicit RepostsWorld(const Limits& limits = {}) : World(limits) {
    for (const UserId reader : {bob, cid}) Follow(reader, kAnn);
    Choose(bob, kAnn, Delivery::kNoReposts);
    AssignAll();
    for (const UserId reader : {bob, cid}) MakeLive(reader);
  }
  // Ann's, with its hint.
  void Repost(PostId post = kRepost) {
    Publish(kAnn, post, 1'000, kOriginal);
    Give(0, Hint::OfPost(kAnn, post));
  }
  // Ann's mode is what new posts are made in.
  void Merged(PostId post, Original original) {
    mysql.SetMode(kAnn, true);
    Publish(kAnn, post, 2'000, original);
    Push(0, Hint::OfPost(kAnn, post));
  }
  void Sync(UserId reader, Delivery delivery) {
    Choose(reader, kAnn, delivery);
    Push(0, Hint::OfSync(reader, kAnn));
  }
  std::set<Mark> MarksOf(UserId reader) { return redis.timelines().at(reader).marks; }

  const UserId bob = ReaderIn(0), cid = ReaderIn(0, 1);
};

TEST(Reposts, StandInTheirOwnLaneWithTheirOriginal) {
  RepostsWorld w;
  w.Repost();
  w.RunUntilIdle();
  const Item repost{kRepost, 1'000, kAnn, kOriginal};
  EXPECT_EQ(w.redis.Read(w.cid, {}, 10).items, std::vector{repost});
  w.Delete(kAnn, kRepost);
  w.Push(0, Hint::OfPost(kAnn, kRepost));
  EXPECT_TRUE(w.Items(w.cid).empty());
}

// A failover has lost the row; the delete was stored on what was left.
TEST(Reposts, GoEvenIfNobodyKnowsAnyMoreThatTheyWereReposts) {
  RepostsWorld w;
  const Item repost{kRepost, 1'000, kAnn, kOriginal};
  const Item same_id{kRepost, 1'000, kBen};  // of another author: an application's mistake
  w.MakeLive(w.cid, {repost});
  w.redis.Expire(w.bob);
  w.MakeLive(w.bob, {same_id});
  w.Delete(kAnn, kRepost);
  w.Push(0, Hint::OfPost(kAnn, kRepost));
  EXPECT_TRUE(w.Items(w.cid).empty());
  EXPECT_EQ(w.Items(w.bob), PostIds{kRepost});
}

TEST(Reposts, AreNotPushedToWhoWantsNoneWhetherTheFollowersAreListedOrNot) {
  RepostsWorld w;
  for (const PostId repost : {kRepost, PostId{79}}) {
    w.Repost(repost);
    w.RunUntilIdle();
  }
  EXPECT_EQ(w.Items(w.cid).size(), 2u);
  EXPECT_TRUE(w.Items(w.bob).empty());
  EXPECT_EQ(w.metrics.followers_read, 2u) << "at the first one";
  EXPECT_EQ(w.metrics.done, 2);
}

TEST(Reposts, AnAuthorsOtherPostsOfTheSameMomentComeAllTheSame) {
  RepostsWorld w;
  w.Publish(kAnn, kPost, 1'000);
  w.Publish(kAnn, PostId{80}, 900);
  w.Delete(kAnn, PostId{80});
  w.redis.Expire(w.bob);
  w.MakeLive(w.bob, {{PostId{80}, 900, kAnn}});
  for (const PostId post : {kPost, PostId{80}}) w.Give(0, Hint::OfPost(kAnn, post));
  w.Repost();
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(w.bob), PostIds{kPost}) << "and removals are for all";
  EXPECT_EQ(w.Items(w.cid), (PostIds{kRepost, kPost}));
}

TEST(Reposts, OfPagesOfFollowersEachKnowsWhoWantsNone) {
  RepostsWorld w({.followers_on_first_page = 2, .followers_per_page = 2});
  std::vector<UserId> readers;
  for (int i = 2; i < 9; ++i) {
    readers.push_back(ReaderIn(0, i));
    w.Follow(readers.back(), kAnn);
    if (i % 2 == 0) w.Choose(readers.back(), kAnn, Delivery::kNoReposts);
    w.MakeLive(readers.back());
  }
  for (const PostId repost : {kRepost, PostId{79}}) {
    w.Repost(repost);
    w.RunUntilIdle();
  }
  EXPECT_EQ(w.metrics.followers_read, 9u);
  for (size_t i = 0; i < readers.size(); ++i) {
    EXPECT_EQ(w.Items(readers[i]).size(), i % 2 == 0 ? 0u : 2u) << i;
  }
}

TEST(Reposts, ASyncBringsThemOrTakesThemOutAsItIsChosen) {
  RepostsWorld w;
  w.Publish(kAnn, kPost, 900);
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Repost();
  w.RunUntilIdle();
  w.Sync(w.bob, Delivery::kAll);
  EXPECT_EQ(w.Items(w.bob), (PostIds{kRepost, kPost}));
  w.Sync(w.bob, Delivery::kNoReposts);
  EXPECT_EQ(w.Items(w.bob), PostIds{kPost});
  w.Repost(PostId{79});
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(w.bob), PostIds{kPost}) << "the list was told";
}

// Its window holds posts; reposts take no place in it, and the floor does not rise by them.
TEST(Reposts, TakeNoPlaceInTheWindowOfWhoWantsNone) {
  RepostsWorld w;
  w.Publish(kAnn, kPost, 100);
  for (uint64_t i = 0; i < 3 * kWindow.window; ++i) {
    w.Publish(kAnn, PostId{200 + i}, static_cast<UnixMs>(1'000 + i), kOriginal);
  }
  w.Sync(w.bob, Delivery::kNoReposts);
  EXPECT_EQ(w.Items(w.bob), PostIds{kPost});
  EXPECT_EQ(w.redis.timelines().at(w.bob).floor, kNoFloor);
}

TEST(Reposts, AMarkSaysThatNoneAreWanted) {
  RepostsWorld w;
  w.Merged(kPost, {});
  EXPECT_EQ(w.MarksOf(w.bob), (std::set{Mark{kAnn, true}}));
  EXPECT_EQ(w.MarksOf(w.cid), (std::set{Mark{kAnn, false}}));
  w.Sync(w.bob, Delivery::kAll);
  w.Sync(w.cid, Delivery::kNoReposts);
  EXPECT_EQ(w.MarksOf(w.bob), (std::set{Mark{kAnn, false}}));
  EXPECT_EQ(w.MarksOf(w.cid), (std::set{Mark{kAnn, true}}));
  w.Sync(w.cid, Delivery::kNone);
  EXPECT_TRUE(w.MarksOf(w.cid).empty());
}

}  // namespace
}  // namespace fanline::pusher
