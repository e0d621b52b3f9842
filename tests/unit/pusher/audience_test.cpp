// Who of a range is offered to Redis: the set of readers with a timeline, and the news it rests on.
#include "pusher/units/audience.h"

#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

constexpr uint64_t kIndex = 3;
constexpr UserId kBob{1};
constexpr UserId kCid{2};
using Units = std::vector<uint64_t>;

struct AudienceTest : ::testing::Test {
  // Makes the call that is due, and answers it.
  Units Hear(std::vector<NewsRead::Announced> announced, uint64_t last, uint64_t readers = 2) {
    asked = audience.Ask(9, 0, 5, kLimit);
    return audience.On({.id = 9,
                        .index = kIndex,
                        .last = last,
                        .readers = readers,
                        .announced = std::move(announced)});
  }

  // The first chain of a claim: nobody is listed.
  void Fill() {
    audience.Need(100);
    Hear({}, 0, 0);
  }

  static constexpr uint32_t kLimit = 2;
  MutationSwitches guards;
  Audience audience{kIndex, guards};
  ReadNews asked;
};

TEST_F(AudienceTest, AsksOnlyForAUnitAndGoesOnBehindWhatItHasHeard) {
  EXPECT_FALSE(audience.due());
  audience.Need(1);
  ASSERT_TRUE(audience.due());
  EXPECT_EQ(Hear({{kBob, 4}}, 7), Units{1});
  EXPECT_EQ(asked.heard, 0u);
  EXPECT_TRUE(audience.holds(kBob));
  EXPECT_FALSE(audience.holds(kCid));
  EXPECT_FALSE(audience.due());

  audience.Need(2);
  EXPECT_EQ(Hear({{kCid, 8}}, 8), Units{2});
  EXPECT_EQ(asked.heard, 7u);
  EXPECT_TRUE(audience.holds(kBob));
  EXPECT_TRUE(audience.holds(kCid));
}

TEST_F(AudienceTest, AUnitIsNotServedByNewsThatWereAskedForBeforeItCame) {
  audience.Need(1);
  audience.Ask(9, 0, 5, kLimit);
  audience.Need(2);
  EXPECT_FALSE(audience.due()) << "one call at a time";
  EXPECT_EQ(audience.On({.id = 9, .index = kIndex, .last = 1}), Units{1});
  EXPECT_TRUE(audience.due());
  EXPECT_EQ(Hear({}, 1), Units{2});
}

// Redis was put back to an earlier moment behind our connection, and gives its numbers out again.
TEST_F(AudienceTest, NewsOfAnEarlierMomentAreForeign) {
  audience.Need(1);
  Hear({{kBob, 4}}, 7);
  EXPECT_FALSE(audience.Foreign({.id = 9, .index = kIndex, .last = 7}));
  EXPECT_TRUE(audience.Foreign({.id = 9, .index = kIndex, .last = 6}));
}

TEST_F(AudienceTest, UntilTheIndexIsReadEverybodyMayBeLiveAndNobodyWaits) {
  audience.Need(1);
  EXPECT_EQ(Hear({{kBob, 4}, {kCid, 6}}, 9), Units{1});
  EXPECT_TRUE(audience.holds(UserId{3})) << "not named yet";
  audience.Need(2);
  EXPECT_EQ(Hear({{UserId{3}, 9}}, 9), Units{2});
  EXPECT_EQ(asked.heard, 6u);
  EXPECT_TRUE(audience.holds(UserId{3}));
  EXPECT_FALSE(audience.holds(UserId{4}));
}

TEST_F(AudienceTest, ACallThatFailsWhileTheIndexIsReadEndsNothing) {
  audience.Need(1);
  Hear({{kBob, 4}, {kCid, 6}}, 9);
  audience.Need(2);
  audience.Ask(9, 0, 5, kLimit);
  EXPECT_EQ(audience.On({.id = 9, .status = Status::Later("redis", "BUSY")}), Units{2});
  EXPECT_TRUE(audience.holds(UserId{3})) << "not named yet";
  audience.Need(2);
  EXPECT_EQ(Hear({{UserId{3}, 9}}, 9), Units{2});
  EXPECT_EQ(asked.heard, 6u);
}

TEST_F(AudienceTest, AUnitWaitsUntilNoMoreNewsAreThere) {
  Fill();
  audience.Need(1);
  EXPECT_EQ(Hear({{kBob, 4}, {kCid, 6}}, 9), Units{});
  ASSERT_TRUE(audience.due());
  EXPECT_EQ(Hear({{UserId{3}, 9}}, 9), Units{1});
  EXPECT_EQ(asked.heard, 6u);
  EXPECT_EQ(audience.size(), 3u);
}

TEST_F(AudienceTest, AfterAFailureItsUnitsAskAgainBehindWhatWasHeard) {
  Fill();
  audience.Need(1);
  Hear({{kBob, 4}, {kCid, 6}}, 9);
  audience.Ask(9, 0, 5, kLimit);
  EXPECT_EQ(audience.On({.id = 9, .status = Status::Later("redis", "BUSY")}), Units{1});
  EXPECT_FALSE(audience.due());
  audience.Need(1);
  EXPECT_EQ(Hear({}, 9), Units{1});
  EXPECT_EQ(asked.heard, 6u);
}

TEST_F(AudienceTest, AWriteThatFindsNoTimelineTellsOnlyOfWhatWasBegunBeforeIt) {
  audience.Need(1);
  Hear({{kBob, 4}}, 4);
  const uint64_t heard = audience.heard();
  audience.Need(2);
  Hear({{kBob, 5}}, 5);
  audience.NotLive(kBob, heard);
  EXPECT_TRUE(audience.holds(kBob)) << "begun again since";
  audience.NotLive(kBob, audience.heard());
  EXPECT_FALSE(audience.holds(kBob));
}

TEST_F(AudienceTest, ASetTwiceAsLongAsTheIndexIsFilledAnew) {
  for (uint64_t id = 1; id <= 1'100; id += 2) {
    audience.Need(1);
    Hear({{UserId{id}, id}, {UserId{id + 1}, id + 1}}, id + 1, 0);
    Hear({}, id + 1, 0);
  }
  EXPECT_LT(audience.size(), 1'100u) << "nobody is listed any more";
  audience.Need(1);
  Hear({{kBob, 2'000}}, 2'000, 1);
  EXPECT_TRUE(audience.holds(kBob));
}

TEST_F(AudienceTest, TheOldSetServesUntilTheNewOneIsWhole) {
  Fill();
  for (uint64_t id = 1; id <= 1'026; id += 2) {
    audience.Need(1);
    Hear({{UserId{id}, id}, {UserId{id + 1}, id + 1}}, id + 1, 0);
    if (id + 1 < 1'026) Hear({}, id + 1, 0);
  }
  Hear({}, 1'026, 0);
  ASSERT_EQ(audience.size(), 1'026u);
  audience.Need(1);
  EXPECT_EQ(Hear({{UserId{7}, 7}, {UserId{8}, 8}}, 1'026, 3), Units{});
  EXPECT_EQ(asked.heard, 0u);
  EXPECT_TRUE(audience.holds(kBob));
  EXPECT_EQ(Hear({{UserId{9}, 9}}, 1'026, 3), Units{1});
  EXPECT_FALSE(audience.holds(kBob));
  EXPECT_EQ(audience.size(), 3u);
  EXPECT_EQ(audience.heard(), 1'026u);
}

// ---- in a pusher --------------------------------------------------------------------------------

TEST(AudienceOfAPusher, AReaderWhoCameAfterTheHintWasTakenIsNotPassedOver) {
  BobsWorld w;
  const UserId cid = ReaderIn(0, 1);
  w.Follow(cid, kAnn);
  w.hold_news = true;
  w.Post();
  w.Step();
  w.AnswerTruth();
  w.Step();
  EXPECT_TRUE(w.timeline_calls.empty()) << "written before the news came";
  w.redis.Begin(cid, "t");  // it read the truth before the post
  w.redis.Finish(cid, "t", {}, kNoFloor);
  w.hold_news = false;
  w.RunUntilIdle();
  EXPECT_EQ(w.Items(cid), std::vector<PostId>{kPost});
}

// The first posts after a takeover do not stand behind the indexes of all ranges.
TEST(AudienceOfAPusher, IndexesAreReadOneAfterTheOtherOnceNobodyWaitsForThem) {
  World w({.news_per_call = 3, .news_at_first = 2});
  w.AssignAll();
  for (const Range range : {0, 1}) {
    for (int reader = 0; reader < 6; ++reader) w.MakeLive(ReaderIn(range, reader));
    w.Give(range, Hint::OfPost(kAnn, kPost));
  }
  w.hold_news = true;
  const auto asked = [&] {
    w.Step();
    std::vector<std::pair<Range, uint32_t>> calls;
    for (const ReadNews& call : w.news_calls) calls.emplace_back(call.range, call.limit);
    w.AnswerNews();
    return calls;
  };
  using Calls = std::vector<std::pair<Range, uint32_t>>;
  EXPECT_EQ(asked(), (Calls{{0, 2}, {1, 2}})) << "posts wait for them";
  for (const Range range : {0, 0, 1, 1}) EXPECT_EQ(asked(), (Calls{{range, 3}}));
  EXPECT_EQ(asked(), Calls{});
}

TEST(AudienceOfAPusher, NewsThatRedisRefusesParkTheUnit) {
  BobsWorld w;
  w.hold_news = true;
  w.Post();
  w.Step();
  w.AnswerTruth();
  ASSERT_EQ(w.news_calls.size(), 1u);
  w.inbox.emplace_back(
      NewsRead{.id = w.news_calls.at(0).id, .status = Status::Later("redis", "BUSY")});
  w.news_calls.clear();
  w.Step();
  EXPECT_EQ(w.metrics.held.units_parked, 1u);
  w.hold_news = false;
  w.RunFor(std::chrono::seconds(1));
  EXPECT_EQ(w.Items(w.bob), std::vector<PostId>{kPost});
}

TEST(AudienceOfAPusher, AnIndexThatIsGoneHasTheRangeTakenOverAgain) {
  BobsWorld w;
  w.redis.ForgetIndex(0);
  w.Post();
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.takeovers.back(), TakeoverCause::kRolledBack);
  w.Push(0, Hint::OfPost(kAnn, kPost));  // the log is read again
  EXPECT_EQ(w.Items(w.bob), std::vector<PostId>{kPost});
}

}  // namespace
}  // namespace fanline::pusher
