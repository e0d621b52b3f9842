// What feedctl doctor USER makes of facts about one reader.
#include "feedctl/doctor/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/checks.h"

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr UnixMs kNow = 1'700'000'000'000;

ReaderFacts Reader() {
  ReaderFacts facts{.user = UserId{42}, .shard = 1, .bucket = 7, .range = 0, .now = kNow};
  facts.known = {true, true};
  facts.follows = 3;
  facts.counts = {3, 9};
  facts.followed = {{UserId{1}, kNow - 5'000}, {UserId{2}, 0}, {UserId{3}, kNow - 60'000, true}};
  facts.state = Served(0);
  facts.timeline.reader = facts.user;
  facts.timeline.state = TimelineState::kReady;
  facts.timeline.items = {{PostId{77}, kNow - 5'000}, {PostId{76}, kNow - 9'000}};
  facts.ttl = std::chrono::hours(100);
  facts.judged = true;
  facts.owner = kafka::GroupOwner{"fanline-pusher-h-1", "h"};
  facts.hints_waiting = 0;
  return facts;
}

TEST(Reader, WhoIsWellIsToldWhole) {
  const Checks checks = JudgeReader(Reader());
  EXPECT_EQ(ExitCodeOf(checks), 0);
  EXPECT_EQ(TextOf(checks, "user 42"), "bucket 7, range 0, MariaDB shard 1");
  EXPECT_THAT(TextOf(checks, "follows"),
              HasSubstr("3 users, 2 of them posted, 1 of them merged at read; the last post at "));
  EXPECT_THAT(TextOf(checks, "follows"), HasSubstr("5.0 s ago"));
  EXPECT_THAT(TextOf(checks, "state"), HasSubstr("live, 2 items, no floor: nothing older exists"));
  EXPECT_THAT(TextOf(checks, "newest items"), HasSubstr("post 77, created "));
  EXPECT_EQ(TextOf(checks, "compared"), "holds what the shards say");
  EXPECT_EQ(TextOf(checks, "range 0"), "owned by fanline-pusher-h-1@h");
  EXPECT_EQ(TextOf(checks, "lives for"), "6,000 minutes more, unless it is read");
  EXPECT_EQ(Find(checks, "counter"), nullptr);
}

TEST(Reader, WithAFloorIsCompleteAboveIt) {
  ReaderFacts facts = Reader();
  facts.timeline.floor = kNow - 86'400'000;
  facts.timeline.marks.authors = {UserId{3}};
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("complete above 2023-11-13"));
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("1 author merged at read"));
}

TEST(Reader, WhoFollowsMoreThanCanBeReadIsComparedWithoutPosts) {
  ReaderFacts facts = Reader();
  facts.judged = false;
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"),
              HasSubstr("not all of their rows could be read"));
  EXPECT_EQ(LevelOf(JudgeReader(facts), "compared"), Level::kNote);
  facts.too_much = true;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "compared"), Level::kNote);
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("except its posts"));
  facts.differences = {{.reader = facts.user, .kind = audit::Kind::kTooFew, .held = 4}};
  EXPECT_EQ(LevelOf(JudgeReader(facts), "compared"), Level::kLook);
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("holds 4 items only"));
}

TEST(Reader, WhoIsNotLiveIsNoFault) {
  ReaderFacts facts = Reader();
  facts.timeline = {};
  facts.judged = false;
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("not live"));
  EXPECT_EQ(Find(JudgeReader(facts), "state")->advice, "") << "nothing is to be done";
  facts.timeline.state = TimelineState::kBuilding;
  EXPECT_THAT(TextOf(JudgeReader(facts), "state"), HasSubstr("being made live"));
}

TEST(Reader, WhoseKeyIsNoTimelineIsToBeLookedAt) {
  ReaderFacts facts = Reader();
  facts.timeline.problem = "WRONGTYPE";
  EXPECT_EQ(LevelOf(JudgeReader(facts), "state"), Level::kLook);
}

TEST(Reader, WhomPushesPassOverIsToBeLookedAt) {
  ReaderFacts facts = Reader();
  facts.indexed = false;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "index"), Level::kLook);
  facts = Reader();
  facts.ttl.reset();
  EXPECT_EQ(LevelOf(JudgeReader(facts), "lives for"), Level::kLook);
  facts = Reader();
  facts.owner.reset();
  EXPECT_EQ(LevelOf(JudgeReader(facts), "range 0"), Level::kLook);
  facts = Reader();
  facts.counts.following = 4;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "counter"), Level::kLook);
}

TEST(Reader, WhoseRangeIsBeingSharedOutIsNoFault) {
  ReaderFacts facts = Reader();
  facts.owner.reset();
  facts.owner_known = false;
  EXPECT_EQ(LevelOf(JudgeReader(facts), "range 0"), Level::kNote);
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
}

TEST(Reader, WithoutATopicOfHintsIsNotToldThatKafkaIsAway) {
  ReaderFacts facts = Reader();
  facts.owner.reset();
  facts.hints_waiting.reset();
  facts.tasks_exist = false;
  const Checks checks = JudgeReader(facts);
  EXPECT_EQ(ExitCodeOf(checks), 1);
  EXPECT_EQ(LevelOf(checks, "hints"), Level::kLook);
  EXPECT_EQ(Find(checks, "hints")->advice, "feedctl topics create");
  EXPECT_EQ(Find(checks, "range 0"), nullptr) << "nobody can own it";
}

TEST(Reader, WhoMissesAPostMayWaitForAHint) {
  ReaderFacts facts = Reader();
  audit::Difference missing{.reader = facts.user, .kind = audit::Kind::kMissing};
  missing.item = {PostId{78}, kNow};
  facts.differences = {missing};
  EXPECT_EQ(LevelOf(JudgeReader(facts), "compared"), Level::kLook);
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("1 difference: "));
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), HasSubstr("post 78"));
  EXPECT_THAT(TextOf(JudgeReader(facts), "compared"), Not(HasSubstr("author")));
  EXPECT_THAT(Find(JudgeReader(facts), "compared")->advice, HasSubstr("audit --repair"));
  facts.hints_waiting = 3;
  EXPECT_THAT(Find(JudgeReader(facts), "compared")->advice, HasSubstr("hints wait"));
}

TEST(Reader, IsToldAsFarAsServicesAnswer) {
  ReaderFacts facts = Reader();
  facts.truth_away = {"cannot reach MariaDB shard 1", "start it"};
  facts.redis_away = {"cannot reach Redis", "start Redis"};
  facts.kafka_away = {"cannot reach Kafka", "start Kafka"};
  const Checks checks = JudgeReader(facts);
  EXPECT_EQ(ExitCodeOf(checks), 69);
  EXPECT_EQ(LevelOf(checks, "truth"), Level::kAway);
  EXPECT_EQ(LevelOf(checks, "Redis"), Level::kAway);
  EXPECT_EQ(LevelOf(checks, "Kafka"), Level::kAway);
  EXPECT_EQ(Find(checks, "Redis")->advice, "start Redis");
  EXPECT_EQ(Find(checks, "state"), nullptr);
}

TEST(Reader, WhoFollowsSomebodyOfAShardThatIsAwayIsToldAllElse) {
  ReaderFacts facts = Reader();
  facts.posts_away = {"cannot reach MariaDB shard 0", "start it"};
  facts.followed.clear();
  facts.judged = false;
  const Checks checks = JudgeReader(facts);
  EXPECT_EQ(ExitCodeOf(checks), 69);
  EXPECT_EQ(TextOf(checks, "follows"), "3 users");
  EXPECT_EQ(LevelOf(checks, "their posts"), Level::kAway);
  EXPECT_EQ(TextOf(checks, "followers"), "9");
  EXPECT_THAT(TextOf(checks, "state"), HasSubstr("live, 2 items"));
  EXPECT_EQ(LevelOf(checks, "compared"), Level::kNote);
}

TEST(Reader, OfWhomNoShardTellsIsPlacedInABucketAlone) {
  const Check check = JudgeUnplaced(UserId{42}, {{.installed = false}});
  EXPECT_EQ(check.level, Level::kNote);
  EXPECT_EQ(check.text, "bucket " + std::to_string(BucketOf(UserId{42})) +
                            "; the rest is not known before feedctl init");
}

}  // namespace
}  // namespace fanline::feedctl
