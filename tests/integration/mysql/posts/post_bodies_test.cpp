// Bodies of posts from an application's table, on a real server.
#include "backends/mysql/posts/post_bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/sql/shards_here.h"
#include "backends/mysql/sql/sql_text.h"
#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"

namespace fanline::mysql {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr PostId kLargest{UINT64_MAX - 1};

class PostBodiesTest : public ::testing::Test {
 protected:
  PostBodiesTest() {
    Sql("DROP TABLE IF EXISTS app_posts");
    Sql("CREATE TABLE app_posts (id BIGINT UNSIGNED PRIMARY KEY, text LONGTEXT, likes INT,"
        " views BIGINT UNSIGNED, score DOUBLE, price DECIMAL(20,4), raw BLOB, at DATETIME(3),"
        " flag BIT(1), kind ENUM('a','b'), ratio FLOAT) CHARACTER SET utf8mb4");
  }
  ~PostBodiesTest() override { Sql("DROP TABLE IF EXISTS app_posts"); }

  void Sql(const std::string& sql) { shards_.on(0).Execute(sql); }
  void Put(PostId post, const std::string& text) {
    Sql("INSERT INTO app_posts (id, text) VALUES (" + ToString(post) + "," + Quoted(text) + ")");
  }
  BodiesConfig ConfigOf(std::vector<std::string> columns) const {
    BodiesConfig config;
    config.server = shards_.config();
    config.server.shards.resize(1);
    config.server.resource = "bodies";
    config.table = "app_posts";
    config.id_column = "id";
    config.columns = std::move(columns);
    return config;
  }
  using Bodies = ShardsHere<BodiesService, ReadBodies>;
  static Bodies BodiesOf(const BodiesConfig& config) { return {config.server, {config}}; }
  static BodiesRead Read(Bodies& bodies, const std::vector<PostId>& posts) {
    const auto reply = Ask(bodies, ReadBodies{.posts = posts});
    EXPECT_TRUE(reply.status.done()) << reply.status.message;
    return reply.read;
  }

  Shards shards_;
};

TEST_F(PostBodiesTest, EachValueHasTheTypeOfItsColumn) {
  Sql("INSERT INTO app_posts VALUES (7, 'caf\xc3\xa9 \xf0\x9f\x98\x80', -5, 18446744073709551615,"
      " 0.25, 12.5, x'00ff10', '2026-01-31 12:00:00.123', b'1', 'b', 1.1)");
  Sql("INSERT INTO app_posts (id) VALUES (8)");
  Bodies bodies = BodiesOf(
      ConfigOf({"text", "likes", "views", "score", "price", "raw", "at", "flag", "kind", "ratio"}));
  const BodiesRead read = Read(bodies, {PostId{7}});
  ASSERT_THAT(read.found, SizeIs(1));
  EXPECT_THAT(read.found[0].second,
              ElementsAre(BodyValue("caf\xc3\xa9 \xf0\x9f\x98\x80"), BodyValue(int64_t{-5}),
                          BodyValue("18446744073709551615"), BodyValue(0.25), BodyValue("12.5000"),
                          BodyValue("AP8Q"), BodyValue("2026-01-31 12:00:00.123"),
                          BodyValue(int64_t{1}), BodyValue("b"), BodyValue(1.1)));
  EXPECT_THAT(Read(bodies, {PostId{8}}).found[0].second,
              ::testing::AllOf(SizeIs(10), ::testing::Each(BodyValue())));
}

// MySQL has a type for either; MariaDB 10.11 has no vectors, and JSON is text.
TEST_F(PostBodiesTest, VectorsAreBytesAndJsonIsText) {
  Sql(OnMySql() ? "ALTER TABLE app_posts ADD COLUMN place VECTOR(2), ADD COLUMN more JSON"
                : "ALTER TABLE app_posts ADD COLUMN place BLOB, ADD COLUMN more JSON");
  Sql("INSERT INTO app_posts (id, place, more) VALUES (7, X'0000803F00000040', '[1]')");
  Bodies bodies = BodiesOf(ConfigOf({"place", "more"}));
  EXPECT_THAT(Read(bodies, {PostId{7}}).found[0].second,
              ElementsAre(BodyValue("AACAPwAAAEA="), BodyValue("[1]")));
}

TEST_F(PostBodiesTest, BytesOfEachLengthAreBase64) {
  Bodies bodies = BodiesOf(ConfigOf({"raw"}));
  Sql("INSERT INTO app_posts (id, raw) VALUES (1, ''), (2, 'f'), (3, 'fo'), (4, 'foo'), (5, "
      "'foob')");
  std::vector<std::string> texts;
  for (uint64_t post = 1; post <= 5; ++post) {
    texts.push_back(std::get<std::string>(Read(bodies, {PostId{post}}).found[0].second[0]));
  }
  EXPECT_THAT(texts, ElementsAre("", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="));
}

TEST_F(PostBodiesTest, IdsOfEachLengthAreFoundAndWhatIsGoneIsNot) {
  for (const PostId post : {PostId{1}, PostId{uint64_t{1} << 63}, kLargest}) Put(post, "x");
  Bodies bodies = BodiesOf(ConfigOf({"text"}));
  const BodiesRead read = Read(bodies, {kLargest, PostId{uint64_t{1} << 63}, PostId{2}, PostId{1}});
  EXPECT_EQ(read.looked_up, 4u);
  std::vector<PostId> found;
  for (const auto& [post, values] : read.found) found.push_back(post);
  EXPECT_THAT(found, UnorderedElementsAre(PostId{1}, PostId{uint64_t{1} << 63}, kLargest));
}

TEST_F(PostBodiesTest, ManyAreReadInPartsUntilTheyAreTooLarge) {
  std::vector<PostId> posts;
  for (uint64_t post = 1; post <= 120; ++post) {
    Put(PostId{post}, std::string(post <= 50 ? 1 : 100'000, 'x'));
    posts.push_back(PostId{post});
  }
  Bodies bodies = BodiesOf(ConfigOf({"text"}));
  BodiesRead read = Read(bodies, posts);
  EXPECT_EQ(read.looked_up, 50 + 42u) << "42 times 100,000 bytes are more than 4 MiB";
  EXPECT_EQ(read.found.size(), 50 + 42u);
  read = Read(bodies, std::vector<PostId>(posts.begin() + 92, posts.end()));
  EXPECT_EQ(read.looked_up, 28u);
  EXPECT_EQ(read.found.size(), 28u);
}

// A page may show many reposts of one post, each with its body.
TEST_F(PostBodiesTest, OneThatIsAskedForAgainCountsAgain) {
  Put(PostId{1}, std::string(100'000, 'x'));
  Bodies bodies = BodiesOf(ConfigOf({"text"}));
  EXPECT_EQ(Read(bodies, std::vector<PostId>(60, PostId{1})).looked_up, 42u);
}

TEST_F(PostBodiesTest, OfVeryLargeOnesOneIsReadAtOnce) {
  for (uint64_t post = 1; post <= 2; ++post) {
    Put(PostId{post}, std::string(BodiesService::kMostBytes, 'x'));
  }
  Bodies bodies = BodiesOf(ConfigOf({"text"}));
  const BodiesRead read = Read(bodies, {PostId{9}, PostId{2}, PostId{1}});
  EXPECT_EQ(read.looked_up, 2u);
  ASSERT_THAT(read.found, SizeIs(1));
  EXPECT_EQ(read.found[0].first, PostId{2});
}

TEST_F(PostBodiesTest, AStatementThatIsTooSlowIsEndedByTheServer) {
  Put(PostId{1}, "x");
  BodiesConfig config = ConfigOf({"text"});
  config.time_limit = std::chrono::milliseconds(50);
  Bodies bodies = BodiesOf(config);
  Read(bodies, {PostId{1}});
  Sql("LOCK TABLES app_posts WRITE");
  const auto begin = Clock::now();
  const Status status = Ask(bodies, ReadBodies{.posts = {PostId{1}}}).status;
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(1));
  Sql("UNLOCK TABLES");
  EXPECT_TRUE(status.later()) << status.message;
  EXPECT_EQ(status.resource, "bodies");
  EXPECT_THAT(status.message, AnyOf(HasSubstr("SQL error 1969"), HasSubstr("SQL error 3024")));
  Read(bodies, {PostId{1}});
}

TEST_F(PostBodiesTest, ATableThatIsNotAsConfiguredNamesTheOption) {
  EXPECT_TRUE(CheckBodiesTable(ConfigOf({"text", "likes"})).done());
  const auto wrong = [](const BodiesConfig& config) {
    const Status status = CheckBodiesTable(config);
    EXPECT_TRUE(status.never()) << status.message;
    return status.message;
  };
  BodiesConfig config = ConfigOf({"text"});
  config.table = "nothing";
  EXPECT_THAT(wrong(config), HasSubstr("--bodies-table: "));
  EXPECT_THAT(wrong(ConfigOf({"text", "nothing"})), HasSubstr("--bodies-columns or"));
  config = ConfigOf({"likes"});
  config.id_column = "text";
  EXPECT_THAT(wrong(config), HasSubstr("--bodies-id-column: app_posts.text is longtext"));
}

TEST_F(PostBodiesTest, AServerThatIsAwaySaysNothingAboutTheTable) {
  BodiesConfig config = ConfigOf({"text"});
  config.server.shards[0].port = 1;
  Bodies bodies = BodiesOf(config);
  EXPECT_TRUE(CheckBodiesTable(config).later());
  const auto reply = Ask(bodies, ReadBodies{.posts = {PostId{1}}});
  EXPECT_TRUE(reply.status.later());
  EXPECT_EQ(reply.status.resource, "bodies");
  EXPECT_THAT(reply.read.found, IsEmpty());
}

}  // namespace
}  // namespace fanline::mysql
