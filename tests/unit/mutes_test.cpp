// The authors whom a reader mutes: the row's bytes, and what a change makes of it.
#include "fanline/ports/mutes.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using ::testing::ElementsAre;
using What = ChangeMutes::What;

constexpr UserId kUser{1};

TEST(Mutes, AreEightBytesEachInOrder) {
  EXPECT_EQ(PackAuthors({}), "");
  EXPECT_EQ(PackAuthors({UserId{1}, UserId{0x0102030405060708}}),
            std::string("\0\0\0\0\0\0\0\1\1\2\3\4\5\6\7\10", 16));
}

TEST(Mutes, AreReadAsTheyWereWritten) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 100; ++round) {
    std::vector<UserId> authors;
    for (uint64_t i = random.Below(40); i > 0; --i) authors.push_back(UserId{random.Id()});
    const Mutes after = After({}, {.what = What::kReplace, .authors = authors});
    EXPECT_EQ(UnpackMutes(after.version, PackAuthors(after.authors)), after);
  }
}

TEST(Mutes, OtherBytesAreNoneOfOurs) {
  for (const std::string& bytes :
       {std::string("1234567"), std::string(8, '\0'), std::string(8, '\xff'),
        PackAuthors({UserId{2}, UserId{1}}), PackAuthors({UserId{2}, UserId{2}})}) {
    EXPECT_EQ(UnpackMutes(3, bytes), (Mutes{3, {}, true}));
  }
  EXPECT_EQ((Mutes{3, {}, true}.mark()), 3u) << "a page must ask, and say that it does not know";
}

TEST(Mutes, WhatIsDamagedIsOnlyReplaced) {
  const Mutes damaged{5, {}, true};
  for (const auto what : {What::kMute, What::kUnmute}) {
    const MutesChanged changed = Decide(damaged, {.what = what, .authors = {UserId{7}}});
    EXPECT_FALSE(changed.changed);
    EXPECT_EQ(changed.now, damaged);
  }
  for (const auto& authors : {std::vector<UserId>{}, {UserId{7}}}) {
    const MutesChanged changed = Decide(damaged, {.what = What::kReplace, .authors = authors});
    EXPECT_TRUE(changed.changed);
    EXPECT_EQ(changed.now, (Mutes{6, authors}));
  }
  EXPECT_TRUE(Decide(damaged, {.what = What::kReplace, .expected = 4}).conflicts);
}

TEST(Mutes, AChangeGivesOutAHigherVersion) {
  const Mutes before{500, {UserId{7}}};
  ChangeMutes change{.user = kUser, .authors = {UserId{3}}, .unix_us = 900};
  MutesChanged changed = Decide(before, change);
  EXPECT_TRUE(changed.changed);
  EXPECT_THAT(changed.now.authors, ElementsAre(UserId{3}, UserId{7}));
  EXPECT_EQ(changed.now.version, 900u);
  change.unix_us = 100;
  EXPECT_EQ(Decide(before, change).now.version, 501u) << "the clock went back";
}

TEST(Mutes, WhatIsSoAlreadyChangesNothing) {
  const Mutes before{5, {UserId{7}}};
  for (const ChangeMutes& change :
       std::vector<ChangeMutes>{{.what = What::kMute, .authors = {UserId{7}}},
                                {.what = What::kMute, .authors = {UserId{7}}, .expected = 4},
                                {.what = What::kUnmute, .authors = {UserId{8}}},
                                {.what = What::kReplace, .authors = {UserId{7}, UserId{7}}}}) {
    const MutesChanged changed = Decide(before, change);
    EXPECT_FALSE(changed.changed);
    EXPECT_EQ(changed.now, before);
  }
}

TEST(Mutes, AtMostAThousandAuthorsAreMuted) {
  Mutes before{5, {}};
  for (uint64_t id = 1; id <= kMostMuted; ++id) before.authors.push_back(UserId{id});
  const MutesChanged more = Decide(before, {.authors = {UserId{5'000}}});
  EXPECT_TRUE(more.over_limit);
  EXPECT_EQ(more.now, before);
  EXPECT_FALSE(Decide(before, {.authors = {UserId{5}}}).over_limit) << "he is muted already";
  EXPECT_TRUE(Decide(before, {.what = What::kUnmute, .authors = {UserId{5}}}).changed);
}

// Two devices change a list that each has read some time ago. With If-Match a change is made to
// what the device has seen, or not at all. Without it changes of single authors are merged.
TEST(Mutes, OfTwoDevicesNeitherUndoesWhatTheOtherDid) {
  fanline::testing::Seeded random;
  Mutes row, seen[2];
  std::set<UserId> model;
  for (int step = 0; step < 10'000; ++step) {
    Mutes& device = seen[random.Below(2)];
    if (random.OneIn(3)) {
      device = row;  // it reads
      continue;
    }
    ChangeMutes change{.user = kUser, .unix_us = random.Below(1'000)};
    const UserId author{1 + random.Below(20)};
    if (random.OneIn(3)) {
      change.what = What::kReplace;
      change.authors = device.authors;
      change.authors.push_back(author);
      if (random.OneIn(2)) change.authors.erase(change.authors.begin());
      change.expected = device.version;
    } else {
      change.what = random.OneIn(2) ? What::kMute : What::kUnmute;
      change.authors = {author};
      if (random.OneIn(2)) change.expected = device.version;
    }
    const MutesChanged changed = Decide(row, change);
    const bool changes = After(row, change).authors != row.authors;
    ASSERT_EQ(changed.conflicts, changes && change.expected && device != row);
    ASSERT_TRUE(!changed.changed || changed.now.version > row.version);
    if (!changed.conflicts) {
      if (change.what == What::kReplace) {
        model = {change.authors.begin(), change.authors.end()};
      } else if (change.what == What::kMute) {
        model.insert(author);
      } else {
        model.erase(author);
      }
    }
    device = row = changed.now;
    ASSERT_EQ(row.authors, std::vector<UserId>(model.begin(), model.end()));
  }
}

}  // namespace
}  // namespace fanline
