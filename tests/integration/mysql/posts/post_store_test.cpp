// MysqlPostStore on real shards, held to the rule of fanline/model/post_state.h.
#include "backends/mysql/posts/post_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "fanline/model/post_state.h"
#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

class PostStoreTest : public ::testing::Test {
 protected:
  EventsApplied Apply(Shard shard, std::vector<FeedEvent> events) {
    return Ask(store_, ApplyEvents{0, shard, std::move(events)});
  }
  int64_t LastAt(UserId author) {
    return shards_.Number(shards_.map().ShardOf(author),
                          "SELECT last_at FROM author WHERE author_id = " + ToString(author));
  }

  testing::Seeded seeded_;
  Shards shards_;
  Replies<EventsApplied> replies_, other_replies_;
  MysqlPostStore store_{shards_.config(), {}, kNoLog};
};

FeedEvent RandomEvent(testing::Seeded& seeded, UserId author, PostId post) {
  FeedEvent event{
      .kind = static_cast<EventKind>(seeded.Below(kEventKinds)), .post = post, .author = author};
  if (event.kind == EventKind::kDeleted && !seeded.OneIn(4)) event.kind = EventKind::kHidden;
  const EventNumber number = TraitsOf(event.kind).number;
  if (number == EventNumber::kCreatedAt) {
    event.created_at = static_cast<UnixMs>(1 + seeded.Below(1000));
  } else if (number == EventNumber::kVersion) {
    event.version = 1 + seeded.Below(6);
  }
  return event;
}

void ExpectSame(const PostState& stored, const PostState& model, PostId post) {
  EXPECT_EQ(stored.created_at, model.created_at) << "post " << Raw(post);
  EXPECT_EQ(stored.deleted, model.deleted) << "post " << Raw(post);
  EXPECT_EQ(stored.hidden, model.hidden) << "post " << Raw(post);
  EXPECT_EQ(stored.visibility_version, model.visibility_version) << "post " << Raw(post);
  EXPECT_EQ(stored.edit_version, model.edit_version) << "post " << Raw(post);
}

TEST_F(PostStoreTest, RowsFollowTheRuleOfApplyEventInAnyOrderWithDuplicatesAndAnyBatching) {
  constexpr uint64_t kPosts = 60;
  const UserId authors[] = {shards_.UserOn(0, 1), shards_.UserOn(0, 2), shards_.UserOn(0, 3)};
  const auto author_of = [&](uint64_t post) { return authors[post % 3]; };
  std::map<uint64_t, PostState> model;
  std::map<UserId, UnixMs> newest;
  std::vector<FeedEvent> sent;
  for (int batch = 0; batch < 120; ++batch) {
    std::vector<FeedEvent> events;
    for (uint64_t i = 0; i < 1 + seeded_.Below(40); ++i) {
      const uint64_t post = 1 + seeded_.Below(kPosts);
      const bool again = !sent.empty() && seeded_.OneIn(4);
      events.push_back(again ? sent[seeded_.Below(sent.size())]
                             : RandomEvent(seeded_, author_of(post), PostId{post}));
    }
    for (const FeedEvent& event : events) {
      ApplyEvent(event, model[Raw(event.post)]);
      UnixMs& at = newest[event.author];
      if (event.kind == EventKind::kPublished) at = std::max(at, event.created_at);
    }
    sent.insert(sent.end(), events.begin(), events.end());
    const auto reply = Apply(0, events);
    ASSERT_TRUE(reply.status.done()) << reply.status.message;
    ASSERT_EQ(reply.applied.size(), events.size());
  }
  for (const auto& [post, state] : model) {
    ExpectSame(shards_.ReadPost(author_of(post), PostId{post}), state, PostId{post});
  }
  for (const auto& [author, at] : newest) EXPECT_EQ(LastAt(author), at);
}

TEST_F(PostStoreTest, DeletedIsFinalAlsoWhenThePublishComesLast) {
  const UserId author = shards_.UserOn(1, 1);
  const FeedEvent published{
      .kind = EventKind::kPublished, .post = PostId{5}, .author = author, .created_at = 50};
  const FeedEvent deleted{.kind = EventKind::kDeleted, .post = PostId{5}, .author = author};
  ASSERT_TRUE(Apply(1, {deleted}).status.done());
  ASSERT_TRUE(Apply(1, {published}).status.done());
  const auto row = shards_.ReadPost(author, PostId{5});
  EXPECT_TRUE(row.deleted);
  EXPECT_EQ(row.created_at, 50);
  EXPECT_FALSE(row.visible());
}

TEST_F(PostStoreTest, AnswersWhetherThePostIsPushedAndHowManyFollowTheAuthor) {
  const UserId known = shards_.UserOn(0, 1), unknown = shards_.UserOn(0, 2),
               drifted = shards_.UserOn(0, 3);
  shards_.PutPost(known, PostId{1}, {.created_at = 5, .pushed = false});
  shards_.on(0).Execute("INSERT INTO user_fan (user_id, fans_cnt) VALUES (" + ToString(known) +
                        ", 123), (" + ToString(drifted) + ", -4)");
  const auto edited = [](UserId author, uint64_t post) {
    return FeedEvent{
        .kind = EventKind::kEdited, .post = PostId{post}, .author = author, .version = 1};
  };
  const auto reply =
      Apply(0, {edited(unknown, 9), edited(known, 2), edited(known, 1), edited(drifted, 3)});
  ASSERT_EQ(reply.applied.size(), 4u);
  EXPECT_TRUE(reply.applied[0].pushed);
  EXPECT_EQ(reply.applied[0].followers, 0u);
  EXPECT_TRUE(reply.applied[1].pushed);
  EXPECT_EQ(reply.applied[1].followers, 123u);
  EXPECT_FALSE(reply.applied[2].pushed);
  EXPECT_EQ(reply.applied[3].followers, 0u);
}

TEST_F(PostStoreTest, OneEventThatCannotBeStoredKeepsTheWholeRequestOut) {
  const UserId author = shards_.UserOn(0, 1);
  const FeedEvent good{.kind = EventKind::kDeleted, .post = PostId{1}, .author = author};
  const FeedEvent bad{
      .kind = EventKind::kPublished, .post = PostId{2}, .author = author, .created_at = 0};
  const auto reply = Apply(0, {good, bad});
  EXPECT_TRUE(reply.status.never()) << reply.status.message;
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM author_post"), 0);
}

TEST_F(PostStoreTest, ABatchOfThousandsIsOneTransaction) {
  const UserId author = shards_.UserOn(0, 1);
  std::vector<FeedEvent> events;
  for (uint64_t post = 1; post <= 3000; ++post) {
    events.push_back({.kind = EventKind::kPublished,
                      .post = PostId{post},
                      .author = author,
                      .created_at = static_cast<UnixMs>(post)});
  }
  ASSERT_TRUE(Apply(0, events).status.done());
  EXPECT_EQ(shards_.Total("SELECT COUNT(*) FROM author_post"), 3000);
  EXPECT_EQ(LastAt(author), 3000);
}

// Two dispatchers that overlap after a rebalance: the same posts, in different orders.
TEST_F(PostStoreTest, ConcurrentStoresOfTheSamePostsNeverFailAndAgreeWithTheModel) {
  constexpr uint64_t kPosts = 30;
  constexpr uint64_t kBatches = 150;
  const UserId authors[] = {shards_.UserOn(0, 1), shards_.UserOn(0, 2)};
  std::vector<FeedEvent> events;
  std::map<uint64_t, PostState> model;
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t post = 1 + seeded_.Below(kPosts);
    FeedEvent event = RandomEvent(seeded_, authors[post % 2], PostId{post});
    event.created_at = static_cast<UnixMs>(post);  // one per post: which comes first is no matter
    // A version says one thing only, as an application's does.
    if (event.kind == EventKind::kUnhidden) event.kind = EventKind::kHidden;
    if (event.kind == EventKind::kHidden && event.version % 2 == 0) {
      event.kind = EventKind::kUnhidden;
    }
    ApplyEvent(event, model[post]);
    events.push_back(event);
  }
  MysqlPostStore other(shards_.config(), {}, kNoLog, {}, {.threads_per_shard = 2});
  const auto submit = [&](MysqlPostStore& store, uint64_t id, Replies<EventsApplied>& replies) {
    std::vector<FeedEvent> batch;
    for (int i = 0; i < 40; ++i) batch.push_back(events[seeded_.Below(events.size())]);
    if (id == kBatches) batch = events;  // the last one of each store carries everything
    store.Submit({id, 0, batch}, replies);
  };
  for (uint64_t id = 1; id <= kBatches; ++id) {
    submit(store_, id, replies_);
    submit(other, id, other_replies_);
  }
  for (uint64_t id = 1; id <= kBatches; ++id) {
    const auto one = replies_.Await(id), two = other_replies_.Await(id);
    EXPECT_TRUE(one.status.done()) << one.status.message;
    EXPECT_TRUE(two.status.done()) << two.status.message;
  }
  for (const auto& [post, state] : model) {
    ExpectSame(shards_.ReadPost(authors[post % 2], PostId{post}), state, PostId{post});
  }
}

TEST_F(PostStoreTest, LastAtOnlyGrowsWhateverTheOrderOfWriters) {
  const UserId author = shards_.UserOn(0, 1);
  MysqlPostStore other(shards_.config(), {}, kNoLog);
  int64_t seen = 0;
  UnixMs newest = 0;
  for (uint64_t id = 1; id <= 100; ++id) {
    for (auto* store : {&store_, &other}) {
      const auto at = static_cast<UnixMs>(1 + seeded_.Below(1'000'000));
      newest = std::max(newest, at);
      store->Submit({id,
                     0,
                     {{.kind = EventKind::kPublished,
                       .post = PostId{seeded_.Id()},
                       .author = author,
                       .created_at = at}}},
                    store == &store_ ? replies_ : other_replies_);
    }
    const int64_t now = LastAt(author);
    EXPECT_GE(now, seen);
    seen = now;
  }
  for (uint64_t id = 1; id <= 100; ++id) {
    EXPECT_TRUE(replies_.Await(id).status.done());
    EXPECT_TRUE(other_replies_.Await(id).status.done());
  }
  EXPECT_EQ(LastAt(author), newest);
}

}  // namespace
}  // namespace fanline::mysql
