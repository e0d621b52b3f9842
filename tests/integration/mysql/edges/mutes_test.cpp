// Whom a reader mutes, on two real shards: the row's bytes, its version, and changes at once.
#include "backends/mysql/edges/mutes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "backends/mysql/posts/reader_truth.h"
#include "tests/integration/mysql/blocking_edges.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::IsEmpty;
using What = ChangeMutes::What;

class MutesTest : public ::testing::Test {
 protected:
  static MutesChanged Change(ShardConnections& connections, const ChangeMutes& change) {
    MutesChanged changed;
    const Status status = connections.Run(
        1, [&](Connection& connection) { changed = ChangeMutesRow(connection, change); });
    EXPECT_TRUE(status.done()) << status.message;
    return changed;
  }
  MutesChanged Change(const ChangeMutes& change) { return Change(connections_, change); }
  Mutes Row() { return ReadMutesRow(shards_.on(1), ann_); }
  std::vector<LoggedChange> Logged() {
    std::vector<LoggedChange> pending;
    EXPECT_TRUE(ChangeLog(connections_).ReadPending(1, 0, 100'000, &pending).done());
    return pending;
  }

  RelationShards shards_;
  ShardConnections connections_{shards_.config()};
  const UserId ann_ = shards_.UserOn(1, 1);
};

TEST_F(MutesTest, NoRowIsNobodyAtVersionZero) {
  EXPECT_EQ(Row(), Mutes());
  EXPECT_FALSE(Change({.user = ann_, .what = What::kUnmute, .authors = {UserId{7}}}).changed);
  EXPECT_EQ(shards_.Number(1, "SELECT COUNT(*) FROM mute"), 0);
  EXPECT_THAT(Logged(), IsEmpty());
}

TEST_F(MutesTest, AThousandIdsOfAnySizeComeBackAsTheyWere) {
  fanline::testing::Seeded random;
  ChangeMutes change{.user = ann_, .what = What::kReplace, .unix_us = 5'000};
  for (size_t i = 0; i < kMostMuted - 1; ++i) change.authors.push_back(UserId{random.Id()});
  change.authors.push_back(UserId{UINT64_MAX - 1});
  const MutesChanged changed = Change(change);
  EXPECT_TRUE(changed.changed);
  EXPECT_EQ(Row(), changed.now);
  EXPECT_EQ(Row().version, 5'000u);
}

TEST_F(MutesTest, AChangeIsLoggedWithItsVersion) {
  const MutesChanged changed = Change({.user = ann_, .authors = {UserId{7}}, .unix_us = 9'000'000});
  const auto logged = Logged();
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_EQ(logged[0].kind, ChangeKind::kMutes);
  EXPECT_EQ(logged[0].edge, (Edge{ann_, ann_, changed.now.version, true, 9'000}));
  Change({.user = ann_, .authors = {UserId{7}}, .unix_us = 9'000'001});
  EXPECT_EQ(Logged().size(), 1u) << "it was so already";
  Change({.user = ann_, .authors = {UserId{8}}, .expected = 3, .unix_us = 9'000'001});
  EXPECT_EQ(Logged().size(), 1u) << "it expected another version";
}

TEST_F(MutesTest, ARowThatSomebodyHasDamagedIsToldAndOnlyReplaced) {
  shards_.on(1).Execute("INSERT INTO mute (reader_id, version, authors) VALUES (" + ToString(ann_) +
                        ", 7, 'seven')");
  const Mutes damaged{7, {}, true};
  EXPECT_EQ(Row(), damaged);
  const auto followees = ReaderService().Do(shards_.on(1), ReadFollowees{1, 1, ann_});
  EXPECT_EQ(followees.mutes, damaged);
  EXPECT_EQ(Change({.user = ann_, .authors = {UserId{9}}}).now, damaged);
  EXPECT_THAT(Logged(), IsEmpty());
  const MutesChanged replaced =
      Change({.user = ann_, .what = What::kReplace, .authors = {UserId{9}}, .unix_us = 1});
  EXPECT_TRUE(replaced.changed);
  EXPECT_EQ(Row(), (Mutes{8, {UserId{9}}}));
  EXPECT_EQ(Logged().size(), 1u) << "the timeline is told";
}

TEST_F(MutesTest, ComeWithWhomTheReaderFollows) {
  const auto read = [&] {
    auto reply = ReaderService().Do(shards_.on(1), ReadFollowees{1, 1, ann_});
    std::sort(reply.authors.begin(), reply.authors.end());
    return reply;
  };
  EXPECT_EQ(read().mutes, Mutes());
  for (const uint64_t author : {3, 4}) {
    shards_.on(1).Execute("INSERT INTO following (src, dst, ver, state, pos) VALUES (" +
                          ToString(ann_) + ", " + std::to_string(author) + ", 1, 1, 1)");
  }
  const Mutes mutes = Change({.user = ann_, .authors = {UserId{4}, UserId{UINT64_MAX - 1}}}).now;
  EXPECT_EQ(read().mutes, mutes);
  EXPECT_EQ(read().authors, (std::vector<UserId>{UserId{3}, UserId{4}}));
  Change({.user = ann_, .what = What::kReplace, .authors = {}});
  EXPECT_EQ(read().mutes.mark(), 0u);
}

TEST_F(MutesTest, AScanMeetsEverybodyWhoMutesAnybody) {
  using Met = std::vector<std::pair<UserId, uint64_t>>;
  Met expected;
  for (int i = 1; i <= 5; ++i) {
    const UserId reader = shards_.UserOn(1, 10 * i);
    const uint64_t version = Change({.user = reader, .authors = {UserId{7}}}).now.version;
    if (i == 3) {
      Change({.user = reader, .what = What::kUnmute, .authors = {UserId{7}}});
    } else {
      expected.emplace_back(reader, version);
    }
  }
  std::sort(expected.begin(), expected.end());
  for (const uint32_t page : {1u, 2u, 4u, 10'000u}) {
    Met met;
    const auto each = [&](UserId reader, uint64_t mark) { met.emplace_back(reader, mark); };
    ASSERT_TRUE(ScanMutes(connections_, 1, each, page).done());
    EXPECT_EQ(met, expected) << "pages of " << page;
  }
}

// Each device adds authors of its own, and takes them away again. Some changes say which version
// they are of, and are refused if it is another.
TEST_F(MutesTest, ChangesOfDevicesAtOnceAreAllMade) {
  constexpr int kDevices = 6, kChanges = 60;
  std::vector<std::thread> devices;
  std::vector<std::set<UserId>> left(kDevices);
  for (int device = 0; device < kDevices; ++device) {
    devices.emplace_back([&, device] {
      ShardConnections connections{shards_.config()};
      uint64_t version = 0;
      for (int i = 0; i < kChanges; ++i) {
        const UserId author{static_cast<uint64_t>(1'000 * (device + 1) + i % 20)};
        ChangeMutes change{.user = ann_, .authors = {author}, .unix_us = 1'000};
        if (i % 3 == 2) change.what = What::kUnmute;
        if (i % 2 == 1) change.expected = version;
        const MutesChanged changed = Change(connections, change);
        EXPECT_TRUE(change.expected || !changed.conflicts);
        EXPECT_GE(changed.now.version, version);
        version = changed.now.version;
        EXPECT_TRUE(!changed.conflicts || !changed.changed);
        if (changed.conflicts) continue;
        if (change.what == What::kMute) {
          left[device].insert(author);
        } else {
          left[device].erase(author);
        }
      }
    });
  }
  std::set<UserId> expected;
  for (int device = 0; device < kDevices; ++device) {
    devices[device].join();
    expected.insert(left[device].begin(), left[device].end());
  }
  const Mutes row = Row();
  EXPECT_EQ(row.authors, std::vector<UserId>(expected.begin(), expected.end()));
  // Each change has a version of its own.
  EXPECT_EQ(shards_.Number(1, "SELECT COUNT(*) - COUNT(DISTINCT ver) FROM log1"), 0);
  EXPECT_EQ(shards_.Number(1, "SELECT MAX(ver) FROM log1"), static_cast<int64_t>(row.version));
}

}  // namespace
}  // namespace fanline::mysql
