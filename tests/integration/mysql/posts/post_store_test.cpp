// MysqlPostStore on real shards, held to the rule of fanline/model/post_state.h.
#include "backends/mysql/posts/post_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

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

// Where followers are: of authors on shard 0, of whom nobody is pushed to more than four ranges.
class FollowersOfPosts : public PostStoreTest {
 protected:
  static constexpr uint32_t kMost = 4;

  EventsApplied ApplyPosts(const std::vector<UserId>& authors) {
    ApplyEvents request{0, 0, {}, kMost};
    for (const UserId author : authors) {
      request.events.push_back({.kind = EventKind::kPublished,
                                .post = PostId{++posts_},
                                .author = author,
                                .created_at = 5});
    }
    return Ask(store_, std::move(request));
  }
  std::optional<std::vector<Bucket>> BucketsOf(UserId author) {
    const EventsApplied reply = ApplyPosts({author});
    EXPECT_TRUE(reply.status.done()) << reply.status.message;
    EXPECT_TRUE(reply.followers.done()) << reply.followers.message;
    return reply.applied.at(0).buckets;
  }
  void Count(UserId author, int64_t followers) {
    shards_.of(author).Execute("REPLACE INTO user_fan (user_id, fans_cnt) VALUES (" +
                               ToString(author) + ", " + std::to_string(followers) + ")");
  }
  static std::vector<Bucket> Buckets(const std::vector<UserId>& users) {
    std::set<Bucket> buckets;
    for (const UserId user : users) buckets.insert(BucketOf(user));
    return {buckets.begin(), buckets.end()};
  }

  uint64_t posts_ = 0;
  const UserId author_ = shards_.UserOn(0, 1);
};

TEST_F(FollowersOfPosts, AreReadOfAnAuthorWhoseCounterSaysThatThereAreNone) {
  shards_.PutFollower(author_, UserId{7});
  for (const int64_t counted : {0, -3}) {
    Count(author_, counted);
    const EventsApplied reply = ApplyPosts({author_});
    EXPECT_EQ(reply.applied.at(0).buckets, Buckets({UserId{7}}));
    EXPECT_EQ(reply.applied.at(0).followers, 0u);
  }
}

TEST_F(FollowersOfPosts, AreNotBelievedToBeAllWhenTheLimitIsMet) {
  std::vector<UserId> followers;
  for (uint64_t id = 1; id <= kMost; ++id) followers.push_back(UserId{id});
  shards_.PutFollowers(author_, followers);  // and no counter
  EXPECT_EQ(BucketsOf(author_), Buckets(followers)) << "one less than the limit";
  shards_.PutFollower(author_, UserId{1'000});
  EXPECT_EQ(BucketsOf(author_), std::nullopt);
}

TEST_F(FollowersOfPosts, AreReadOfManyAuthorsAtOnce) {
  std::vector<UserId> authors;
  for (uint64_t n = 1; n <= 300; ++n) authors.push_back(shards_.UserOn(0, n));
  for (const UserId author : authors) {
    shards_.PutFollowers(author, {UserId{Raw(author) + 1}, UserId{Raw(author) + 2}});
    Count(author, 2);
  }
  const auto reply = ApplyPosts(authors);
  ASSERT_EQ(reply.applied.size(), authors.size());
  for (size_t i = 0; i < authors.size(); ++i) {
    const uint64_t id = Raw(authors[i]);
    EXPECT_EQ(reply.applied[i].buckets, Buckets({UserId{id + 1}, UserId{id + 2}}));
  }
}

// The whole proof that nobody is missed rests on this order (ReadFollowerBuckets).
TEST_F(FollowersOfPosts, AreReadAfterTheCommitOnItsConnectionInNoTransaction) {
  Config config = shards_.config();
  config.user = "admin";  // of the same password, see stack/services/mysql.py
  Connection admin(config, 0);
  admin.Open();
  const auto number = [&](const std::string& sql) {
    std::string text;
    admin.Query(sql, [&](const Row& row) { text = row.Text(1); });
    return text;
  };
  const std::string log = number("SELECT @@global.general_log"),
                    output = number("SELECT @@global.log_output");
  admin.Execute("TRUNCATE TABLE mysql.general_log");
  admin.Execute("SET GLOBAL log_output = 'FILE,TABLE', GLOBAL general_log = 1");
  ApplyPosts({author_});
  admin.Execute("SET GLOBAL general_log = " + log + ", GLOBAL log_output = '" + output + "'");

  std::string told;  // by one connection, from the row's statement on
  admin.Query(
      "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE thread_id ="
      " (SELECT MAX(thread_id) FROM mysql.general_log WHERE argument LIKE"
      " 'INSERT INTO author\\_post%') ORDER BY event_time",
      [&](const Row& row) { told += row.Text(1).substr(0, 24) + "\n"; });
  const size_t commit = told.find("COMMIT"), read = told.find("SELECT dst, bucket FROM ");
  EXPECT_LT(commit, read) << told;
  EXPECT_NE(read, std::string::npos) << told;
  EXPECT_EQ(told.find("START TRANSACTION", commit), std::string::npos) << told;
}

TEST_F(FollowersOfPosts, ThatCannotBeReadLeaveTheirPostStored) {
  shards_.on(0).Execute("RENAME TABLE follower TO follower_away");
  const EventsApplied reply = ApplyPosts({author_});
  shards_.on(0).Execute("RENAME TABLE follower_away TO follower");
  EXPECT_TRUE(reply.status.done()) << reply.status.message;
  EXPECT_TRUE(reply.followers.later()) << reply.followers.message;
  EXPECT_EQ(reply.applied.at(0).buckets, std::nullopt);
  EXPECT_EQ(shards_.ReadPost(author_, PostId{1}).created_at, 5);
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
