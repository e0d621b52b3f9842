// MysqlTruth on real shards: what the kinds of requests answer.
#include "backends/mysql/posts/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;

// SELECTs of 200 syncs of one author that wait together: four statements a batch, three batches at
// most, and what connections ask of their own. Each by itself they would be 800.
constexpr int64_t kFewOfSyncs = 60;

class TruthTest : public ::testing::Test {
 protected:
  SyncTruth Ask(ReadSync request) { return fanline::Ask(truth_, std::move(request)); }

  // SELECTs that this server has answered.
  int64_t Selects(Shard shard) {
    return Counted(shards_.on(shard), "GLOBAL STATUS LIKE 'Com_select'");
  }

  Shards shards_;
  const RangeLayout layout_{16};
  Replies<PostStates> states_;
  Replies<FollowerPage> pages_;
  Replies<SyncTruth> syncs_;
  MysqlTruth truth_{shards_.config(), {}, kNoLog, {shards_.map(), layout_}};
  uint64_t last_id_ = 0;
};

PostState Published(UnixMs created_at) {
  PostState state;
  state.created_at = created_at;
  return state;
}

TEST_F(TruthTest, EachOfManyRequestsAtOnceIsAnsweredOnceAndAsIfAlone) {
  testing::Seeded seeded;
  std::vector<UserId> authors;
  for (uint64_t n = 1; n <= 20; ++n) {
    authors.push_back(UserId{n});
    std::vector<UserId> readers;
    for (uint64_t raw = 0; raw < n * 10; ++raw) readers.push_back(UserId{1000 + raw});
    shards_.PutFollowers(UserId{n}, readers);
    shards_.PutPost(UserId{n}, PostId{n}, Published(static_cast<UnixMs>(n)));
  }
  std::vector<ReadFollowerPage> pages;
  std::vector<ReadSync> syncs;
  for (int i = 0; i < 2000; ++i) {
    const UserId author = authors[seeded.Below(authors.size())];
    if (seeded.OneIn(3)) {
      syncs.push_back({++last_id_, UserId{1000 + seeded.Below(300)}, author, 5});
      truth_.Submit(syncs.back(), syncs_);
    } else {
      const auto range = static_cast<Range>(seeded.Below(16));
      pages.push_back({++last_id_, range, author, std::nullopt, 50});
      truth_.Submit(ReadPostStates{last_id_, {{author, PostId{Raw(author)}}}}, states_);
      truth_.Submit(pages.back(), pages_);
    }
  }
  for (const ReadFollowerPage& request : pages) {
    const auto states = states_.Await(request.id);
    ASSERT_TRUE(states.status.done()) << states.status.message;
    EXPECT_EQ(states.posts.at(0).created_at, static_cast<UnixMs>(Raw(request.author)));
    const auto page = pages_.Await(request.id);
    ASSERT_TRUE(page.status.done()) << page.status.message;
    size_t expected = 0;
    for (uint64_t raw = 0; raw < Raw(request.author) * 10; ++raw) {
      expected += layout_.RangeOf(UserId{1000 + raw}) == request.range;
    }
    EXPECT_EQ(page.followers.size(), expected);
  }
  for (const ReadSync& request : syncs) {
    const auto truth = syncs_.Await(request.id);
    ASSERT_TRUE(truth.status.done()) << truth.status.message;
    EXPECT_EQ(truth.following, Raw(request.reader) < 1000 + Raw(request.author) * 10);
  }
}

// Units of many authors that wait together are read together, and the server is asked once whether
// it is the primary.
TEST_F(TruthTest, PostsAndFollowersThatWaitTogetherAreAFewStatements) {
  constexpr Shard kShard = 1;
  std::vector<UserId> authors;
  for (uint64_t nth = 1; nth <= 100; ++nth) {
    authors.push_back(shards_.UserOn(kShard, nth));
    shards_.PutPost(authors.back(), PostId{nth}, Published(static_cast<UnixMs>(nth)));
    shards_.PutFollowers(authors.back(), {UserId{1000}});
  }
  const int64_t before = Selects(kShard);
  shards_.on(kShard).Execute("LOCK TABLES author_post WRITE, follower WRITE");  // the first wait
  const Range range = layout_.RangeOf(UserId{1000});
  for (uint64_t nth = 1; nth <= 100; ++nth) {
    truth_.Submit(ReadPostStates{nth, {{authors[nth - 1], PostId{nth}}}}, states_);
    truth_.Submit(ReadFollowerPage{nth, range, authors[nth - 1], std::nullopt, 500}, pages_);
  }
  shards_.on(kShard).Execute("UNLOCK TABLES");
  for (uint64_t nth = 1; nth <= 100; ++nth) {
    EXPECT_EQ(states_.Await(nth).posts.at(0).created_at, static_cast<UnixMs>(nth));
    EXPECT_THAT(pages_.Await(nth).followers, ElementsAre(UserId{1000}));
  }
  EXPECT_LE(Selects(kShard) - before, 30) << "each by itself they would be 400";
}

TEST_F(TruthTest, SyncsOfOneAuthorAreAFewStatements) {
  constexpr Shard kShard = 1;
  const UserId author = shards_.UserOn(kShard, 1);
  for (uint64_t n = 1; n <= 3; ++n) {
    PostState post = Published(static_cast<UnixMs>(n));
    post.deleted = n == 3;
    shards_.PutPost(author, PostId{n}, post);
  }
  std::vector<UserId> followers;
  for (uint64_t raw = 2; raw <= 200; raw += 2) followers.push_back(UserId{raw});
  shards_.PutFollowers(author, followers);

  const int64_t before = Selects(kShard);
  shards_.on(kShard).Execute("LOCK TABLES follower WRITE");  // whoever is first waits for the rest
  const uint64_t first = last_id_ + 1;
  for (uint64_t raw = 1; raw <= 200; ++raw) {
    truth_.Submit(ReadSync{++last_id_, UserId{raw}, author, 450}, syncs_);
  }
  shards_.on(kShard).Execute("UNLOCK TABLES");
  const std::vector<Item> visible{{PostId{2}, 2, author}, {PostId{1}, 1, author}};
  for (uint64_t raw = 1; raw <= 200; ++raw) {
    const auto truth = syncs_.Await(first + raw - 1);
    ASSERT_TRUE(truth.status.done()) << truth.status.message;
    EXPECT_EQ(truth.following, raw % 2 == 0);
    EXPECT_EQ(truth.visible, raw % 2 == 0 ? visible : std::vector<Item>{});
  }
  EXPECT_LE(Selects(kShard) - before, kFewOfSyncs) << "each by itself they would be 800";
}

TEST_F(TruthTest, BeyondTheWindowOnlyTheNewestTimeIsSaid) {
  const UserId author = shards_.UserOn(0, 5), reader{77};
  shards_.PutFollower(author, reader);
  for (uint64_t raw = 1; raw <= 9; ++raw) {
    shards_.PutPost(author, PostId{raw}, Published(static_cast<UnixMs>(10 * raw)));
  }
  const auto truth = Ask(ReadSync{.reader = reader, .author = author, .window = 1});
  EXPECT_EQ(truth.visible, (std::vector{Item{PostId{9}, 90, author}}));
  EXPECT_EQ(truth.newest_unread, 80);
}

TEST_F(TruthTest, WithoutAWindowOnlyTheEdgeIsRead) {
  const UserId author = shards_.UserOn(0, 5), reader{77};
  shards_.PutFollower(author, reader);
  shards_.PutPost(author, PostId{1}, Published(100));
  const auto truth = Ask(ReadSync{.reader = reader, .author = author});
  EXPECT_TRUE(truth.following);
  EXPECT_TRUE(truth.visible.empty());
  EXPECT_FALSE(truth.newest_unread);
}

TEST_F(TruthTest, AFollowThatBringsNoRepostsHasAWindowOfOtherPosts) {
  const UserId author = shards_.UserOn(0, 5), one{77}, all{78};
  for (const UserId reader : {one, all}) shards_.PutFollower(author, reader);
  shards_.on(0).Execute("UPDATE follower SET delivery = 1 WHERE src = 77");
  for (uint64_t n = 1; n <= 8; ++n) {
    PostState post = Published(static_cast<UnixMs>(n));
    if (n % 2 == 0) post.original = {PostId{n + 100}, UserId{n + 200}};
    shards_.PutPost(author, PostId{n}, post);
  }
  const auto truth = Ask(ReadSync{.reader = one, .author = author, .window = 3});
  EXPECT_TRUE(truth.following && truth.no_reposts);
  EXPECT_EQ(
      truth.visible,
      (std::vector<Item>{{PostId{7}, 7, author}, {PostId{5}, 5, author}, {PostId{3}, 3, author}}));
  EXPECT_EQ(truth.newest_unread, 1);
  const auto whole = Ask(ReadSync{.reader = all, .author = author, .window = 3});
  EXPECT_FALSE(whole.no_reposts);
  ASSERT_EQ(whole.visible.size(), 3u);
  EXPECT_EQ(whole.visible[0].original, (Original{PostId{108}, UserId{208}}));
  EXPECT_EQ(whole.newest_unread, 5);
}

TEST_F(TruthTest, AFollowThatBringsNothingIsNone) {
  const UserId author = shards_.UserOn(0, 5), reader{77};
  shards_.PutFollower(author, reader);
  shards_.PutPost(author, PostId{1}, Published(100));
  for (const int delivery : {0, 1, 2}) {
    shards_.on(0).Execute("UPDATE follower SET delivery = " + std::to_string(delivery));
    const auto truth = Ask(ReadSync{.reader = reader, .author = author, .window = 5});
    EXPECT_EQ(truth.following, delivery < 2);
    EXPECT_EQ(truth.visible.size(), delivery < 2 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace fanline::mysql
