#include "backends/mysql/posts/post_merge.h"

#include <gmock/gmock.h>

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr UserId kAnn{9}, kBob{10};

FeedEvent Published(UserId author, uint64_t post, UnixMs at) {
  return {.kind = EventKind::kPublished, .post = PostId{post}, .author = author, .created_at = at};
}
FeedEvent Of(EventKind kind, UserId author, uint64_t post, uint64_t version = 0) {
  return {.kind = kind, .post = PostId{post}, .author = author, .version = version};
}

TEST(FoldEvents, GivesEachPostOneRowInPrimaryKeyOrder) {
  const FeedEvent events[] = {Published(kBob, 1, 5), Published(kAnn, 30, 6), Published(kAnn, 4, 7),
                              Of(EventKind::kDeleted, kAnn, 30), Published(kAnn, 4, 99)};
  const auto rows = FoldEvents(events);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].first, PostKey(kAnn, PostId{4}));
  EXPECT_EQ(rows[0].second.created_at, 7);
  EXPECT_EQ(rows[1].first, PostKey(kAnn, PostId{30}));
  EXPECT_TRUE(rows[1].second.deleted);
  EXPECT_EQ(rows[2].first, PostKey(kBob, PostId{1}));
}

TEST(NewestPublished, CountsOnlyPublishes) {
  const FeedEvent events[] = {Published(kBob, 1, 5), Published(kAnn, 2, 6), Published(kBob, 3, 4),
                              Of(EventKind::kHidden, UserId{1}, 4, 1)};
  EXPECT_THAT(NewestPublished(events), ElementsAre(Pair(kAnn, 6), Pair(kBob, 5)));
}

}  // namespace
}  // namespace fanline::mysql
