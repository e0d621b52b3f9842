// The log scan's place and pages on a real shard, and the purge that stays behind it.
#include "backends/mysql/edges/log_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mysql/edges/change_log.h"
#include "tests/integration/mysql/shards.h"

namespace fanline::mysql {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;

class LogScanTest : public ::testing::Test {
 protected:
  // Rows `first` to `last`, so many minutes old.
  void Log(uint64_t first, uint64_t last, int age, bool done = true) {
    for (uint64_t id = first; id <= last; ++id) {
      shards_.on(0).Execute(
          "INSERT INTO log1 (id, kind, src, dst, ver, state, pos, ts, done) VALUES (" +
          std::to_string(id) + ", 1, 7, " + std::to_string(100 + id) +
          ", 9, 1, 5, NOW(3) - INTERVAL " + std::to_string(age) + " MINUTE, " + (done ? "1" : "0") +
          ")");
    }
  }
  LoggedRead Read(uint32_t limit = 100) {
    return ReadBehindPlace(shards_.on(0), {0, 0, minutes(10), limit});
  }
  static std::vector<uint64_t> IdsOf(const LoggedRead& read) {
    std::vector<uint64_t> ids;
    for (const LoggedChange& change : read.changes) ids.push_back(change.id);
    return ids;
  }
  void Move(uint64_t from, uint64_t to) { MovePlace(shards_.on(0), {0, 0, from, to, 1}); }

  Shards shards_;
};

TEST_F(LogScanTest, APageHasWhatIsDoneAndOldEnoughAndPassesWhatIsPending) {
  Log(1, 2, 30);
  Log(3, 3, 20, false);
  Log(4, 4, 5);
  const LoggedRead read = Read();
  EXPECT_THAT(IdsOf(read), ElementsAre(1, 2));
  EXPECT_EQ(read.place, 0u);
  EXPECT_EQ(read.last, 3u);
  EXPECT_FALSE(read.more);
  EXPECT_EQ(read.changes.at(0).edge, (Edge{UserId{7}, UserId{101}, 9, true, 5}));
  const UnixMs now = shards_.Number(0, "SELECT FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)");
  EXPECT_NEAR(static_cast<double>(now - read.up_to), 600'000.0, 60'000.0);
}

// A clock that was set back: 2 is older than what comes before it.
TEST_F(LogScanTest, NothingBehindAYoungRowIsRead) {
  Log(1, 1, 5);
  Log(2, 2, 30);
  EXPECT_THAT(IdsOf(Read()), ElementsAre());
  EXPECT_EQ(Read().last, 0u);
}

TEST_F(LogScanTest, AFullPageReachesAsFarAsItsLastRow) {
  Log(1, 3, 30);
  const LoggedRead read = Read(2);
  EXPECT_TRUE(read.more);
  EXPECT_EQ(read.last, 2u);
  EXPECT_EQ(read.up_to, read.changes.at(1).written_at);
  Move(0, 2);
  EXPECT_THAT(IdsOf(Read(2)), ElementsAre(3));
}

TEST_F(LogScanTest, APlaceThatHasMovedMeanwhileStays) {
  Move(0, 5);
  Move(0, 3);
  EXPECT_EQ(Read().place, 5u);
  Move(5, 8);
  EXPECT_EQ(Read().place, 8u);
  EXPECT_EQ(ReadLogScanPlace(shards_.on(0)).up_to, 1);
}

TEST_F(LogScanTest, NothingIsPurgedThatItHasNotPassed) {
  Log(1, 4, 30);
  Move(0, 2);
  EXPECT_EQ(PurgeChanges(shards_.on(0), minutes(10), 100), 2u);
  EXPECT_EQ(PurgeChanges(shards_.on(0), minutes(10), 100), 0u);
  Move(2, 4);
  EXPECT_EQ(PurgeChanges(shards_.on(0), minutes(10), 100), 2u);
}

TEST_F(LogScanTest, WithoutAScanThePurgeGoesByAge) {
  Log(1, 4, 30);
  EXPECT_EQ(ReadLogScanPlace(shards_.on(0)).up_to, 0);
  EXPECT_EQ(PurgeChanges(shards_.on(0), minutes(10), 100), 4u);
}

TEST_F(LogScanTest, FriendVersionsAreThoseOfTheEdgesAndARowLoggedAgainIsPending) {
  shards_.on(0).Execute(
      "INSERT INTO following (src, dst, ver, state, pos, friend_version) VALUES (5, 6, 1, 1, 1, "
      "40)");
  const EdgeKey has{UserId{5}, UserId{6}}, lacks{UserId{6}, UserId{5}};
  EXPECT_THAT(FriendVersions(shards_.on(0), {lacks, has, has}), ElementsAre(0, 40, 40));
  const LoggedChange change{7, ChangeKind::kFriendship, {UserId{5}, UserId{6}, 40, true, 9}, 0};
  WriteAgain(shards_.on(0), change);
  const auto pending = PendingChanges(shards_.on(0), 0, 10);
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_EQ(pending[0].kind, change.kind);
  EXPECT_EQ(pending[0].edge, change.edge);
}

}  // namespace
}  // namespace fanline::mysql
