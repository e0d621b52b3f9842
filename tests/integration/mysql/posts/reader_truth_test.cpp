// What a rebuild and a pulled page read, on real shards.
#include "backends/mysql/posts/reader_truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {
namespace {

TimeSpan Behind(const std::optional<Position>& position) { return {{}, {}, position}; }

class ReaderTruthTest : public ::testing::Test {
 protected:
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
    std::vector<PostsOf> left;
    for (const UserId author : authors) left.push_back({author, true});
    for (const UserId author : authors) left.push_back({author, false});
    while (!left.empty()) {
      ItemsRead read;
      ASSERT_TRUE(reader_.Items(left, {}, limit, &read).done());
      EXPECT_LE(read.items.size(), limit * shards_.map().shards());
      for (const Item& item : read.items) met.insert(Raw(item.post));
      if (read.partial) {
        ASSERT_FALSE(read.items.empty());
        const Position end{read.items.back().created_at, read.items.back().post};
        for (const Item& item : Outbox(*read.partial, end, 100)) met.insert(Raw(item.post));
      }
      ASSERT_TRUE(read.items.size() >= limit || read.unread.empty());
      left = read.unread;
    }
    EXPECT_EQ(met, std::multiset<uint64_t>(posts.begin(), posts.end())) << "limit " << limit;
  }
}

// Who reposted what, of a shard: of the first original more than one read takes.
class SourcesTest : public ReaderTruthTest {
 protected:
  static constexpr Original kCrowded{PostId{7}, UserId{1}}, kFew{PostId{8}, UserId{2}};

  UserId UserHere() {
    while (shards_.map().ShardOf(UserId{++last_}) != 0) continue;
    return UserId{last_};
  }
  void Repost(UserId by, uint64_t post, UnixMs at, const Original& original, bool hidden = false) {
    const auto text = [](auto id) { return std::to_string(Raw(id)); };
    shards_.of(by).Execute(
        "INSERT INTO author_post (author_id, post_id, created_at_ms, hidden, original_id,"
        " original_author) VALUES (" +
        text(by) + "," + std::to_string(post) + "," + std::to_string(at) + "," +
        (hidden ? "1" : "0") + "," + text(original.post) + "," + text(original.author) + ")");
    shards_.of(by).Execute("INSERT INTO repost (original_id, author_id, post_id) VALUES (" +
                           text(original.post) + "," + text(by) + "," + std::to_string(post) + ")");
  }
  std::vector<Original> Find(std::vector<UserId> by, const Position& place) {
    std::sort(by.begin(), by.end());
    const SourcesFound found = reader_.Ask(FindSources{0, 0, {kCrowded, kFew}, by, place});
    EXPECT_TRUE(found.status.done()) << found.status.message;
    return found.originals;
  }

  uint64_t last_ = 100;
};

TEST_F(SourcesTest, AreFoundInFrontOfThePlaceOnly) {
  const UserId ann = UserHere(), ben = UserHere();
  Repost(ann, 50, 1'000, kFew);
  Repost(ben, 51, 2'000, kFew, true);
  EXPECT_THAT(Find({ann, ben}, {1'000, PostId{49}}), ::testing::ElementsAre(kFew));
  EXPECT_THAT(Find({ann, ben}, {1'000, PostId{50}}), ::testing::ElementsAre(kFew)) << "the place";
  EXPECT_THAT(Find({ann, ben}, {1'000, PostId{51}}), ::testing::IsEmpty());
  EXPECT_THAT(Find({ben}, {500, PostId{1}}), ::testing::IsEmpty()) << "hidden";
  // A row of the index whose post shows another one, or is not there, means nothing.
  shards_.of(ben).Execute("INSERT INTO repost (original_id, author_id, post_id) VALUES (7," +
                          ToString(ann) + ",50),(7," + ToString(ben) + ",99)");
  EXPECT_THAT(Find({ann, ben}, {500, PostId{1}}), ::testing::ElementsAre(kFew));
}

TEST_F(SourcesTest, OfAnOriginalThatManyRepostedAreSearchedByReposter) {
  UserId someone{};
  for (uint64_t i = 0; i < 1'100; ++i) {
    someone = UserHere();
    Repost(someone, 1'000 + i, 1'000 + static_cast<UnixMs>(i), kCrowded);
  }
  Repost(someone, 5'000, 900, kFew);
  EXPECT_THAT(Find({someone}, {500, PostId{1}}), ::testing::ElementsAre(kCrowded, kFew));
  EXPECT_THAT(Find({someone}, {950, PostId{1}}), ::testing::ElementsAre(kCrowded));
  EXPECT_THAT(Find({UserHere()}, {500, PostId{1}}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace fanline::mysql
