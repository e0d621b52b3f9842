// Guards 3 and 4 on a real Redis: fencing by epoch, positions, sessions, resets, and what the
// adapter does when the node goes away.

#include <gtest/gtest.h>

#include "backends/redis/client/scripts.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/installation_mark.h"
#include "backends/redis/key_sweeper.h"
#include "tests/integration/redis/timelines_world.h"
#include "tests/support/temporary_file.h"

namespace fanline::redis::testing {
namespace {

constexpr Item kPost{PostId{77}, 1'700'000'000'000, UserId{500}};

using Timelines = ResetRange::Timelines;

class RedisOwnership : public RedisRange {
 protected:
  RedisOwnership() : RedisRange(Quick()) {}

  static Options Quick() {
    Options options = OptionsFromEnvironment();
    options.heartbeat = std::chrono::milliseconds(20);
    return options;
  }
  RangeClaimed Claim(uint64_t epoch) { return driver_.Do(ClaimRange{0, range_, epoch}); }
  RangeReset Reset(uint64_t epoch, Timelines timelines, AppliedPosition position) {
    return driver_.Do(ResetRange{0, range_, epoch, timelines, position});
  }
  BatchWritten Push(uint64_t epoch) {
    return driver_.Do(BatchOf(range_, epoch).Write(kBob, {kPost}).Take());
  }
  std::string Get(const Key& key) { return console_.Run({"GET", Name(key)}); }
  // As user fanline, until ~RedisOwnership: may do all but this.
  Options As(const std::string& password, const std::string& forbidden = "+@all") {
    console_.Run({"ACL", "SETUSER", "fanline", "on", ">" + password, "~*", "+@all", forbidden});
    Options named = options_;
    named.username = "fanline";
    named.password.text = password;
    return named;
  }
  ~RedisOwnership() override { console_.Run({"ACL", "DELUSER", "fanline"}); }
};

// ---- claims and the fence -------------------------------------------------------------------

TEST_F(RedisOwnership, EpochsAreComparedAsNumbers) {
  EXPECT_EQ(Claim(9).refused_by, 0u);
  EXPECT_EQ(Claim(10).refused_by, 0u);
  EXPECT_EQ(Claim(9'007'199'254'740'991).refused_by, 0u);
  EXPECT_EQ(Claim(9'007'199'254'740'990).refused_by, 9'007'199'254'740'991u);
}

TEST_F(RedisOwnership, AWriterWithAHigherEpochRaisesTheOwner) {
  Claim(5);
  Build(kBob);
  EXPECT_EQ(Push(8).results, std::vector<int8_t>{1});
  EXPECT_EQ(Get(keys_.Own(range_)), "8");
}

// ---- positions ------------------------------------------------------------------------------

TEST_F(RedisOwnership, ANewOwnerLearnsWhatIsBegun) {
  const AppliedPosition begun{1, 100, {{100, 2, 12'345, kBob, true}, {107, 1, 9, kBob, false}}};
  Claim(5);
  Reset(5, Timelines::kLeave, {1, 100});
  EXPECT_FALSE(driver_.Do(SavePosition{0, range_, 5, {1, 100}, begun}).mismatch);
  EXPECT_TRUE(driver_.Do(SavePosition{0, range_, 5, {1, 100}, {1, 101}}).mismatch);
  EXPECT_EQ(Claim(6).position, begun);
  Reset(6, Timelines::kLeave, begun);
  EXPECT_FALSE(driver_.Do(SavePosition{0, range_, 6, begun, {1, 101}}).mismatch);
  EXPECT_EQ(Get(keys_.Pos(range_)), "1.16:101");
}

TEST_F(RedisOwnership, APageSaysHowFarItsRangeIs) {
  const auto as_of = [&] {
    const LivePage page = Page(kBob);
    EXPECT_EQ(page.state, TimelineState::kReady);
    return page.as_of;
  };
  Claim(5);
  Reset(5, Timelines::kLeave, {1, 100});
  Build(kBob);
  EXPECT_EQ(as_of(), 0);
  EXPECT_FALSE(driver_.Do(SavePosition{0, range_, 5, {1, 100}, {1, 100, {}, 1'234}}).mismatch);
  EXPECT_EQ(as_of(), 1'234);
  EXPECT_EQ(Claim(6).position, (AppliedPosition{1, 100, {}, 1'234}));
  console_.Run({"DEL", Name(keys_.Pos(range_))});
  EXPECT_EQ(as_of(), 0);
  console_.Run({"SADD", Name(keys_.Pos(range_)), "no string"});
  EXPECT_EQ(as_of(), 0);
}

// ---- resets ---------------------------------------------------------------------------------

TEST_F(RedisOwnership, AResetDropsWhatTheIndexDoesNotKnow) {
  Claim(5);
  Build(kBob);
  console_.Run({"ZREM", Name(keys_.Live(range_)), ToString(kBob)});  // a lost index entry
  console_.Run({"ZADD", Name(keys_.Live(range_)), "7", "4711"});     // a stale one
  const RangeReset reset = Reset(5, Timelines::kDrop, {1, 10});
  EXPECT_EQ(reset.dropped, 1u);
  EXPECT_FALSE(Exists(kBob));
  EXPECT_EQ(console_.Run({"ZRANGE", Name(keys_.Live(range_)), "0", "-1", "WITHSCORES"}),
            "#complete -5");
  EXPECT_EQ(Get(keys_.Pos(range_)), "1.16:10");
}

// A key that is deleted forgets what the walk listed: such an index must not count as complete.
TEST_F(RedisOwnership, AnIndexDeletedDuringAResetNeverEndsAsComplete) {
  const std::string own = Name(keys_.Own(range_)), live = Name(keys_.Live(range_));
  const std::string maxfloor = Name(keys_.MaxFloor(range_)), pos = Name(keys_.Pos(range_));
  const auto begin = [&](bool drops) {
    std::vector<std::string> words{"EVAL", TextOf(Script::kResetBegin), drops ? "5" : "4"};
    for (const auto& key : {own, live, maxfloor, Name(keys_.Nowhere(range_))}) words.push_back(key);
    if (drops) words.push_back(pos);
    for (const char* argument : {"5", "1"}) words.push_back(argument);
    return console_.Run(words);
  };
  const auto end = [&] {
    return console_.Run(
        {"EVAL", TextOf(Script::kResetEnd), "4", own, pos, live, maxfloor, "5", "1.16:10"});
  };
  Claim(5);
  for (const bool drops : {false, true}) {
    EXPECT_EQ(begin(drops), "1");
    console_.Run({"ZADD", live, "1", "1001"});  // listed by the walk, or by a rebuild
    console_.Run({"DEL", live});
    console_.Run({"DEL", Name(keys_.Timeline(UserId{1001}))});
    Build(UserId{1001});  // the key is there again
    EXPECT_EQ(end(), "0");
    EXPECT_FALSE(Lists(keys_.Live(range_), "#complete"));
    EXPECT_EQ(Get(keys_.Pos(range_)), "(nil)");
    EXPECT_EQ(Get(keys_.MaxFloor(range_)), "?0");
  }
  EXPECT_EQ(begin(true), "1");
  EXPECT_EQ(end(), "1");
  EXPECT_EQ(end(), "1") << "repeated";
  EXPECT_EQ(console_.Run({"ZRANGE", live, "0", "-1"}), "#complete");
  EXPECT_EQ(Get(keys_.Pos(range_)), "1.16:10");
}

TEST_F(RedisOwnership, AResetLeavesOtherRangesAndDeliveryMarksAlone) {
  UserId other{};
  for (uint64_t raw = 1; Raw(other) == 0; ++raw) {
    if (keys_.layout().RangeOf(UserId{raw}) != range_) other = UserId{raw};
  }
  Claim(5);
  Build(kBob);
  Build(other);
  driver_.Do(MarkPart{0, kBob, PostId{9}, 0, 1, true});
  EXPECT_EQ(Reset(5, Timelines::kDrop, {1, 0}).dropped, 1u);
  EXPECT_EQ(console_.Run({"EXISTS", Name(keys_.Timeline(other))}), "1");
  EXPECT_TRUE(IsListed(other));
  EXPECT_EQ(console_.Run({"EXISTS", Name(keys_.Done(kBob, PostId{9}))}), "1");
}

// Timelines made when the buckets were cut into other ranges: nobody would ever push to them.
TEST_F(RedisOwnership, AResetDropsWhatIsNotOfTheRange) {
  Options of_before = options_;
  of_before.partitions = 4;
  BlockingTimelines reader_of_before(of_before);
  const Keys before(of_before);
  // The range whose tag Bob's timeline had; Bob's own is another one.
  const Range range = keys_.layout().RangeOf(before.layout().First(before.layout().RangeOf(kBob)));
  ASSERT_NE(range, range_);
  UserId native{};
  for (uint64_t raw = 1; Raw(native) == 0; ++raw) {
    if (keys_.layout().RangeOf(UserId{raw}) == range) native = UserId{raw};
  }
  const std::string stray = Name(before.Timeline(kBob));
  uint64_t epoch = 5;
  for (const Timelines timelines : {Timelines::kIndex, Timelines::kDrop}) {
    console_.Run({"DEL", Name(keys_.Pos(range))});
    Open(reader_of_before);
    Build(native);
    driver_.Do(ClaimRange{0, range, ++epoch});
    const auto reset = driver_.Do(ResetRange{0, range, epoch, timelines, AppliedPosition{1, 0}});
    const bool kept = timelines == Timelines::kIndex;
    EXPECT_EQ(reset.dropped, kept ? 1u : 2u);
    EXPECT_EQ(console_.Run({"EXISTS", stray}), "0");
    EXPECT_FALSE(Lists(keys_.Live(range), ToString(kBob)));
    EXPECT_EQ(console_.Run({"EXISTS", Name(keys_.Timeline(native))}), kept ? "1" : "0");
    EXPECT_EQ(IsListed(native), kept);
    console_.Run({"DEL", Name(keys_.Timeline(native))});
  }
}

TEST_F(RedisOwnership, NoTimelineIsMadeWhereAnotherGenerationWasServed) {
  Options next = options_;
  next.generation = 2;
  BlockingTimelines reader(next);
  Claim(5);
  Reset(5, Timelines::kDrop, {1, 400});
  EXPECT_EQ(reader.Begin(kBob, "t").begun, RebuildBegun::kRefused);
  EXPECT_FALSE(Exists(kBob));
  EXPECT_FALSE(IsListed(kBob));
  Claim(6);
  Reset(6, Timelines::kDrop, {2, 0});  // the range is served under the next one
  EXPECT_EQ(reader_.Begin(kBob, "t").begun, RebuildBegun::kRefused);
  Open(reader);
}

// Pushers of another number of ranges have keys of the same names for other readers.
TEST_F(RedisOwnership, AForeignPositionNeitherServesNorTakesTimelines) {
  uint64_t epoch = 5;
  Claim(epoch);
  Reset(epoch, Timelines::kDrop, {1, 0});
  for (const char* foreign : {"unreadable", "1.32:100"}) {
    console_.Run({"SET", Name(keys_.Pos(range_)), foreign});
    EXPECT_TRUE(driver_.Do(SavePosition{0, range_, epoch, {1, 100}, {1, 200}}).mismatch);
    const RangeClaimed claimed = Claim(++epoch);
    EXPECT_EQ(claimed.index, 5u);
    EXPECT_EQ(claimed.position, std::nullopt) << "missing: the range's timelines are dropped";
    EXPECT_EQ(reader_.Begin(kBob, "t").begun, RebuildBegun::kRefused);
  }
}

TEST_F(RedisOwnership, AnIndexOfAWrongTypeIsReplacedByTheReset) {
  uint64_t epoch = 5;
  for (const Timelines timelines : {Timelines::kIndex, Timelines::kDrop}) {
    console_.Run({"DEL", Name(keys_.Live(range_)), Name(keys_.Timeline(kBob))});
    Build(kBob);
    console_.Run({"SET", Name(keys_.Live(range_)), "no index"});
    const RangeClaimed claimed = Claim(++epoch);
    ASSERT_TRUE(claimed.status.done()) << claimed.status.message;
    EXPECT_EQ(claimed.index, 0u);
    const RangeReset reset = Reset(epoch, timelines, {1, 0});
    ASSERT_TRUE(reset.status.done()) << reset.status.message;
    const uint64_t completed_by = epoch;
    EXPECT_EQ(Claim(++epoch).index, completed_by);
    EXPECT_EQ(IsListed(kBob), timelines == Timelines::kIndex);
  }
}

TEST_F(RedisOwnership, ResetsOfManyRangesShareOneWalk) {
  for (Range range = 0; range < 16; ++range) driver_.Do(ClaimRange{0, range, 5});
  for (uint64_t raw = 1; raw <= 3000; ++raw) {
    console_.Run({"ZADD", Name(keys_.Timeline(UserId{raw})), "-inf", "T", "+inf", "F"});
  }
  const auto scans = [&] {
    const std::string stats = console_.Run({"INFO", "commandstats"});
    const size_t at = stats.find("cmdstat_scan:calls=");
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + 19));
  };
  console_.Run({"CONFIG", "RESETSTAT"});
  Replies<RangeReset> replies;
  for (Range range = 0; range < 16; ++range) {
    const auto id = 1000 + static_cast<uint64_t>(range);
    driver_.adapter().Submit(ResetRange{id, range, 5, Timelines::kDrop, AppliedPosition{1, 0}},
                             replies);
  }
  uint64_t dropped = 0;
  for (uint64_t id = 1000; id < 1016; ++id) dropped += replies.Await(id).dropped;
  EXPECT_EQ(dropped, 3000u);
  EXPECT_LE(scans(), 3 * 15);  // the first may walk alone; 16 walks would be 16 * 5 or so
}

// ---- sessions -------------------------------------------------------------------------------

TEST_F(RedisOwnership, NothingIsWrittenToARangeNotClaimedInThisSession) {
  EXPECT_TRUE(Push(5).needs_claim);
  Claim(5);
  EXPECT_FALSE(Push(5).needs_claim);
}

TEST_F(RedisOwnership, ALostConnectionVoidsEveryClaim) {
  Claim(5);
  Build(kBob);
  const size_t before = driver_.times_connected();
  console_.Run({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  BatchWritten written = Push(5);
  // The first answer may come from the dying connection; whichever, it asks for a claim.
  EXPECT_TRUE(written.needs_claim);
  EXPECT_TRUE(written.status.later());
  EXPECT_EQ(written.status.resource, "redis");
  driver_.WaitForConnection(before);
  EXPECT_TRUE(Push(5).needs_claim) << "also on the new connection";
  EXPECT_EQ(Claim(6).refused_by, 0u);
  EXPECT_FALSE(Push(6).needs_claim);
}

TEST_F(RedisOwnership, ATimeAsAReplicaVoidsEveryClaim) {
  Claim(5);
  const size_t before = driver_.times_connected();
  console_.Run({"REPLICAOF", "127.0.0.1", "1"});
  console_.Run({"REPLICAOF", "NO", "ONE"});  // and back before anybody asked
  driver_.WaitForConnection(before);
  EXPECT_TRUE(Push(5).needs_claim);
  EXPECT_EQ(Claim(6).refused_by, 0u);
}

TEST_F(RedisOwnership, AReplicaIsNotAccepted) {
  console_.Run({"REPLICAOF", "127.0.0.1", "1"});
  driver_.WaitUntilConnected(false);
  EXPECT_TRUE(Claim(5).status.later());
  console_.Run({"REPLICAOF", "NO", "ONE"});
  driver_.WaitUntilConnected();
  EXPECT_EQ(Claim(5).refused_by, 0u);
}

TEST_F(RedisOwnership, ACallWithoutAnAnswerInTimeEndsTheSession) {
  Options impatient = options_;
  impatient.command_timeout = std::chrono::milliseconds(150);
  impatient.heartbeat = std::chrono::seconds(60);
  Driver driver(impatient);
  driver.WaitUntilConnected();
  ASSERT_EQ(driver.Do(ClaimRange{0, range_, 20}).refused_by, 0u);
  console_.Run({"CLIENT", "PAUSE", "600", "ALL"});
  const auto written = driver.Do(BatchOf(range_, 20).Write(kBob, {kPost}).Take());
  EXPECT_TRUE(written.status.later());
  EXPECT_TRUE(written.needs_claim);
  EXPECT_NE(written.status.message.find("no reply in time"), std::string::npos)
      << written.status.message;
}

TEST_F(RedisOwnership, ForgottenScriptsAreLoadedAgain) {
  Claim(5);
  Build(kBob);
  console_.Run({"SCRIPT", "FLUSH"});
  EXPECT_EQ(Push(5).results, std::vector<int8_t>{1});
  console_.Run({"SCRIPT", "FLUSH"});
  EXPECT_EQ(Page(kBob).items.size(), 1u);
}

TEST_F(RedisOwnership, RequestsBeyondTheBoundAreAnsweredLater) {
  Options narrow = options_;
  narrow.max_requests = 4;
  Driver driver(narrow);
  driver.WaitUntilConnected();
  console_.Run({"CLIENT", "PAUSE", "100", "ALL"});
  Replies<RangeClaimed> replies;
  for (uint64_t id = 1; id <= 20; ++id) {
    driver.adapter().Submit(ClaimRange{id, range_, 100 + id}, replies);
  }
  size_t later = 0;
  for (uint64_t id = 1; id <= 20; ++id) later += replies.Await(id).status.later();
  EXPECT_EQ(later, 16u);
}

TEST_F(RedisOwnership, ANodeThatIsAwayIsNamedAndRequestsAreAnsweredAtOnce) {
  Options nowhere = options_;
  nowhere.seeds = {{"127.0.0.1", 1}};
  Driver driver(nowhere);
  const auto claimed = driver.Do(ClaimRange{0, range_, 5});
  EXPECT_TRUE(claimed.status.later());
  EXPECT_EQ(claimed.status.resource, "redis");
  EXPECT_NE(driver.WhyNotConnected(), "");
  BlockingTimelines reader(nowhere);
  EXPECT_TRUE(reader.Read(kBob).status.later());
}

TEST_F(RedisOwnership, CredentialsAreUsedAndNeverTold) {
  Options named = As("s3cret");
  Driver welcome(named);
  welcome.WaitUntilConnected();
  named.password.text = "s3cret-wrong";
  Driver refused(named);
  const auto claimed = refused.Do(ClaimRange{0, range_, 5});
  BlockingTimelines reader(named);
  const Status status = reader.Read(kBob).status;
  EXPECT_TRUE(claimed.status.later());
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.message.find("s3cret"), std::string::npos);
  EXPECT_EQ(claimed.status.message.find("s3cret"), std::string::npos);
}

TEST_F(RedisOwnership, ANewPasswordInTheFileHoldsFromTheNextConnectionOn) {
  const TemporaryFile file("s3cret-1\n");
  Options named = As("s3cret-1");
  named.password.file = file.path();
  named.reconnect = {.first = std::chrono::milliseconds(10), .most = std::chrono::milliseconds(20)};
  Driver driver(named);
  driver.WaitUntilConnected();
  BlockingTimelines reader(named);
  EXPECT_TRUE(reader.Read(kBob).status.done());

  console_.Run({"ACL", "SETUSER", "fanline", "resetpass", ">s3cret-2"});
  console_.Run({"CLIENT", "KILL", "USER", "fanline"});
  driver.WaitUntilConnected(false);
  file.Write("s3cret-2\n");
  driver.WaitUntilConnected();
  (void)reader.Read(kBob);  // finds its connection dead
  EXPECT_TRUE(reader.Read(kBob).status.done());
}

TEST_F(RedisOwnership, ACommandThatTheUserMayNotUseFailsTheBatchAndDropsNoTimeline) {
  ASSERT_TRUE(Claim(5).status.done());
  Build(kBob);
  Driver unable(As("s3cret", "-zadd"));
  unable.WaitUntilConnected();
  ASSERT_TRUE(unable.Do(ClaimRange{0, range_, 6}).status.done());
  const auto written = unable.Do(BatchOf(range_, 6).Write(kBob, {kPost}).Take());
  EXPECT_TRUE(written.status.later());
  EXPECT_TRUE(written.needs_claim) << "the session ends, so that it shows";
  EXPECT_TRUE(Exists(kBob));
}

TEST_F(RedisOwnership, APasswordThatCannotBeReadIsNamedByItsFile) {
  Options named = options_;
  named.password.file = "/nowhere/password";
  Driver driver(named);
  EXPECT_NE(driver.WhyNotConnected().find("the password's file /nowhere/password: cannot be read"),
            std::string::npos)
      << driver.WhyNotConnected();
  BlockingTimelines reader(named);
  EXPECT_NE(reader.Read(kBob).status.message.find("/nowhere/password"), std::string::npos);
}

// ---- whose keys -------------------------------------------------------------------------------

class RedisMark : public RedisOwnership {
 protected:
  static Options Of(uint64_t generation, const std::string& prefix = {}) {
    Options options = Quick();
    options.generation = generation;
    options.key_prefix = prefix;
    return options;
  }
  std::string Mark() { return Get(keys_.Installation()); }
};

TEST_F(RedisMark, TheFirstInstallationMarksTheKeysAsItsOwn) {
  EXPECT_TRUE(CheckMark(Of(7)).done());
  EXPECT_EQ(Mark(), "7");
  EXPECT_TRUE(CheckMark(Of(7)).done());
}

TEST_F(RedisMark, AnotherInstallationIsToldToChooseAPrefixAndChangesNothing) {
  ASSERT_TRUE(CheckMark(Of(7)).done());
  const Status status = CheckMark(Of(8));
  EXPECT_TRUE(status.never());
  EXPECT_NE(status.message.find("keys of installation 7, this one is 8"), std::string::npos);
  EXPECT_NE(status.message.find("--redis-key-prefix"), std::string::npos);
  EXPECT_EQ(Mark(), "7");
  EXPECT_TRUE(CheckMark(Of(8, "blue:")).done());
  EXPECT_EQ(console_.Run({"GET", Name(Keys(Of(8, "blue:")).Installation())}), "8");
}

TEST_F(RedisMark, ARedisThatComesBackEmptyIsMarkedAgainByWhoClaimsRange0) {
  EXPECT_TRUE(driver_.Do(ClaimRange{0, 0, 5}).status.done());
  EXPECT_EQ(Mark(), "1");
  console_.Run({"FLUSHALL"});
  EXPECT_TRUE(driver_.Do(ClaimRange{0, 0, 6}).status.done());
  EXPECT_EQ(Mark(), "1");
}

TEST_F(RedisMark, AnotherInstallationClaimsNoRange0) {
  ASSERT_TRUE(CheckMark(Of(7)).done());
  const auto claimed = driver_.Do(ClaimRange{0, 0, 5});
  EXPECT_TRUE(claimed.status.later());
  EXPECT_NE(claimed.status.message.find("keys of installation 7"), std::string::npos)
      << claimed.status.message;
  EXPECT_EQ(Get(keys_.Own(0)), "(nil)");
}

TEST_F(RedisMark, TwoInstallationsOfDifferentPrefixesNeverMeet) {
  Driver blue(Of(8, "blue:"));
  blue.WaitUntilConnected();
  const Keys blues(Of(8, "blue:"));
  ASSERT_TRUE(driver_.Do(ClaimRange{0, range_, 5}).status.done());
  ASSERT_TRUE(blue.Do(ClaimRange{0, range_, 9}).status.done());
  EXPECT_EQ(Get(keys_.Own(range_)), "5");
  EXPECT_EQ(Get(blues.Own(range_)), "9");
  Build(kBob);
  KeySweeper sweeper(Of(8, "blue:"));
  while (!sweeper.done()) ASSERT_TRUE(sweeper.Step().done());
  EXPECT_EQ(Get(blues.Own(range_)), "(nil)");
  EXPECT_EQ(Get(keys_.Own(range_)), "5");
  EXPECT_TRUE(IsListed(kBob));
}

// ---- start-up -------------------------------------------------------------------------------

TEST_F(RedisOwnership, AServerThatEvictsTheFenceIsRefused) {
  ServerCheck check;
  ASSERT_TRUE(CheckServer(options_, &check).done());
  EXPECT_EQ(check.refusals, std::vector<std::string>{});
  EXPECT_EQ(check.warnings, std::vector<std::string>{});
  console_.Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  console_.Run({"CONFIG", "SET", "zset-max-listpack-entries", "128"});
  ASSERT_TRUE(CheckServer(options_, &check).done());
  console_.Run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  console_.Run({"CONFIG", "SET", "zset-max-listpack-entries", "512"});
  EXPECT_EQ(check.refusals.size(), 1u);
  EXPECT_EQ(check.warnings.size(), 1u);
}

// As managed services refuse them.
TEST_F(RedisOwnership, WithoutConfigAServerIsJudgedByInfoAndServes) {
  const Options hosted = As("s3cret", "-@admin");
  console_.Run({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
  ServerCheck check;
  const Status asked = CheckServer(hosted, &check);
  console_.Run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_TRUE(asked.done()) << asked.message;
  EXPECT_EQ(check.refusals, std::vector<std::string>{});
  ASSERT_EQ(check.warnings.size(), 2u);
  EXPECT_NE(check.warnings[0].find("volatile-ttl"), std::string::npos);
  EXPECT_NE(check.warnings[1].find("; give the user +config|get, or set "), std::string::npos)
      << check.warnings[1];
  EXPECT_NE(check.warnings[1].find("in the service's parameter group"), std::string::npos);
  Driver driver(hosted);
  driver.WaitUntilConnected();
  EXPECT_TRUE(driver.Do(ClaimRange{0, range_, 5}).status.done());
}

}  // namespace
}  // namespace fanline::redis::testing
