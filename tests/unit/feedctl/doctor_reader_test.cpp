// What feedctl doctor USER makes of facts about one reader.
#include "feedctl/doctor/reader.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

std::string ToldOf(const ReaderFacts& facts, const std::string& name) {
  return Told(JudgeReader(facts), name);
}

TEST(Reader, WhoIsWellIsToldWhole) {
  const ReaderFacts facts = Reader();
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
  EXPECT_EQ(ToldOf(facts, "user 42"), "well: bucket 7, range 0, shard 1");
  EXPECT_THAT(ToldOf(facts, "follows"),
              AllOf(StartsWith("well: 3 users, 2 of them posted, 1 of them merged at read; the "
                               "last post at "),
                    HasSubstr("5.0 s ago")));
  EXPECT_EQ(ToldOf(facts, "state"), "well: live, 2 items, no floor: nothing older exists");
  EXPECT_THAT(ToldOf(facts, "newest items"), StartsWith("well: post 77, created "));
  EXPECT_EQ(ToldOf(facts, "compared"), "well: holds what the shards say");
  EXPECT_EQ(ToldOf(facts, "range 0"), "well: owned by fanline-pusher-h-1@h");
  EXPECT_EQ(ToldOf(facts, "lives for"), "well: 6,000 minutes more, unless it is read");
  EXPECT_EQ(ToldOf(facts, "counter"), "");
}

TEST(Reader, WhoHoldsARepostIsToldWhatItShowsAndWhyItIsNotSeen) {
  const Original original{PostId{70}, UserId{9}};
  ReaderFacts facts = Reader();
  facts.timeline.items = {{PostId{78}, kNow, UserId{3}, original}};
  const auto told = [&] { return ToldOf(facts, "newest items"); };
  EXPECT_THAT(told(), AllOf(StartsWith("well: repost 78, created "),
                            EndsWith("of author 3, shows post 70 of author 9")));
  facts.originals[original] = std::nullopt;
  EXPECT_THAT(told(), EndsWith("of author 9, which may be gone: its shard does not answer"));
  facts.originals[original] = PostState{.created_at = kNow - 10};
  EXPECT_THAT(told(), EndsWith("shows post 70 of author 9"));
  facts.originals[original]->hidden = true;
  EXPECT_THAT(told(), EndsWith("of author 9, which is hidden: no page shows it"));
  facts.originals[original]->deleted = true;
  EXPECT_THAT(told(), EndsWith("of author 9, which is deleted: no page shows it"));
  facts.originals[original] = PostState{};
  EXPECT_THAT(told(), EndsWith("of author 9, which is not published: no page shows it"));
  facts.no_reposts = 1;
  EXPECT_THAT(ToldOf(facts, "follows"), StartsWith("well: 3 users, 1 of them without reposts, 2 "));
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
}

TEST(Reader, WhoseMutesAreDamagedSendsThemAnew) {
  ReaderFacts facts = Reader();
  EXPECT_EQ(ToldOf(facts, "mutes"), "");
  facts.mutes_damaged = true;
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 1);
  EXPECT_THAT(ToldOf(facts, "mutes"), StartsWith("look: the row of user 42 in the table mute"));
}

TEST(Reader, WithAFloorIsCompleteAboveIt) {
  ReaderFacts facts = Reader();
  facts.timeline.floor = kNow - 86'400'000;
  facts.timeline.marks.authors = {UserId{3}};
  EXPECT_THAT(ToldOf(facts, "state"),
              AllOf(HasSubstr("complete above 2023-11-13"), HasSubstr("1 author merged at read")));
}

TEST(Reader, WhoFollowsMoreThanCanBeReadIsComparedWithoutPosts) {
  ReaderFacts facts = Reader();
  facts.judged = false;
  EXPECT_THAT(ToldOf(facts, "compared"),
              StartsWith("note: not with the shards: not all of their rows could be read"));
  facts.too_much = true;
  EXPECT_THAT(ToldOf(facts, "compared"), StartsWith("note: except its posts"));
  facts.differences = {{.reader = facts.user, .kind = audit::Kind::kTooFew, .held = 4}};
  EXPECT_THAT(ToldOf(facts, "compared"),
              AllOf(StartsWith("look: "), HasSubstr("holds 4 items only")));
}

TEST(Reader, WhoIsNotLiveIsNoFault) {
  ReaderFacts facts = Reader();
  facts.timeline = {};
  facts.judged = false;
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 0);
  EXPECT_THAT(ToldOf(facts, "state"), AllOf(StartsWith("note: not live"), Not(HasSubstr("->"))));
  facts.timeline.state = TimelineState::kBuilding;
  EXPECT_THAT(ToldOf(facts, "state"), StartsWith("note: being made live"));
}

TEST(Reader, WhomPushesPassOverIsToBeLookedAt) {
  const struct {
    const char* name;
    std::function<void(ReaderFacts&)> change;
    const char* told;
  } kTable[] = {
      {"state", [](ReaderFacts& facts) { facts.timeline.problem = "WRONGTYPE"; },
       "look: the key is not a timeline: WRONGTYPE -> feedctl audit --repair"},
      {"index", [](ReaderFacts& facts) { facts.indexed = false; },
       "look: not named: pushes skip it -> feedctl audit --repair"},
      {"lives for", [](ReaderFacts& facts) { facts.ttl.reset(); },
       "look: ever: it has no TTL -> feedctl audit --repair"},
      {"range 0", [](ReaderFacts& facts) { facts.owner.reset(); },
       "look: nobody owns it -> feedctl ranges"},
      // The group is being shared out anew.
      {"range 0", [](ReaderFacts& facts) { facts.owner.reset(), facts.owner_known = false; },
       "note: who owns it is not known just now"},
      {"counter", [](ReaderFacts& facts) { facts.counts.following = 4; },
       "look: says that the user follows 4 -> feedctl relations counters --repair 42"},
      {"hints",
       [](ReaderFacts& facts) {
         facts.owner.reset();
         facts.hints_waiting.reset();
         facts.tasks_exist = false;
       },
       "look: there is no topic of the installation's hints -> feedctl topics create"},
  };
  for (const auto& [name, change, told] : kTable) {
    ReaderFacts facts = Reader();
    change(facts);
    EXPECT_EQ(ToldOf(facts, name), told);
    EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), std::string(told).starts_with("look") ? 1 : 0);
  }
}

TEST(Reader, WhoMissesAPostMayWaitForAHint) {
  ReaderFacts facts = Reader();
  audit::Difference missing{.reader = facts.user, .kind = audit::Kind::kMissing};
  missing.item = {PostId{78}, kNow, UserId{9}};
  facts.differences = {missing};
  EXPECT_THAT(ToldOf(facts, "compared"),
              AllOf(StartsWith("look: 1 difference: "), HasSubstr("post 78"),
                    HasSubstr("of author 9"), HasSubstr("-> feedctl audit --repair")));
  facts.hints_waiting = 3;
  EXPECT_THAT(ToldOf(facts, "compared"), HasSubstr("-> hints wait"));
}

TEST(Reader, IsToldAsFarAsServicesAnswer) {
  ReaderFacts facts = Reader();
  facts.truth_away = {"cannot reach shard 1", "start it"};
  facts.redis_away = {"cannot reach Redis", "start Redis"};
  facts.kafka_away = {"cannot reach Kafka", "start Kafka"};
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 69);
  EXPECT_EQ(ToldOf(facts, "truth"), "away: cannot reach shard 1 -> start it");
  EXPECT_EQ(ToldOf(facts, "Redis"), "away: cannot reach Redis -> start Redis");
  EXPECT_EQ(ToldOf(facts, "Kafka"), "away: cannot reach Kafka -> start Kafka");
  EXPECT_EQ(ToldOf(facts, "state"), "");
}

TEST(Reader, WhoFollowsSomebodyOfAShardThatIsAwayIsToldAllElse) {
  ReaderFacts facts = Reader();
  facts.posts_away = {"cannot reach shard 0", "start it"};
  facts.followed.clear();
  facts.judged = false;
  EXPECT_EQ(ExitCodeOf(JudgeReader(facts)), 69);
  EXPECT_EQ(ToldOf(facts, "follows"), "well: 3 users");
  EXPECT_EQ(ToldOf(facts, "their posts"), "away: cannot reach shard 0 -> start it");
  EXPECT_EQ(ToldOf(facts, "followers"), "well: 9");
  EXPECT_THAT(ToldOf(facts, "state"), StartsWith("well: live, 2 items"));
  EXPECT_THAT(ToldOf(facts, "compared"), StartsWith("note: "));
}

TEST(Reader, OfWhomNoShardTellsIsPlacedInABucketAlone) {
  EXPECT_EQ(Told(JudgeUnplaced(UserId{42}, {{.installed = false}})),
            "note: bucket " + std::to_string(BucketOf(UserId{42})) +
                "; the rest is not known before feedctl init");
}

}  // namespace
}  // namespace fanline::feedctl
