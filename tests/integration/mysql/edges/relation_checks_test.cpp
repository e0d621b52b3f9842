// Batched checks on two real shards.
#include "backends/mysql/edges/relation_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/mysql/relations.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using enum Relation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RelationChecksTest : public ::testing::Test {
 protected:
  uint64_t Follow(UserId src, UserId dst) {
    Relations::Result result;
    EXPECT_TRUE(relations_.Follow(src, dst, ++now_, &result).done());
    return result.version;
  }
  std::vector<Relation> Ask(UserId viewer, UserId followed, const std::vector<uint64_t>& users,
                            Sides sides = Sides::kBoth) {
    std::vector<CheckItem> items;
    for (const uint64_t user : users) items.push_back({user});
    std::vector<CheckAnswer> answers;
    const Status status = checks_.Check(viewer, followed, items, sides, &answers);
    EXPECT_TRUE(status.done()) << status.message;
    std::vector<Relation> relations;
    for (const CheckAnswer& answer : answers) {
      EXPECT_EQ(answer.error, "");
      relations.push_back(answer.relation);
    }
    return relations;
  }

  uint64_t now_ = 1'700'000'000'000'000;
  RelationShards shards_;
  Relations relations_{shards_.config(), shards_.map()};
  ShardConnections connections_{shards_.config()};
  RelationChecks checks_{connections_, shards_.map()};
  const UserId ann_ = shards_.UserOn(0, 1);
  const uint64_t bob_ = Raw(shards_.UserOn(1, 1)), cid_ = Raw(shards_.UserOn(0, 2)),
                 dee_ = Raw(shards_.UserOn(1, 2)), eve_ = Raw(shards_.UserOn(0, 3));
};

TEST_F(RelationChecksTest, EachIsAnsweredInTheOrderAskedAlsoWhenAskedTwice) {
  Follow(ann_, UserId{bob_});
  Follow(UserId{cid_}, ann_);
  Follow(ann_, UserId{dee_});
  Follow(UserId{dee_}, ann_);
  EXPECT_THAT(Ask(ann_, ann_, {dee_, bob_, eve_, cid_, bob_, Raw(ann_)}),
              ElementsAre(kMutual, kFollowing, kNone, kFollower, kFollowing, kNone));
  EXPECT_THAT(Ask(ann_, ann_, {dee_, cid_}, Sides::kFollowing), ElementsAre(kFollowing, kNone));
  EXPECT_THAT(Ask(ann_, ann_, {dee_, bob_}, Sides::kFollowers), ElementsAre(kFollower, kNone));
  EXPECT_THAT(Ask(ann_, ann_, {}), ElementsAre());
}

TEST_F(RelationChecksTest, WhomIFollowMayBeAskedWhetherTheyFollowSomebodyElse) {
  for (const uint64_t user : {bob_, cid_, dee_}) Follow(ann_, UserId{user});
  Follow(UserId{bob_}, UserId{eve_});
  Follow(UserId{dee_}, UserId{eve_});
  EXPECT_THAT(Ask(ann_, UserId{eve_}, {bob_, cid_, dee_}),
              ElementsAre(kMutual, kFollowing, kMutual));
  std::vector<UserId> found;
  ASSERT_TRUE(checks_.FollowedWhoFollow(ann_, UserId{eve_}, 10, &found).done());
  EXPECT_THAT(found, ElementsAre(UserId{dee_}, UserId{bob_}));
  ASSERT_TRUE(checks_.FollowedWhoFollow(ann_, UserId{eve_}, 1, &found).done());
  EXPECT_THAT(found, ElementsAre(UserId{dee_}));
}

TEST_F(RelationChecksTest, OfAListWithoutLimitTheNewestTenThousandAreLookedThrough) {
  shards_.of(ann_).Execute(
      "INSERT INTO following (src, dst, ver, state, pos) SELECT " + ToString(ann_) +
      ", 1000000 + seq, 1, 1, seq FROM seq_1_to_10001");  // the newest is the last
  const UserId eve{eve_};
  std::vector<UserId> found;
  Follow(UserId{1'000'001}, eve);
  ASSERT_TRUE(checks_.FollowedWhoFollow(ann_, eve, 10, &found).done());
  EXPECT_THAT(found, ElementsAre()) << "10,000 were followed later";
  Follow(UserId{1'000'002}, eve);
  Follow(UserId{1'010'001}, eve);
  ASSERT_TRUE(checks_.FollowedWhoFollow(ann_, eve, 10, &found).done());
  EXPECT_THAT(found, ElementsAre(UserId{1'010'001}, UserId{1'000'002}));
}

TEST_F(RelationChecksTest, ABadIdIsItsOwnErrorAndNobodyElses) {
  Follow(ann_, UserId{bob_});
  const std::vector<CheckItem> items = {{0}, {bob_}, {UINT64_MAX}};
  std::vector<CheckAnswer> answers;
  ASSERT_TRUE(checks_.Check(ann_, ann_, items, Sides::kBoth, &answers).done());
  EXPECT_THAT(answers[0].error, HasSubstr("no user ids"));
  EXPECT_EQ(answers[1], (CheckAnswer{kFollowing, ""}));
  EXPECT_THAT(answers[2].error, HasSubstr("no user ids"));
}

TEST_F(RelationChecksTest, MoreThanFiveHundredAreRefused) {
  std::vector<CheckItem> items(501, CheckItem{5});
  std::vector<CheckAnswer> answers;
  EXPECT_TRUE(checks_.Check(ann_, ann_, items, Sides::kBoth, &answers).never());
  items.pop_back();
  EXPECT_TRUE(checks_.Check(ann_, ann_, items, Sides::kBoth, &answers).done());
  EXPECT_EQ(answers.size(), 500u);
}

TEST_F(RelationChecksTest, FiveHundredAreAnsweredAsOneByOne) {
  testing::Seeded seeded;
  std::vector<uint64_t> users;
  for (uint64_t n = 0; n < 500; ++n) users.push_back(10'000 + seeded.Below(400));
  for (int i = 0; i < 60; ++i) {
    Follow(ann_, UserId{10'000 + seeded.Below(400)});
    Follow(UserId{10'000 + seeded.Below(400)}, ann_);
  }
  const auto all = Ask(ann_, ann_, users);
  for (size_t i = 0; i < users.size(); i += 7) {
    EXPECT_THAT(Ask(ann_, ann_, {users[i]}), ElementsAre(all[i])) << users[i];
  }
  std::vector<ListEntry> entries;
  for (const uint64_t user : users) entries.push_back({UserId{user}, 1});
  std::vector<Relation> relations;
  ASSERT_TRUE(checks_.OfEntries(ann_, entries, &relations).done());
  EXPECT_EQ(relations, all);
}

TEST_F(RelationChecksTest, AnAnswerIsAtLeastAsNewAsTheVersionAskedFor) {
  const UserId bob{bob_};
  const uint64_t version = Follow(bob, ann_);
  shards_.of(ann_).Execute("UPDATE follower SET ver = 1, state = 0");  // the mirror lags behind
  EXPECT_THAT(Ask(ann_, ann_, {bob_}), ElementsAre(kNone));
  const auto ask = [&](uint64_t min_version) {
    const std::vector<CheckItem> items = {{bob_, min_version}};
    std::vector<CheckAnswer> answers;
    EXPECT_TRUE(checks_.Check(ann_, ann_, items, Sides::kBoth, &answers).done());
    return answers.at(0);
  };
  EXPECT_EQ(ask(version), (CheckAnswer{kFollower, ""}));
  EXPECT_EQ(ask(version + 1).error, "there is no such version");
}

}  // namespace
}  // namespace fanline::mysql
