// Pages of followers on a real server: every follower once, whatever the page size and however
// requests are merged.
#include "backends/mysql/posts/follower_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/integration/mysql/shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using Model = std::map<UserId, std::vector<UserId>>;  // author -> live followers, in page order

// Authors of shard 0 with few, many and no followers, and tombstones between them.
class FollowerPages : public ::testing::Test {
 protected:
  FollowerPages() {
    for (const size_t size : {0, 1, 3, 17, 60, 200, 200, 200, 700, 2500}) AddAuthor(size);
    shards_.on(0).Execute("UPDATE follower SET delivery = 1 WHERE src % 3 = 0");
  }

  void AddAuthor(size_t size) {
    const UserId author = shards_.UserOn(0, authors_.size() + 1);
    std::set<UserId> followers;
    while (followers.size() < size) followers.insert(UserId{seeded_.Id()});
    shards_.PutFollowers(author, {followers.begin(), followers.end()});
    for (const UserId reader : followers) {
      if (seeded_.OneIn(50)) {
        shards_.PutFollower(author, reader, false);
      } else {
        model_[author].push_back(reader);
      }
    }
    std::sort(model_[author].begin(), model_[author].end(), [](UserId a, UserId b) {
      return std::pair(BucketOf(a), a) < std::pair(BucketOf(b), b);
    });
    authors_.push_back(author);
  }

  FollowerPage Expected(const RangeLayout& layout, const ReadFollowerPage& query) {
    FollowerPage page;
    for (const UserId reader : model_[query.author]) {
      const FollowerCursor at{BucketOf(reader), reader};
      if (layout.RangeOf(at.bucket) != query.range) continue;
      if (query.after &&
          std::pair(at.bucket, at.reader) <= std::pair(query.after->bucket, query.after->reader)) {
        continue;
      }
      if (page.followers.size() == query.limit) {
        page.next = FollowerCursor{BucketOf(page.followers.back()), page.followers.back()};
        break;
      }
      page.followers.push_back(reader);
      if (Raw(reader) % 3 == 0) page.no_reposts.push_back(reader);
    }
    return page;
  }

  ReadFollowerPage RandomQuery(const RangeLayout& layout) {
    ReadFollowerPage query;
    query.author = authors_[seeded_.Below(authors_.size())];
    query.range = static_cast<Range>(seeded_.Below(layout.partitions()));
    query.limit = static_cast<uint32_t>(1 + seeded_.Below(seeded_.OneIn(2) ? 40 : 4000));
    const auto& followers = model_[query.author];
    if (seeded_.OneIn(4) && !followers.empty()) {
      const UserId after = followers[seeded_.Below(followers.size())];
      query.after = FollowerCursor{BucketOf(after), after};
      query.range = layout.RangeOf(after);
    }
    return query;
  }

  int64_t Reads() { return Counted(shards_.on(0), "SESSION STATUS LIKE 'Handler_read_next'"); }

  testing::Seeded seeded_;
  Shards shards_;
  std::vector<UserId> authors_;
  Model model_;
};

TEST_F(FollowerPages, MergedReadsEqualSingleReadsAlsoWhenStatementsAreCut) {
  for (const size_t rows : {1, 20, 300, 32'768}) {
    for (const uint32_t partitions : {1u, 4u, 16u, 128u}) {
      const RangeLayout layout(partitions);
      std::vector<ReadFollowerPage> queries;
      for (int i = 0; i < 60; ++i) queries.push_back(RandomQuery(layout));
      const auto pages =
          ReadFollowerPages(shards_.on(0), layout, queries, {.rows_per_statement = rows});
      ASSERT_EQ(pages.size(), queries.size());
      for (size_t i = 0; i < queries.size(); ++i) {
        const auto expected = Expected(layout, queries[i]);
        EXPECT_EQ(pages[i].followers, expected.followers) << "query " << i << ", rows " << rows;
        EXPECT_EQ(pages[i].no_reposts, expected.no_reposts) << "query " << i << ", rows " << rows;
        EXPECT_EQ(pages[i].next, expected.next) << "query " << i << ", rows " << rows;
      }
    }
  }
}

TEST_F(FollowerPages, AnAuthorWhoExceedsAPageCostsOneWastedStatementNotOnePerRange) {
  const RangeLayout layout(16);
  std::vector<ReadFollowerPage> queries;
  for (Range range = 0; range < 16; ++range) queries.push_back({0, range, authors_[9], {}, 10});
  const int64_t before = Reads();
  const auto pages = ReadFollowerPages(shards_.on(0), layout, queries, {.rows_per_statement = 100});
  for (const auto& page : pages) EXPECT_EQ(page.followers.size(), 10u);
  // The statement that is cut, then 11 rows of each range, and a few tombstones.
  EXPECT_LE(Reads() - before, 100 + 16 * 11 + 60);
}

TEST_F(FollowerPages, ALargePageIsReadByItselfFromTheStart) {
  const RangeLayout layout(16);
  std::vector<ReadFollowerPage> queries;
  for (Range range = 0; range < 16; ++range) queries.push_back({0, range, authors_[9], {}, 10});
  const int64_t before = Reads();
  ReadFollowerPages(shards_.on(0), layout, queries, {.rows_per_statement = 100, .rows_merged = 9});
  EXPECT_LE(Reads() - before, 16 * 11 + 60);
}

TEST_F(FollowerPages, ManyAuthorsWhoExceedAPageAreTakenApartByHalves) {
  const RangeLayout layout(4);
  std::vector<ReadFollowerPage> queries;
  for (int author = 0; author < 8; ++author) {
    AddAuthor(200);
    for (Range range = 0; range < 4; ++range) {
      queries.push_back({0, range, authors_.back(), {}, 10});
    }
  }
  const int64_t before = Reads();
  const auto pages = ReadFollowerPages(shards_.on(0), layout, queries, {.rows_per_statement = 100});
  for (const auto& page : pages) EXPECT_EQ(page.followers.size(), 10u);
  // Three statements that are cut, then one of 44 rows for each of five authors, and 11 rows of
  // each range behind the first. A statement of 100 rows for each author would be 300 more.
  EXPECT_LE(Reads() - before, 2 * 100 + 88 + 5 * 44 + 8 * 3 * 11 + 100);
}

// The same in ranges that do not adjoin, beside authors who have few.
TEST_F(FollowerPages, AnAuthorWhoExceedsAPageSharesNoStatementInAnyRange) {
  const RangeLayout layout(16);
  AddAuthor(200);
  std::vector<ReadFollowerPage> queries;
  for (Range range = 0; range < 16; range += 2) queries.push_back({0, range, authors_[9], {}, 10});
  for (Range range = 0; range < 16; ++range) queries.push_back({0, range, authors_[10], {}, 100});
  const int64_t before = Reads();
  const auto pages = ReadFollowerPages(shards_.on(0), layout, queries, {.rows_per_statement = 100});
  for (size_t i = 0; i < queries.size(); ++i) {
    EXPECT_EQ(pages[i].followers, Expected(layout, queries[i]).followers);
  }
  // The statement that is cut, 11 rows of each range behind it, then the other author's 200.
  EXPECT_LE(Reads() - before, 100 + 7 * 11 + 200 + 150);
}

// Otherwise ranges that lag would cost more than those that do not, and lag the more for it.
TEST_F(FollowerPages, RangesThatAreOutOfStepShareOneStatement) {
  const RangeLayout layout(16);
  std::vector<ReadFollowerPage> queries;
  for (size_t i = 0; i < 8; ++i) {
    for (Range range = 0; range < 16; ++range) {
      if ((i + 3) * (range + 1u) % 5 < 3) queries.push_back({0, range, authors_[i], {}, 1000});
    }
  }
  const auto selects = [&] { return Counted(shards_.on(0), "SESSION STATUS LIKE 'Com_select'"); };
  const int64_t before = selects();
  const auto pages = ReadFollowerPages(shards_.on(0), layout, queries);
  EXPECT_EQ(selects() - before, 1);
  for (size_t i = 0; i < queries.size(); ++i) {
    EXPECT_EQ(pages[i].followers, Expected(layout, queries[i]).followers);
  }
}

TEST_F(FollowerPages, AReaderWhoFollowsBetweenTwoPagesMovesNobodyElse) {
  const RangeLayout layout(1);
  const UserId author = authors_[8];
  ReadFollowerPage query{0, 0, author, std::nullopt, 100};
  std::vector<UserId> met;
  do {
    const auto page = ReadFollowerPages(shards_.on(0), layout, {query}).front();
    met.insert(met.end(), page.followers.begin(), page.followers.end());
    query.after = page.next;
    for (int i = 0; i < 20; ++i) shards_.PutFollower(author, UserId{seeded_.Id()});
  } while (query.after);
  const std::set<UserId> once(met.begin(), met.end());
  EXPECT_EQ(once.size(), met.size());
  for (const UserId reader : model_[author]) EXPECT_TRUE(once.contains(reader));
}

}  // namespace
}  // namespace fanline::mysql
