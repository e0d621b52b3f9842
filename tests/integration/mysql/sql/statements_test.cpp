// How MariaDB runs the hot statements: by which index, and without sorting.
#include "backends/mysql/sql/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/edges/relation_statements.h"
#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Plan {
  std::string type, key, extra;
};

class Statements : public ::testing::Test {
 protected:
  // Enough rows that the server takes no bad plan for cheaper.
  static void SetUpTestSuite() {
    shards_ = new Shards();
    Connection& connection = shards_->on(0);
    connection.Execute(
        "INSERT INTO follower (dst, bucket, src, ver, state, pos)"
        " SELECT 1 + seq % 200, CRC32(1000 + seq) % 1024, 1000 + seq, 1, seq % 10 > 0, seq"
        " FROM seq_0_to_39999");
    connection.Execute(
        "INSERT INTO author_post (author_id, post_id, member, created_at_ms, hidden)"
        " SELECT 1 + seq % 200, 1 + seq, 1 + seq, 1000 + seq DIV 400, seq % 10 = 0"
        " FROM seq_0_to_39999");
    connection.Execute("INSERT INTO author SELECT 1 + seq, seq FROM seq_0_to_1999");
    connection.Execute(
        "INSERT INTO user_fan (user_id, fans_cnt) SELECT 1 + seq, seq FROM seq_0_to_1999");
    connection.Execute(
        "INSERT INTO following (src, dst, ver, state, pos)"
        " SELECT 1 + seq DIV 200, seq, 1, 1, 1 FROM seq_0_to_39999");
    connection.Query("ANALYZE TABLE follower, author_post, author, user_fan, following",
                     [](const Row&) {});
  }
  static void TearDownTestSuite() {
    delete shards_;
    shards_ = nullptr;
  }

  static std::vector<Plan> Explain(const std::string& sql) {
    std::vector<Plan> plans;
    shards_->on(0).Query("EXPLAIN " + sql, [&](const Row& row) {
      plans.push_back({row.Text(4), row.Text(6), row.Text(10)});
    });
    return plans;
  }

  static void ExpectRangeOf(const std::string& key, const std::string& sql) {
    for (const Plan& plan : Explain(sql)) {
      EXPECT_EQ(plan.key, key) << sql.substr(0, 200);
      EXPECT_THAT(plan.type, ::testing::AnyOf("range", "ref", "const", "eq_ref"))
          << sql.substr(0, 200);
      EXPECT_THAT(plan.extra, Not(HasSubstr("filesort"))) << sql.substr(0, 200);
      EXPECT_THAT(plan.extra, Not(HasSubstr("temporary"))) << sql.substr(0, 200);
    }
  }

  // Rows the storage engine was asked for while `sql` ran.
  static int64_t RowsRead(const std::string& sql) {
    const auto reads = [] {
      int64_t sum = 0;
      shards_->on(0).Query("SHOW SESSION STATUS LIKE 'Handler_read%'",
                           [&](const Row& row) { sum += std::stoll(row.Text(2)); });
      return sum;
    };
    const int64_t before = reads();
    shards_->on(0).Query(sql, [](const Row&) {});
    return reads() - before;
  }

  static std::vector<UserId> Authors(size_t count) {
    std::vector<UserId> authors;
    for (uint64_t raw = 1; raw <= count; ++raw) authors.push_back(UserId{raw});
    return authors;
  }

  static std::vector<FollowersIn> One(const FollowersIn& part) { return {part}; }

  static inline Shards* shards_ = nullptr;
};

TEST_F(Statements, PagesOfFollowersComeInPrimaryKeyOrder) {
  for (const size_t authors : {1, 100}) {
    ExpectRangeOf("PRIMARY", FollowersOfManySql(One({64, 127, Authors(authors)}), 10'000));
    ExpectRangeOf("PRIMARY", FollowersOfManySql(One({0, 1023, Authors(authors)}), 10'000));
  }
  ExpectRangeOf("PRIMARY", FollowersInBucketSql(UserId{5}, 70, UserId{1005}, 1000));
  ExpectRangeOf("PRIMARY", FollowersInBucketsSql(UserId{5}, 71, 127, 1000));
}

// As ranges that have fallen out of step ask: each author in other ranges, some in two parts.
TEST_F(Statements, PagesOfUnlikeRangesAreOneWalkOfTheKey) {
  std::vector<FollowersIn> parts;
  for (uint64_t raw = 1; raw <= kAuthorsLimit; ++raw) {
    const auto first = static_cast<Bucket>(32 * (raw % 16));
    parts.push_back({first, static_cast<Bucket>(first + 31), {UserId{1 + raw / 2}}});
  }
  ExpectRangeOf("PRIMARY", FollowersOfManySql(parts, 10'000));
  // 128 parts of 32 buckets of authors of 200 followers: about 800 rows and 128 seeks.
  EXPECT_LE(RowsRead(FollowersOfManySql(parts, 10'000)), 1500);
}

TEST_F(Statements, APageOfFollowersReadsLittleMoreThanItReturns) {
  EXPECT_LE(RowsRead(FollowersInBucketsSql(UserId{5}, 0, 1023, 20)), 20 * 2);
  // 100 authors of 200 followers, one sixteenth of the buckets: about 1,250 rows and 100 seeks.
  EXPECT_LE(RowsRead(FollowersOfManySql(One({64, 127, Authors(100)}), 10'000)), 2000);
}

TEST_F(Statements, PostsAndEdgesAreLookedUpByKeyUpToTheListLimit) {
  std::vector<PostKey> posts;
  std::vector<EdgeKey> edges;
  for (uint64_t i = 0; i < kListLimit; ++i) {
    posts.push_back({UserId{1 + i % 200}, PostId{1 + i}});
    edges.push_back({.src = UserId{1000 + i}, .dst = UserId{1 + i % 200}});
  }
  ExpectRangeOf("PRIMARY", PostRowsSql(posts));
  ExpectRangeOf("PRIMARY", NotPushedSql(posts));
  ExpectRangeOf("PRIMARY", LiveEdgesSql(edges));
  EXPECT_LE(RowsRead(PostRowsSql(posts)), static_cast<int64_t>(2 * kListLimit));
  EXPECT_LE(RowsRead(LiveEdgesSql(edges)), static_cast<int64_t>(2 * kListLimit));
}

TEST_F(Statements, RelationsAreLookedUpByKeyUpToTheListLimit) {
  std::vector<EdgeKey> edges;
  for (uint64_t i = 0; i < kListLimit; ++i)
    edges.push_back({.src = UserId{1 + i / 200}, .dst = UserId{1 + i}});
  const auto lookups = {ForwardRowsSql(edges), ReverseRowsSql(edges),
                        ReverseRowsSql(edges) + " ORDER BY dst, bucket, src FOR UPDATE",
                        FollowedAmongSql(UserId{7}, Authors(kListLimit)),
                        BelowZeroSql(Authors(kListLimit))};
  for (const std::string& sql : lookups) {
    ExpectRangeOf("PRIMARY", sql);
    EXPECT_LE(RowsRead(sql), static_cast<int64_t>(2 * kListLimit)) << sql.substr(0, 100);
  }
}

// A list that mixes ids below 2^63 with others is not one type of literals.
TEST_F(Statements, ListsWithIdsOfEveryLengthAreLookedUpByKey) {
  std::vector<UserId> users = Authors(kListLimit - 4);
  for (const uint64_t raw : {uint64_t{9'007'199'254'740'993}, uint64_t{INT64_MAX},
                             uint64_t{INT64_MAX} + 1, UINT64_MAX - 1}) {
    users.push_back(UserId{raw});
  }
  for (const std::string& sql : {LastAtSql(users), FansCountSql(users), BelowZeroSql(users),
                                 FollowedAmongSql(UserId{7}, users)}) {
    ExpectRangeOf("PRIMARY", sql);
    EXPECT_LE(RowsRead(sql), static_cast<int64_t>(2 * kListLimit)) << sql.substr(0, 100);
  }
  const FollowersIn above{64, 127, {users.data() + 200, users.data() + 300}};
  ExpectRangeOf("PRIMARY", FollowersOfManySql({&above, 1}, 10'000));
  EXPECT_LE(RowsRead(FollowersOfManySql({&above, 1}, 10'000)), 200);
}

const TimeSpan kBehind{{}, {}, Position{1050, PostId{500}}};

TEST_F(Statements, AnOutboxIsReadInOrderWithoutSorting) {
  // A UNION's result row is no table; each of its parts is.
  for (const Plan& plan : Explain(OutboxesSql(Authors(kUnionLimit), 50))) {
    EXPECT_EQ(plan.key, "outbox");
    EXPECT_THAT(plan.extra, HasSubstr("Using index"));
    EXPECT_THAT(plan.extra, Not(HasSubstr("filesort")));
  }
  for (const Plan& plan : Explain(OutboxSql(Authors(1)[0], kBehind, 50))) {
    if (plan.key.empty()) continue;
    EXPECT_EQ(plan.key, "outbox");
    EXPECT_THAT(plan.extra, Not(HasSubstr("filesort")));
  }
}

TEST_F(Statements, AnOutboxReadsNoMoreThanItsLimitAlsoBehindAPosition) {
  EXPECT_LE(RowsRead(OutboxesSql(Authors(1), 10)), 2 * 10);
  // Twenty visible posts carry the position's own created_at at most, and are passed over.
  EXPECT_LE(RowsRead(OutboxSql(Authors(1)[0], kBehind, 10)), 2 * 10 + 20);
}

TEST_F(Statements, ItemsOfManyAuthorsAreReadInOrderAndNoFurtherThanTheLimit) {
  const auto all = Authors(200);  // each has 180 visible items
  const TimeSpan recent{1'080, {}, {}}, middle{1'020, 1'040, {}};
  for (const TimeSpan& span :
       {TimeSpan{}, recent, middle, TimeSpan{{}, {}, Position{1050, PostId{500}}}}) {
    ExpectRangeOf("outbox", ItemsSql(all, true, span, 1'800));
  }
  EXPECT_LE(RowsRead(ItemsSql(all, true, {}, 1'800)), 1'800 + 20);
  EXPECT_LE(RowsRead(ItemsSql(all, true, recent, 10'000)), 200 * 38 + 200);
  EXPECT_LE(RowsRead(ItemsSql(Authors(kIdsLimit), true, middle, 100)), 100 + 20);
}

TEST_F(Statements, AReadersFolloweesAndTheirTimesAreReadByKey) {
  ExpectRangeOf("newest", FolloweesSql(UserId{7}));  // the index alone answers
  ExpectRangeOf("PRIMARY", LastAtSql(Authors(kIdsLimit)));
  ExpectRangeOf("PRIMARY", FansCountSql(Authors(kListLimit)));
}

}  // namespace
}  // namespace fanline::mysql
