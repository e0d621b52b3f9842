// Posts that are merged at read: their authors are announced to all ranges, once a day.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

TEST(Dispatcher, APostThatIsMergedAtReadHasItsAuthorAnnouncedOnce) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Dispatch(Published());
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.log.front().hints.size(), kRanges);
  EXPECT_EQ(w.announced, std::vector<UserId>{kAnn});
  w.Give(Published(PostId{78}));
  w.Dispatch({EventKind::kDeleted, kPost, kAnn, 0, 0});
  EXPECT_EQ(w.log.size(), 1u) << "everybody was told";
  EXPECT_EQ(w.announced.size(), 1u);
  EXPECT_EQ(w.committed, 3);
}

// A log may have lost the hint of a range that nobody had read: the author's later posts bring
// none.
TEST(Dispatcher, AnAuthorIsAnnouncedAnewOnceADay) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Dispatch(Published());
  w.mysql.relations.now += std::chrono::milliseconds(std::chrono::hours(24)).count() - 1;
  w.Dispatch(Published(PostId{78}));
  ASSERT_EQ(w.log.size(), 1u);
  w.mysql.relations.now += 1;
  w.Dispatch({EventKind::kDeleted, kPost, kAnn, 0, 0});
  EXPECT_EQ(w.log.size(), 1u) << "deletes of many old posts are no fan-out";
  w.Dispatch(Published(PostId{79}));
  ASSERT_EQ(w.log.size(), 2u);
  EXPECT_EQ(w.log.back().hints.size(), kRanges);
  EXPECT_EQ(w.announced.size(), 2u);
  w.Dispatch(Published(PostId{80}));
  EXPECT_EQ(w.log.size(), 2u);
  EXPECT_EQ(w.committed, 5);
}

TEST(Dispatcher, NoAuthorIsAnnouncedBeforeTheHintsAreAcknowledged) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Give(Published());
  w.TakeAndStore();
  ASSERT_EQ(w.appends.size(), kRanges);
  w.Refuse(Status::Later("kafka", "away"));
  w.Step();
  EXPECT_TRUE(w.announced.empty());
  w.Pass(std::chrono::minutes(1));
  w.Step();
  w.Acknowledge();
  w.Step();
  EXPECT_EQ(w.announced, std::vector<UserId>{kAnn});
}

// A rebuild learns of marked authors from when they last posted: a delete alone tells it nothing.
TEST(Dispatcher, OnlyAPublishedPostAnnouncesItsAuthor) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Dispatch({EventKind::kDeleted, kPost, kAnn, 0, 0});
  EXPECT_EQ(w.log.size(), 1u);
  EXPECT_TRUE(w.announced.empty());
}

TEST(Dispatcher, AnEventInTheDeadLettersAnnouncesNobody) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Give(Published());
  w.TakeAndStore();
  ASSERT_EQ(w.appends.size(), kRanges);
  w.Refuse(Status::Never("too large"));
  w.Step();
  w.Refuse(Status::Never("too large"));
  w.RunUntilIdle();
  EXPECT_EQ(w.letters.size(), 1u);
  EXPECT_TRUE(w.announced.empty());
}

}  // namespace
}  // namespace fanline::dispatcher
