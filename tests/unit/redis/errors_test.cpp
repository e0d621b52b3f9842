#include "backends/redis/client/errors.h"

#include <gtest/gtest.h>

namespace fanline::redis {
namespace {

struct Case {
  const char* error;
  Outcome outcome;
  ErrorAction action;
};

TEST(RedisErrors, EachFirstWordHasItsOutcomeAndAction) {
  const Case cases[] = {
      {"FENCED own:{5} holds 9, the call carries 8", Outcome::kLater, ErrorAction::kNeedsClaim},
      {"UNOWNED own:{5} holds no epoch, the call carries 8", Outcome::kLater,
       ErrorAction::kNeedsClaim},
      {"NOSCRIPT No matching script.", Outcome::kLater, ErrorAction::kLoadScripts},
      {"READONLY You can't write against a read only replica.", Outcome::kLater,
       ErrorAction::kLeaveNode},
      {"LOADING Redis is loading the dataset in memory", Outcome::kLater, ErrorAction::kLeaveNode},
      {"MASTERDOWN Link with MASTER is down", Outcome::kLater, ErrorAction::kLeaveNode},
      {"MOVED 3999 127.0.0.1:6381", Outcome::kLater, ErrorAction::kFollowMove},
      {"NOAUTH Authentication required.", Outcome::kLater, ErrorAction::kLeaveNode},
      {"WRONGPASS invalid username-password pair", Outcome::kLater, ErrorAction::kLeaveNode},
      {"ERR user_script:40: ACL failure in script: User fanline has no permissions to run the "
       "'zadd'",
       Outcome::kLater, ErrorAction::kLeaveNode},
      {"ERR user_script:137: ERR The user executing the script can't run this command or "
       "subcommand",
       Outcome::kLater, ErrorAction::kLeaveNode},
      {"NOPERM this user has no permissions to run the 'zadd' command", Outcome::kLater,
       ErrorAction::kLeaveNode},
      {"ASK 3999 127.0.0.1:6381", Outcome::kLater, ErrorAction::kHoldRange},
      {"TRYAGAIN Multiple keys request during rehashing of slot", Outcome::kLater,
       ErrorAction::kHoldRange},
      {"CLUSTERDOWN Hash slot not served", Outcome::kLater, ErrorAction::kAskForMap},
      {"CROSSSLOT Keys in request don't hash to the same slot", Outcome::kLater,
       ErrorAction::kNone},
      {"OOM command not allowed when used memory > 'maxmemory'.", Outcome::kLater,
       ErrorAction::kNone},
      {"BUSY Redis is busy running a script.", Outcome::kLater, ErrorAction::kNone},
      {"MISCONF Redis is configured to save RDB snapshots", Outcome::kLater, ErrorAction::kNone},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", Outcome::kNever,
       ErrorAction::kNone},
      // Passed on by a script: behind its place.
      {"ERR Error running script (call to f_ab): @user_script:12: WRONGTYPE Operation against a "
       "key",
       Outcome::kNever, ErrorAction::kNone},
      // Words nobody knows.
      {"ERR something new", Outcome::kLater, ErrorAction::kNone},
      {"", Outcome::kLater, ErrorAction::kNone},
      {"WRONGTYPES are not WRONGTYPE", Outcome::kLater, ErrorAction::kNone},
  };
  for (const Case& c : cases) {
    const ErrorMeaning meaning = MeaningOf(c.error);
    EXPECT_EQ(meaning.outcome, c.outcome) << c.error;
    EXPECT_EQ(meaning.action, c.action) << c.error;
  }
}

TEST(RedisErrors, ALaterNamesTheResourceAndOnlyAHigherEpochMeansAnotherOwner) {
  const auto resource = [](const char* error) {
    return StatusOf(MeaningOf(error), error).resource;
  };
  EXPECT_EQ(resource("FENCED own:{5} holds 9, the call carries 8"), "fence");
  EXPECT_EQ(resource("UNOWNED own:{5} holds no epoch, the call carries 8"), "redis");
  EXPECT_EQ(resource("BUSY x"), "redis");
  EXPECT_EQ(resource("WRONGTYPE x"), "");
}

TEST(RedisErrors, AnErrorWithoutAWordStillHasAReason) {
  EXPECT_FALSE(StatusOf(MeaningOf(""), "").message.empty());
}

TEST(RedisErrors, SayWhyAndWhatToDo) {
  const auto of = [](const char* error) { return StatusOf(MeaningOf(error), error); };
  for (const char* error : {"NOAUTH Authentication required.", "WRONGPASS invalid password"}) {
    EXPECT_EQ(of(error).cause, Cause::kTurnedAway);
    EXPECT_STREQ(of(error).advice,
                 "set --redis-user and --redis-password-file (or --redis-password)");
  }
  const Status open =
      of("ERR AUTH <password> called without any password configured for the default user.");
  EXPECT_EQ(open.cause, Cause::kNoLogin);
  EXPECT_STREQ(open.advice, "leave --redis-password out, or give the server one");
  EXPECT_EQ(of("ERR user_script:40: ACL failure in script: User x has no permissions").cause,
            Cause::kSetting);
  EXPECT_EQ(
      of("ERR Error running script (call to f_1): @user_script:9: OOM command not allowed").cause,
      Cause::kFull);
  EXPECT_EQ(of("MISCONF Redis is configured to save").cause, Cause::kOther);
  const Status forbidden = of("ERR unknown command 'CLUSTER', with args beginning with: 'NODES' ");
  EXPECT_EQ(forbidden.cause, Cause::kSetting);
  EXPECT_STREQ(forbidden.advice,
               "take a server that has the commands which schemas/redis/README.md lists");
}

TEST(RedisErrors, ALostConnectionSaysWhyAndWhatToDo) {
  const Endpoint node{"r1", 6379};
  const Status refused = Lost(node, "Connection refused", false);
  EXPECT_EQ(refused.message, "redis r1:6379: Connection refused");
  EXPECT_EQ(refused.cause, Cause::kAway);
  EXPECT_STREQ(refused.advice, "start it or set --redis / FANLINE_REDIS");
  const auto advice = [&](const char* why, bool tls) {
    return std::string(Lost(node, why, tls).advice);
  };
  EXPECT_TRUE(advice(kNoAnswer, true).ends_with("speaks no TLS, leave --redis-tls-ca out"));
  EXPECT_EQ(advice(kNoAnswer, false), refused.advice);
  EXPECT_TRUE(advice(kClosed, false).ends_with("speaks TLS only, set --redis-tls-ca"));
  EXPECT_EQ(advice(kClosed, true), refused.advice);
  EXPECT_EQ(Lost(node, "TLS: hostname mismatch", true).cause, Cause::kSetting);
  EXPECT_EQ(Lost(node, "WRONGPASS invalid password", false).cause, Cause::kTurnedAway);
}

}  // namespace
}  // namespace fanline::redis
