// Authors' own home timelines, where an installation's hold own posts.
#include "pusher/pusher.h"

#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using Posts = std::vector<PostId>;

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
    w.Push(1, Hint::OfPost(author, kPost));
    EXPECT_EQ(w.Items(author), own_posts ? Posts{kPost} : Posts{});
    EXPECT_EQ(w.Items(cid), Posts{kPost});
    w.Delete(author, kPost);
    w.Push(1, Hint::OfPost(author, kPost));
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
  OwnPosts w({.followers_per_page = 3});
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
  EXPECT_EQ(w.metrics.passed_over, 10u);
  EXPECT_EQ(w.Items(author), Posts{kPost});
}

TEST(Pusher, AnAuthorMergedAtReadIsMarkedInTheAuthorsOwnTimeline) {
  OwnPosts w;
  const UserId author = ReaderIn(0);
  w.MakeLive(author);
  w.mysql.SetMode(author, true);
  w.Publish(author, kPost, 1'000);
  w.Push(0, Hint::OfPost(author, kPost));
  EXPECT_EQ(w.redis.timelines().at(author).marks, std::set<Mark>{Mark{author}});
}

}  // namespace
}  // namespace fanline::pusher
