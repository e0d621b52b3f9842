// Lists of followers: how they are filled, kept true and forgotten; and what a pusher does by them.
#include "pusher/units/follower_lists.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

constexpr Time kNoon{std::chrono::hours(12)};
constexpr Duration kAge = std::chrono::hours(1);

// Users of any range, in the order of pages.
FollowerLists::Followers Sorted(FollowerLists::Followers users) {
  std::sort(users.begin(), users.end(), [](UserId a, UserId b) {
    return std::pair(BucketOf(a), a) < std::pair(BucketOf(b), b);
  });
  return users;
}

struct FollowerListsTest : ::testing::Test {
  void Fill(Range range, UserId author, const FollowerLists::Followers& followers,
            Time at = kNoon) {
    lists.Append(range, author, lists.Begin(range, author, at), followers, true);
  }
  FollowerLists lists{10'000, kAge};
};

TEST_F(FollowerListsTest, AListIsThereOnceItsLastPageIs) {
  const FollowerLists::Followers all = Sorted({UserId{1}, UserId{2}, UserId{3}});
  const uint64_t number = lists.Begin(0, kAnn, kNoon);
  lists.Append(0, kAnn, number, {all[0], all[1]}, false);
  EXPECT_EQ(lists.Find(0, kAnn, kNoon), nullptr);
  lists.Append(0, kAnn, number, {all[2]}, true);
  ASSERT_NE(lists.Find(0, kAnn, kNoon), nullptr);
  EXPECT_EQ(*lists.Find(0, kAnn, kNoon), all);
  EXPECT_EQ(lists.Find(1, kAnn, kNoon), nullptr);
  EXPECT_EQ(lists.Find(0, kBen, kNoon), nullptr);
}

TEST_F(FollowerListsTest, AListThatWasForgottenMeanwhileIsNotKept) {
  const uint64_t number = lists.Begin(0, kAnn, kNoon);
  lists.Append(0, kAnn, number, {UserId{1}}, false);
  lists.Forget(0, kAnn);
  lists.Append(0, kAnn, number, {UserId{2}}, true);
  EXPECT_EQ(lists.Find(0, kAnn, kNoon), nullptr);

  const uint64_t another = lists.Begin(0, kAnn, kNoon);
  lists.Append(0, kAnn, number, {UserId{2}}, true);
  EXPECT_EQ(lists.Find(0, kAnn, kNoon), nullptr) << "a page of the one before";
  lists.Append(0, kAnn, another, {UserId{1}}, true);
  EXPECT_NE(lists.Find(0, kAnn, kNoon), nullptr);
}

TEST_F(FollowerListsTest, ASyncSetsItsEdgeInOrder) {
  const FollowerLists::Followers all = Sorted({UserId{1}, UserId{2}, UserId{3}, UserId{4}});
  Fill(0, kAnn, {all[0], all[3]});
  for (int twice = 0; twice < 2; ++twice) {
    lists.Set(0, kAnn, all[2], true);
    lists.Set(0, kAnn, all[1], true);
  }
  EXPECT_EQ(*lists.Find(0, kAnn, kNoon), all);
  for (int twice = 0; twice < 2; ++twice) lists.Set(0, kAnn, all[2], false);
  EXPECT_EQ(*lists.Find(0, kAnn, kNoon), (FollowerLists::Followers{all[0], all[1], all[3]}));
  lists.Set(0, kBen, all[0], true);
  EXPECT_FALSE(lists.Has(0, kBen)) << "one follower is not all";
}

TEST_F(FollowerListsTest, ASyncSetsWhoWantsNoReposts) {
  const FollowerLists::Followers all = Sorted({UserId{1}, UserId{2}, UserId{3}});
  const uint64_t number = lists.Begin(0, kAnn, kNoon);
  lists.Append(0, kAnn, number, {all[0], all[1]}, false, {all[1]});
  lists.Append(0, kAnn, number, {all[2]}, true, {all[2]});
  EXPECT_EQ(lists.NoReposts(0, kAnn), (FollowerLists::Followers{all[1], all[2]}));
  const size_t bytes = lists.bytes();
  for (int twice = 0; twice < 2; ++twice) {
    lists.Set(0, kAnn, all[0], true, true);
    lists.Set(0, kAnn, all[1], true, false);
    lists.Set(0, kAnn, all[2], false, true);
  }
  EXPECT_EQ(*lists.Find(0, kAnn, kNoon), (FollowerLists::Followers{all[0], all[1]}));
  EXPECT_EQ(lists.NoReposts(0, kAnn), FollowerLists::Followers{all[0]});
  EXPECT_GE(lists.bytes(), bytes);
  lists.Forget(0, kAnn);
  EXPECT_EQ(lists.bytes(), 0u);
}

TEST_F(FollowerListsTest, AListIsBelievedForAnHour) {
  Fill(0, kAnn, {UserId{1}});
  EXPECT_NE(lists.Find(0, kAnn, kNoon + kAge), nullptr);
  EXPECT_EQ(lists.Find(0, kAnn, kNoon + kAge + Duration(1)), nullptr);
  EXPECT_EQ(lists.bytes(), 0u);
}

TEST_F(FollowerListsTest, ThoseNotUsedLatelyGoWhenThereIsNoRoom) {
  const FollowerLists::Followers many(100, UserId{1});
  for (Range range = 0; range < 10; ++range) Fill(range, kAnn, many);
  EXPECT_EQ(lists.lists(), 10u);
  lists.Find(0, kAnn, kNoon);
  Fill(0, kBen, many);
  EXPECT_LE(lists.bytes(), 10'000u);
  EXPECT_TRUE(lists.Has(0, kAnn));
  EXPECT_FALSE(lists.Has(1, kAnn));
  EXPECT_TRUE(lists.Has(0, kBen));
}

TEST_F(FollowerListsTest, AListThatWouldTakeMuchOfTheRoomIsNotKeptAndPushesNobodyOut) {
  FollowerLists wide(1 << 20, kAge);
  const auto fill = [&](UserId author, size_t followers) {
    const FollowerLists::Followers all(followers, UserId{1});
    wide.Append(0, author, wide.Begin(0, author, kNoon), all, true);
  };
  fill(kAnn, 4'000);
  fill(kBen, 4'100);
  EXPECT_TRUE(wide.Has(0, kAnn));
  EXPECT_FALSE(wide.Has(0, kBen));
  const size_t before = wide.bytes();
  wide.Set(0, kAnn, UserId{2}, true);
  EXPECT_FALSE(wide.Has(0, kAnn)) << "it has grown beyond its share, " << before << " bytes";
  const UserId cid{1'003};
  fill(cid, 3'000);
  const size_t shorter = wide.bytes();
  wide.Set(0, cid, UserId{2}, true);
  EXPECT_LT(wide.bytes(), shorter * 5 / 4);
}

// It is read in pages, and known to be too long only after some of them.
TEST_F(FollowerListsTest, AListThatIsTooLongIsNotFilledForEachPost) {
  const FollowerLists::Followers page(50, UserId{1});
  const auto fill = [&](Time at) {
    const uint64_t number = lists.Begin(0, kBen, at);
    for (int i = 0; i < 4; ++i) lists.Append(0, kBen, number, page, i == 3);
    return number;
  };
  fill(kNoon);
  const FollowerLists::Followers many(80, UserId{1});
  for (Range range = 0; range < 11; ++range) Fill(range, kAnn, many);
  EXPECT_EQ(fill(kNoon + kAge), 0u);
  lists.Set(0, kBen, UserId{2}, true);  // followed by somebody meanwhile
  EXPECT_EQ(fill(kNoon + kAge), 0u);
  for (Range range = 0; range < 11; ++range) EXPECT_TRUE(lists.Has(range, kAnn)) << range;
  EXPECT_FALSE(lists.Has(0, kBen));
  EXPECT_NE(fill(kNoon + kAge + Duration(1)), 0u);
}

TEST_F(FollowerListsTest, AListThatDoesNotFitIsNotKept) {
  Fill(0, kAnn, FollowerLists::Followers(2'000, UserId{1}));
  EXPECT_FALSE(lists.Has(0, kAnn));
  EXPECT_LT(lists.bytes(), 1'000u);
  FollowerLists none(0, kAge);
  none.Append(0, kAnn, none.Begin(0, kAnn, kNoon), {UserId{1}}, true);
  EXPECT_EQ(none.lists(), 0u);
}

TEST_F(FollowerListsTest, ARangesListsAreForgottenAlone) {
  for (const Range range : {0, 1, 2}) Fill(range, kAnn, {UserId{1}});
  lists.ForgetRange(1);
  EXPECT_TRUE(lists.Has(0, kAnn));
  EXPECT_FALSE(lists.Has(1, kAnn));
  EXPECT_TRUE(lists.Has(2, kAnn));
}

// ---- in a pusher --------------------------------------------------------------------------------

constexpr PostId kNext{78};

struct ListedWorld : BobsWorld {
  ListedWorld() {  // the first post's run fills Ann's list
    Post();
    RunUntilIdle();
    read_before = metrics.followers_read;
  }
  void PostNext() {
    Publish(kAnn, kNext, 2'000);
    Push(0, Hint::OfPost(kAnn, kNext));
  }
  bool AskedFollowers() const { return metrics.followers_read > read_before; }
  uint64_t read_before = 0;
};

TEST(ListsOfAPusher, TheSecondPostReadsNoFollowers) {
  ListedWorld w;
  w.PostNext();
  EXPECT_EQ(w.Items(w.bob), (std::vector<PostId>{kNext, kPost}));
  EXPECT_FALSE(w.AskedFollowers());
}

TEST(ListsOfAPusher, AskNoShardWhereNobodyIsLive) {
  ListedWorld w;
  w.redis.Expire(w.bob);
  w.PostNext();  // a write finds out
  w.Publish(kAnn, PostId{79}, 3'000);
  w.Give(0, Hint::OfPost(kAnn, PostId{79}));
  w.Step();
  EXPECT_TRUE(w.state_calls.empty());
  EXPECT_TRUE(w.truth_calls.empty());
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.done, 3);
}

TEST(ListsOfAPusher, FollowWhoFollowsAndWhoDoesNotAnyMore) {
  ListedWorld w;
  const UserId cid = ReaderIn(0, 1);
  w.Follow(cid, kAnn);
  w.Push(0, Hint::OfSync(cid, kAnn));  // is not live
  w.MakeLive(cid);
  w.Follow(w.bob, kAnn, false);
  w.Push(0, Hint::OfSync(w.bob, kAnn));
  w.PostNext();
  EXPECT_EQ(w.Items(cid), std::vector<PostId>{kNext});
  EXPECT_TRUE(w.Items(w.bob).empty());
  EXPECT_FALSE(w.AskedFollowers());
}

TEST(ListsOfAPusher, FollowAReaderWhoseTimelineIsBeingBuilt) {
  ListedWorld w;
  const UserId cid = ReaderIn(0, 1);
  w.redis.Begin(cid, "t");
  w.Follow(cid, kAnn);
  w.Push(0, Hint::OfSync(cid, kAnn));
  w.MakeLive(cid);
  w.PostNext();
  EXPECT_EQ(w.Items(cid), std::vector<PostId>{kNext});
}

TEST(ListsOfAPusher, AreForgottenWithTheClaim) {
  ListedWorld w;
  w.redis.ForgetIndex(0);
  w.PostNext();
  w.Push(0, Hint::OfPost(kAnn, kNext));
  EXPECT_TRUE(w.AskedFollowers());
  EXPECT_EQ(w.Items(w.bob), (std::vector<PostId>{kNext, kPost}));
}

TEST(ListsOfAPusher, AreForgottenWithAHintThatNobodyCanRead) {
  ListedWorld w;
  w.Follow(w.bob, kAnn, false);  // this is what it says
  w.GiveBytes(0, "no hint");
  w.RunUntilIdle();
  ASSERT_FALSE(w.IsLive(w.bob));
  w.MakeLive(w.bob);
  w.PostNext();
  EXPECT_TRUE(w.Items(w.bob).empty());
}

// The page was read before Bob left, and is taken after the hint that says so.
TEST(ListsOfAPusher, AListThatIsBeingFilledIsForgottenWithTheOthers) {
  BobsWorld w;
  w.hold_news = true;
  w.Post();
  w.Step();
  w.AnswerTruth();
  w.Step();
  w.Follow(w.bob, kAnn, false);
  w.GiveBytes(0, "no hint");
  w.Step();
  w.hold_news = false;
  w.RunUntilIdle();
  ASSERT_FALSE(w.IsLive(w.bob));
  ASSERT_EQ(w.letters.size(), 1u);
  w.MakeLive(w.bob);
  w.Publish(kAnn, kNext, 2'000);
  w.Push(0, Hint::OfPost(kAnn, kNext));
  EXPECT_TRUE(w.Items(w.bob).empty()) << "he follows Ann no more";
}

// The post's run has taken Bob from the list, and its write comes after the hint.
TEST(ListsOfAPusher, TheWalkForSuchAHintWaitsForWhatIsBeingWritten) {
  ListedWorld w;
  w.Publish(kAnn, kNext, 2'000);
  w.Give(0, Hint::OfPost(kAnn, kNext));
  for (int i = 0; i < 3; ++i) w.Step();
  ASSERT_TRUE(std::holds_alternative<TimelineBatch>(w.timeline_calls.at(0)));
  w.GiveBytes(0, "no hint");
  w.Step();
  EXPECT_EQ(w.timeline_calls.size(), 1u) << "the walk began beside the write";
  w.RunUntilIdle();
  EXPECT_FALSE(w.IsLive(w.bob));
  EXPECT_EQ(w.letters.size(), 1u);
}

TEST(ListsOfAPusher, TakeAnAuthorsPagesFromTheList) {
  World w({.followers_on_first_page = 2, .followers_per_page = 2});
  w.AssignAll();
  std::vector<UserId> readers;
  for (int i = 0; i < 9; ++i) {
    readers.push_back(ReaderIn(0, i));
    w.Follow(readers.back(), kAnn);
    if (i % 2 == 0) w.MakeLive(readers.back());
  }
  for (const PostId post : {kPost, kNext}) {
    w.Publish(kAnn, post, static_cast<UnixMs>(1'000 + Raw(post)));
    w.Push(0, Hint::OfPost(kAnn, post));
  }
  EXPECT_EQ(w.metrics.followers_read, 9u);
  EXPECT_EQ(w.metrics.passed_over, 8u) << "four at each post";
  for (size_t i = 0; i < readers.size(); ++i) {
    EXPECT_EQ(w.Items(readers[i]).size(), i % 2 == 0 ? 2u : 0u) << i;
  }
}

}  // namespace
}  // namespace fanline::pusher
