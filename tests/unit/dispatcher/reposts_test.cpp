// What a repost of a repost is stored as, and that nobody waits long to learn it.
#include <gtest/gtest.h>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

constexpr PostId kFirst{1}, kSecond{2}, kThird{3};

struct RepostsWorld : World {
  FeedEvent Repost(PostId post, UserId author, Original of) {
    FeedEvent event = Published(post, author);
    event.repost_of = of;
    return event;
  }
  // Ben's post, and Cid's repost of it.
  RepostsWorld() {
    Dispatch(Published(kFirst, ben));
    Dispatch(Repost(kSecond, cid, {kFirst, ben}));
  }
  Original Stored(PostId post, UserId author) { return mysql.posts().at({author, post}).original; }

  const UserId ben = AuthorOn(0), cid = AuthorOn(1);
};

TEST(RepostsOfReposts, AreStoredAsRepostsOfTheOriginal) {
  RepostsWorld w;
  EXPECT_EQ(w.Stored(kSecond, w.cid), (Original{kFirst, w.ben}));
  w.Dispatch(w.Repost(kThird, kAnn, {kSecond, w.cid}));
  EXPECT_EQ(w.Stored(kThird, kAnn), (Original{kFirst, w.ben}));
  EXPECT_EQ(w.log.size(), 3u);
  EXPECT_EQ(w.committed, 3);
}

TEST(RepostsOfReposts, GoOnAsTheyAreIfThePostThatIsNamedIsNotThereYet) {
  RepostsWorld w;
  w.Dispatch(w.Repost(kThird, kAnn, {PostId{99}, w.cid}));
  EXPECT_EQ(w.Stored(kThird, kAnn), (Original{PostId{99}, w.cid}));
  EXPECT_EQ(w.metrics.unread, 0u);
}

TEST(RepostsOfReposts, APostNeverShowsItself) {
  RepostsWorld w;
  w.Dispatch(w.Repost(kFirst, w.ben, {kSecond, w.cid}));  // published before as no repost
  EXPECT_FALSE(w.Stored(kFirst, w.ben));
  w.mysql.Do(ApplyEvents{1, 1, {w.Repost(PostId{50}, w.cid, {kThird, kAnn})}});
  w.Dispatch(w.Repost(kThird, kAnn, {PostId{50}, w.cid}));
  EXPECT_EQ(w.Stored(kThird, kAnn), (Original{PostId{50}, w.cid}));
}

TEST(RepostsOfReposts, ThoseThatComeMeanwhileShareTheNextRead) {
  RepostsWorld w;
  w.originals.clear();
  for (uint64_t i = 0; i < 20; ++i) {
    w.Give(w.Repost(PostId{100 + i}, kAnn, {kSecond, w.cid}));
    w.Give(w.Repost(PostId{200 + i}, kAnn, {kFirst, w.ben}));
  }
  w.RunUntilIdle();
  EXPECT_EQ(w.originals.size(), 2u) << "one for each shard";
  EXPECT_EQ(w.log.size(), 42u);
}

TEST(RepostsOfReposts, AShardThatHangsIsWaitedForOnce) {
  RepostsWorld w;
  w.hold_originals = true;
  w.Give(w.Repost(kThird, kAnn, {kSecond, w.cid}));
  w.Step();
  EXPECT_TRUE(w.transactions.empty());
  ASSERT_TRUE(w.next_timer);
  w.Pass(std::chrono::seconds(1));
  w.RunUntilIdle();
  EXPECT_EQ(w.Stored(kThird, kAnn), (Original{kSecond, w.cid})) << "as it was named";
  EXPECT_EQ(w.metrics.unread, 1u);
  w.Give(w.Repost(PostId{4}, kAnn, {kSecond, w.cid}));
  w.TakeAndStore();
  EXPECT_EQ(w.Stored(PostId{4}, kAnn), (Original{kSecond, w.cid})) << "at once";
  w.Give(w.Repost(PostId{5}, kAnn, {kFirst, w.ben}));
  w.TakeAndStore();
  EXPECT_EQ(w.originals.back().shard, 0u) << "another shard is asked all the same";
  w.hold_originals = false;
  for (const auto& request : std::exchange(w.originals, {}))
    w.inbox.emplace_back(w.mysql.Do(request));
  w.RunUntilIdle();
  w.Dispatch(w.Repost(PostId{6}, kAnn, {kSecond, w.cid}));
  EXPECT_EQ(w.Stored(PostId{6}, kAnn), (Original{kFirst, w.ben})) << "it answers again";
  EXPECT_EQ(w.committed, 6);
}

TEST(RepostsOfReposts, AShardThatIsAwayIsNotAskedForASecond) {
  RepostsWorld w;
  w.hold_originals = true;
  w.originals.clear();
  w.Give(w.Repost(kThird, kAnn, {kSecond, w.cid}));
  w.Step();
  ASSERT_EQ(w.originals.size(), 1u);
  w.inbox.emplace_back(ShownRead{w.originals[0].id, 1, Status::Later("mysql_1", "away")});
  w.TakeAndStore();
  EXPECT_EQ(w.Stored(kThird, kAnn), (Original{kSecond, w.cid}));
  w.Give(w.Repost(PostId{4}, kAnn, {kSecond, w.cid}));
  w.TakeAndStore();
  EXPECT_EQ(w.originals.size(), 1u);
  EXPECT_EQ(w.metrics.unread, 2u);
  w.hold_originals = false;
  w.Pass(std::chrono::seconds(2));
  w.Dispatch(w.Repost(PostId{5}, kAnn, {kSecond, w.cid}));
  EXPECT_EQ(w.Stored(PostId{5}, kAnn), (Original{kFirst, w.ben}));
}

TEST(RepostsOfReposts, AreForgottenWithTheirPartition) {
  RepostsWorld w;
  w.hold_originals = true;
  w.Give(w.Repost(kThird, kAnn, {kSecond, w.cid}));
  w.Step();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  EXPECT_EQ(w.dispatcher.events_open(), 0u);
  w.inbox.emplace_back(w.mysql.Do(w.originals.back()));
  w.RunUntilIdle();
  EXPECT_FALSE(w.mysql.posts().contains({kAnn, kThird}));
}

}  // namespace
}  // namespace fanline::dispatcher
