// Who reposts a post, by what a real server answers, compared with the model of the API's tests.
#include "backends/mysql/posts/reposts.h"

#include <gtest/gtest.h>

#include "backends/mysql/posts/post_store.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/integration/mysql/shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

class WhoRepostsTest : public ::testing::Test {
 protected:
  static constexpr Shard kHere = 0;

  // Stored as a dispatcher does.
  void Apply(std::vector<FeedEvent> events) {
    const ApplyEvents request{1, kHere, std::move(events)};
    ASSERT_TRUE(PostService().Do(shards_.on(kHere), request).status.done());
    fake_.Do(request);
  }
  void Compare(const ReadReposters& request) {
    const RepostersRead got = RepostsService().Do(shards_.on(kHere), request);
    const RepostersRead expected = fake_.Do(request);
    EXPECT_EQ(got.shard, kHere);
    EXPECT_EQ(got.users, expected.users);
    EXPECT_EQ(got.next, expected.next);
    EXPECT_EQ(got.count, expected.count);
    EXPECT_EQ(got.more, expected.more);
    ASSERT_EQ(got.state.has_value(), expected.state.has_value());
    if (got.state) {
      EXPECT_EQ(got.state->visible(), expected.state->visible());
    }
  }

  testing::Seeded seeded_;
  Shards shards_;
  fakes::FakeMysql fake_{RangeLayout(4), 100, shards_.map()};
};

TEST_F(WhoRepostsTest, TheAnswersAreThoseOfTheModel) {
  std::vector<UserId> users;
  for (uint64_t n = 1; n <= 12; ++n) users.push_back(shards_.UserOn(kHere, n));
  const auto any = [&] { return users[seeded_.Below(users.size())]; };
  const Original originals[] = {
      {PostId{1}, users[0]}, {PostId{2}, users[1]}, {PostId{3}, UserId{7}}};
  Apply({{EventKind::kPublished, PostId{1}, users[0], 900, 0},
         {EventKind::kPublished, PostId{2}, users[1], 901, 0},
         {EventKind::kHidden, PostId{2}, users[1], 0, 1}});
  for (uint64_t i = 0; i < 120; ++i) {
    Original of = originals[seeded_.Below(3)];
    if (seeded_.OneIn(9)) of.author = UserId{8};  // an author who did not write it
    const UserId by = any();
    const auto at = static_cast<UnixMs>(1'000 + seeded_.Below(50));
    Apply({{EventKind::kPublished, PostId{100 + i}, by, at, 0, of}});
    if (seeded_.OneIn(6)) Apply({{EventKind::kDeleted, PostId{100 + i}, by, 0, 0}});
    if (seeded_.OneIn(6)) Apply({{EventKind::kHidden, PostId{100 + i}, by, 0, 1}});
  }
  for (const Original& original : originals) {
    for (const uint32_t rows : {1u, 2u, 7u, 500u}) {
      for (const uint32_t counted : {0u, 3u, 500u}) {
        Compare({0, kHere, original, {}, rows, counted});
        Compare({0, kHere, original, any(), rows, counted});
      }
    }
    for (const UserId user : users) {
      for (const uint32_t limit : {1u, 100u}) {
        const ReadRepostsBy request{0, kHere, user, original.post, limit};
        EXPECT_EQ(RepostsService().Do(shards_.on(kHere), request).posts, fake_.Do(request).posts);
      }
    }
  }
}

TEST_F(WhoRepostsTest, ADispatcherLearnsWhatARepostShows) {
  const UserId user = shards_.UserOn(kHere, 1);
  const Original original{PostId{1}, UserId{7}};
  Apply({{EventKind::kPublished, PostId{5}, user, 1'000, 0, original},
         {EventKind::kPublished, PostId{6}, user, 1'000, 0},
         {EventKind::kDeleted, PostId{8}, user, 0, 0}});
  const ReadShown request{
      0, kHere, {{user, PostId{5}}, {user, PostId{6}}, {user, PostId{8}}, {user, PostId{9}}}};
  const ShownRead read = PostService().Do(shards_.on(kHere), request);
  EXPECT_EQ(read.shard, kHere);
  EXPECT_EQ(read.shown, (std::map<PostKey, Original>{{{user, PostId{5}}, original}}));
}

}  // namespace
}  // namespace fanline::mysql
