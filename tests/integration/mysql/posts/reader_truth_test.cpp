// What a rebuild and a pulled page read, on real shards.
#include "backends/mysql/posts/reader_truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/integration/mysql/shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::UnorderedElementsAre;

TimeSpan Behind(const std::optional<Position>& position) { return {{}, {}, position}; }
TimeSpan Later(UnixMs time) { return {time, {}, {}}; }
TimeSpan UpTo(UnixMs time) { return {{}, time, {}}; }

class ReaderTruthTest : public ::testing::Test {
 protected:
  void PutFollowing(UserId src, UserId dst, bool live) {
    shards_.of(src).Execute("INSERT INTO following (src, dst, ver, state, pos) VALUES (" +
                            ToString(src) + "," + ToString(dst) + ",1," + (live ? "1" : "0") +
                            ",1)");
  }
  std::vector<Item> Outbox(const PostsOf& posts, const std::optional<Position>& after,
                           uint32_t limit) {
    ItemsRead read;
    const Status status = reader_.Items({posts}, Behind(after), limit, &read);
    EXPECT_TRUE(status.done()) << status.message;
    return read.items;
  }

  Shards shards_;
  MysqlReaderTruth reader_{shards_.config(), shards_.map()};
};

TEST_F(ReaderTruthTest, FolloweesAreTheLiveForwardEdges) {
  const UserId reader = shards_.UserOn(1, 1);
  PutFollowing(reader, UserId{10}, true);
  PutFollowing(reader, UserId{UINT64_MAX - 1}, true);
  PutFollowing(reader, UserId{12}, false);
  PutFollowing(shards_.UserOn(1, 2), UserId{13}, true);
  std::vector<UserId> followees;
  ASSERT_TRUE(reader_.Followees(reader, &followees).done());
  EXPECT_THAT(followees, UnorderedElementsAre(UserId{10}, UserId{UINT64_MAX - 1}));
}

TEST_F(ReaderTruthTest, LastAtAsksEveryShardInPartsAndSkipsWhoNeverPosted) {
  std::vector<UserId> authors;
  for (uint64_t raw = 1; raw <= 2400; ++raw) {
    authors.push_back(UserId{raw});
    if (raw % 3 == 0) continue;
    shards_.of(UserId{raw})
        .Execute("INSERT INTO author (author_id, last_at) VALUES (" + std::to_string(raw) + "," +
                 std::to_string(raw * 7) + ")");
    if (raw % 5 == 0) continue;
    shards_.of(UserId{raw})
        .Execute("INSERT INTO author_mode (author_id, pull, marked, announced) VALUES (" +
                 std::to_string(raw) + ",0," + (raw % 5 == 1 ? "1" : "0") + "," +
                 (raw % 10 == 1 ? "1" : "0") + ")");
  }
  std::vector<AuthorLastAt> times;
  ASSERT_TRUE(reader_.LastAt(authors, &times).done());
  EXPECT_EQ(times.size(), 1600u);
  for (const auto& [author, last_at, marked, announced] : times) {
    EXPECT_EQ(marked, Raw(author) % 5 == 1);
    EXPECT_EQ(announced, Raw(author) % 10 == 1);
    EXPECT_EQ(last_at, static_cast<UnixMs>(Raw(author) * 7));
    EXPECT_NE(Raw(author) % 3, 0u);
  }
}

TEST_F(ReaderTruthTest, ItemsAreTheVisiblePushedOnesOfAllAuthorsAsked) {
  std::vector<UserId> authors;
  for (uint64_t raw = 1; raw <= 100; ++raw) {
    const UserId author{raw};
    authors.push_back(author);
    const uint64_t first = raw * 10;
    shards_.PutPost(author, PostId{first}, {.created_at = 1000});
    shards_.PutPost(author, PostId{first + 1}, {.created_at = 1001, .deleted = true});
    shards_.PutPost(author, PostId{first + 2}, {.created_at = 1002, .hidden = true});
    shards_.PutPost(author, PostId{first + 3}, {.created_at = 1003, .pushed = false});
    shards_.PutPost(author, PostId{first + 4}, {});
    shards_.PutPost(author, PostId{first + 5}, {.created_at = 999});
  }
  ItemsRead read;
  const auto pushed = PushedBy(authors);
  ASSERT_TRUE(reader_.Items(pushed, {}, 1'000, &read).done());
  EXPECT_EQ(read.items.size(), 200u);
  EXPECT_EQ(read.partial, std::nullopt);
  ASSERT_TRUE(reader_.Items(pushed, Later(999), 1'000, &read).done());
  ASSERT_EQ(read.items.size(), 100u);
  for (const Item& item : read.items) EXPECT_EQ(item.created_at, 1000);
  ASSERT_TRUE(reader_.Items(pushed, UpTo(999), 1'000, &read).done());
  ASSERT_EQ(read.items.size(), 100u);
  for (const Item& item : read.items) EXPECT_EQ(item.created_at, 999);
  ASSERT_TRUE(reader_.Items({{UserId{7}, false}, {UserId{8}, true}}, {}, 1'000, &read).done());
  EXPECT_THAT(read.items, UnorderedElementsAre(Item{PostId{73}, 1003}, Item{PostId{80}, 1000},
                                               Item{PostId{85}, 999}));
}

// Over two shards and several statements, whatever the limit: the reply tells what was read from
// what was not, and reading on from there meets everything once.
TEST_F(ReaderTruthTest, AReadThatEndsEarlySaysWhoIsPartialAndWhoUnread) {
  std::vector<UserId> authors;
  std::set<uint64_t> posts;
  for (uint64_t raw = 1; raw <= 2'000; ++raw) {
    authors.push_back(UserId{raw});
    for (uint64_t post = raw * 10; raw % 100 == 0 && post < raw * 10 + 4; ++post) {
      shards_.PutPost(UserId{raw}, PostId{post},
                      {.created_at = static_cast<UnixMs>(post), .pushed = post % 2 == 0});
      posts.insert(post);
    }
  }
  for (const uint32_t limit : {1u, 3u, 4u, 7u, 79u, 80u, 81u}) {
    std::multiset<uint64_t> met;
    std::vector<PostsOf> left = PushedBy(authors);
    for (const UserId author : authors) left.push_back({author, false});
    while (!left.empty()) {
      ItemsRead read;
      ASSERT_TRUE(reader_.Items(left, {}, limit, &read).done());
      EXPECT_LE(read.items.size(), limit);
      for (const Item& item : read.items) met.insert(Raw(item.post));
      if (read.partial) {
        ASSERT_FALSE(read.items.empty());
        const Position end{read.items.back().created_at, read.items.back().post};
        for (const Item& item : Outbox(*read.partial, end, 100)) met.insert(Raw(item.post));
      }
      ASSERT_TRUE(read.items.size() == limit || read.unread.empty());
      left = read.unread;
    }
    EXPECT_EQ(met, std::multiset<uint64_t>(posts.begin(), posts.end())) << "limit " << limit;
  }
}

// Ids of different lengths at few different times: ties are broken by the bytes of the decimal id.
TEST_F(ReaderTruthTest, WalkingAnOutboxByPositionMeetsEveryItemOnceInTheOneOrder) {
  testing::Seeded seeded;
  const UserId author = shards_.UserOn(0, 1);
  std::vector<Item> model;
  for (uint64_t raw = 1; raw <= 300; ++raw) {
    const Item item{PostId{raw * raw}, static_cast<UnixMs>(1 + seeded.Below(20))};
    shards_.PutPost(author, item.post, {.created_at = item.created_at});
    model.push_back(item);
  }
  std::sort(model.begin(), model.end(), IsNewer);
  for (const uint32_t limit : {1u, 7u, 1000u}) {
    std::vector<Item> walked;
    std::optional<Position> after;
    for (;;) {
      const auto page = Outbox({author}, after, limit);
      EXPECT_LE(page.size(), limit);
      if (page.empty()) break;
      walked.insert(walked.end(), page.begin(), page.end());
      ASSERT_LE(walked.size(), model.size());
      after = Position{page.back().created_at, page.back().post};
    }
    EXPECT_EQ(walked, model) << "pages of " << limit;
  }
}

// What a fan-out left out is an author's post all the same.
TEST_F(ReaderTruthTest, AnOutboxHoldsPushedItemsAndOthersInTheOneOrder) {
  testing::Seeded seeded;
  const UserId author = shards_.UserOn(1, 1);
  std::vector<Item> model;
  for (uint64_t raw = 1; raw <= 200; ++raw) {
    const Item item{PostId{raw * raw}, static_cast<UnixMs>(1 + seeded.Below(20))};
    const bool hidden = seeded.Below(5) == 0;
    shards_.PutPost(
        author, item.post,
        {.created_at = item.created_at, .hidden = hidden, .pushed = seeded.Below(2) == 0});
    if (!hidden) model.push_back(item);
  }
  std::sort(model.begin(), model.end(), IsNewer);
  for (const uint32_t limit : {1u, 7u, 1000u}) {
    std::vector<Item> walked, page;
    std::optional<Position> after;
    while (reader_.Outbox(author, Behind(after), limit, &page).done() && !page.empty()) {
      EXPECT_LE(page.size(), limit);
      walked.insert(walked.end(), page.begin(), page.end());
      ASSERT_LE(walked.size(), model.size());
      after = Position{page.back().created_at, page.back().post};
    }
    EXPECT_EQ(walked, model) << "pages of " << limit;
  }
  std::vector<Item> recent;
  ASSERT_TRUE(reader_.Outbox(author, Later(15), 1'000, &recent).done());
  std::erase_if(model, [](const Item& item) { return item.created_at <= 15; });
  EXPECT_EQ(recent, model);
}

TEST_F(ReaderTruthTest, AUserIsKnownByFollowingBeingFollowedOrHavingPosted) {
  const UserId reader = shards_.UserOn(0, 2), author = shards_.UserOn(1, 1);
  const auto facts = [&](UserId user) {
    UserFacts found;
    EXPECT_TRUE(reader_.LookUp(user, &found).done());
    return std::pair(found.known, found.follows);
  };
  EXPECT_EQ(facts(reader), std::pair(false, false));
  EXPECT_EQ(facts(author), std::pair(false, false));
  PutFollowing(reader, UserId{10}, true);
  shards_.of(author).Execute("INSERT INTO author (author_id, last_at) VALUES (" + ToString(author) +
                             ", 5)");
  EXPECT_EQ(facts(reader), std::pair(true, true));
  EXPECT_EQ(facts(author), std::pair(true, false));

  const UserId followed = shards_.UserOn(1, 2), gone = shards_.UserOn(0, 3);
  shards_.of(followed).Execute("INSERT INTO follower (dst, bucket, src, ver, state, pos) VALUES (" +
                               ToString(followed) + ",7,10,1,0,1)");
  PutFollowing(gone, UserId{10}, false);
  EXPECT_EQ(facts(followed), std::pair(true, false));
  EXPECT_EQ(facts(gone), std::pair(true, false)) << "unfollowed everybody";
}

TEST_F(ReaderTruthTest, AnswersAreAppendedToWhatIsThere) {
  const UserId reader = shards_.UserOn(0, 1);
  PutFollowing(reader, UserId{10}, true);
  std::vector<UserId> followees = {UserId{1}};
  ASSERT_TRUE(reader_.Followees(reader, &followees).done());
  EXPECT_THAT(followees, ::testing::ElementsAre(UserId{1}, UserId{10}));
}

}  // namespace
}  // namespace fanline::mysql
