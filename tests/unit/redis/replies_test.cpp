#include <gtest/gtest.h>

#include "backends/redis/client/identity.h"
#include "backends/redis/cluster/server_check.h"
#include "backends/redis/requests.h"
#include "tests/unit/redis/pending_calls.h"

namespace fanline::redis {
namespace {

const RangeLayout kLayout(16);

TEST(RedisReplies, AClaimTellsTheStateOfTheRange) {
  const auto known = Parse(ClaimRange{4, 0, 7},
                           *WireReply("*3\r\n$1\r\n0\r\n$1\r\n6\r\n$8\r\n2.16:300\r\n"), kLayout);
  EXPECT_TRUE(known.status.done());
  EXPECT_EQ(known.refused_by, 0u);
  EXPECT_EQ(known.index, 6u);
  EXPECT_EQ(known.position, (AppliedPosition{2, 300}));
  const auto unknown =
      Parse(ClaimRange{}, *WireReply("*3\r\n$1\r\n0\r\n$1\r\n0\r\n$0\r\n\r\n"), kLayout);
  EXPECT_TRUE(unknown.status.done());
  EXPECT_EQ(unknown.index, 0u);
  EXPECT_EQ(unknown.position, std::nullopt);
  EXPECT_FALSE(known.foreign || unknown.foreign);
}

TEST(RedisReplies, AClaimThatFindsThePositionOfOtherRangesSaysSo) {
  const auto claimed =
      Parse(ClaimRange{}, *WireReply("*3\r\n$1\r\n0\r\n$1\r\n1\r\n$7\r\n2.8:300\r\n"), kLayout);
  EXPECT_TRUE(claimed.status.done());
  EXPECT_EQ(claimed.position, std::nullopt);
  EXPECT_TRUE(claimed.foreign);
}

TEST(RedisReplies, ARefusedClaimNamesTheOwner) {
  const auto claimed = Parse(ClaimRange{}, *WireReply("*1\r\n$2\r\n12\r\n"), kLayout);
  EXPECT_TRUE(claimed.status.done());
  EXPECT_EQ(claimed.refused_by, 12u);
}

TEST(RedisReplies, AnAnswerOfAnotherShapeIsLater) {
  const WireReply odd("+WHAT\r\n");
  EXPECT_TRUE(Parse(ClaimRange{}, *odd, kLayout).status.later());
  EXPECT_TRUE(Parse(ReadNews{}, *odd, kLayout).status.later());
  EXPECT_TRUE(Parse(SavePosition{}, *odd, kLayout).status.later());
  EXPECT_TRUE(Parse(ApplySync{}, *odd, kLayout).status.later());
  EXPECT_TRUE(Parse(SetMutes{}, *odd, kLayout).status.later());
  EXPECT_TRUE(Parse(DropTimeline{}, *odd, kLayout).status.later());
  EXPECT_TRUE(Parse(MarkPart{}, *odd, kLayout).status.later());
  EXPECT_TRUE(
      Parse(ClaimRange{}, *WireReply("*2\r\n$1\r\n0\r\n$1\r\n1\r\n"), kLayout).status.later());
}

TEST(RedisReplies, NewsNameReadersAndTheirNumbers) {
  const auto read = [](const std::string& announced) {
    return Parse(ReadNews{}, *WireReply("*4\r\n$2\r\n12\r\n$1\r\n7\r\n:5\r\n" + announced),
                 kLayout);
  };
  const NewsRead news = read("*4\r\n$1\r\n9\r\n$2\r\n11\r\n$1\r\n3\r\n$5\r\n1e+10\r\n");
  EXPECT_TRUE(news.status.done());
  EXPECT_EQ(news.last, 12u);
  EXPECT_EQ(news.index, 7u);
  EXPECT_EQ(news.readers, 5u);
  ASSERT_EQ(news.announced.size(), 2u);
  EXPECT_EQ(news.announced[0].reader, UserId{9});
  EXPECT_EQ(news.announced[0].number, 11u);
  EXPECT_EQ(news.announced[1].reader, UserId{3});
  EXPECT_EQ(news.announced[1].number, 10'000'000'000u);
  EXPECT_TRUE(read("*0\r\n").status.done());
  for (const char* odd : {"$-1\r\n", "*2\r\n$2\r\n#n\r\n$1\r\n1\r\n",
                          "*2\r\n$1\r\n9\r\n$2\r\n-1\r\n", "*2\r\n$1\r\n9\r\n$3\r\ninf\r\n"}) {
    EXPECT_TRUE(read(odd).status.later()) << odd;
  }
}

TEST(RedisReplies, PositionsHaveOneSpelling) {
  EXPECT_EQ(TextOf(AppliedPosition{3, 400}, kLayout), "3.16:400");
  EXPECT_EQ(ParsePosition("3.16:400", kLayout), (AppliedPosition{3, 400}));
  for (const char* wrong :
       {"", ":", ".", "3.16", "3.16:", ":4", ".16:4", "3.16:4x", "x.16:4", "-3.16:4", "03.16:4",
        "3.16:04", "3.16:-0", "3.016:4", "3.x:4", "3:400", "3.:4", "3:4.16",
        "3.32:400"}) {  // of another number of ranges: its keys are of other readers
    EXPECT_EQ(ParsePosition(wrong, kLayout), std::nullopt) << wrong;
  }
}

TEST(RedisReplies, APositionSaysOfWhenItIs) {
  const AppliedPosition position{3, 400, {{400, 2, 5, UserId{9}, true}}, 1'700'000'000'000};
  const std::string text = "3.16:400@1700000000000;400,2,5,9,1";
  EXPECT_EQ(TextOf(position, kLayout), text);
  EXPECT_EQ(ParsePosition(text, kLayout), position);
  EXPECT_EQ(ParsePosition("3.16:400@7", kLayout), (AppliedPosition{3, 400, {}, 7}));
  for (const char* wrong : {"3.16:4@", "3.16:4@0", "3.16:4@7@7", "3.16:4@7;", "3.16:@7", "3.16@7:4",
                            "3.16:4@x", "3.16:4;4,1,5,9,1@7"}) {
    EXPECT_EQ(ParsePosition(wrong, kLayout), std::nullopt) << wrong;
  }
}

TEST(RedisReplies, APositionNamesWhatIsBegun) {
  const AppliedPosition position{
      3, 400, {{400, 2, ~uint64_t{0}, UserId{9}, true}, {-7, 1, 0, UserId{~uint64_t{1}}, false}}};
  const std::string text = "3.16:400;400,2,18446744073709551615,9,1;-7,1,0,18446744073709551614,0";
  EXPECT_EQ(TextOf(position, kLayout), text);
  EXPECT_EQ(ParsePosition(text, kLayout), position);
  for (size_t length = 9; length < text.size(); ++length) {
    const auto part = ParsePosition(text.substr(0, length), kLayout);
    EXPECT_TRUE(!part || TextOf(*part, kLayout) == text.substr(0, length)) << length;
  }
  for (const char* wrong :
       {"3.16:4;", "3.16:4;;", "3.16:4;4,1,5,9", "3.16:4;4,1,5,9,2", "3.16:4;4,1,5,9,1;",
        "3.16:4;4,1,5,9,1,1", "3.16:4;4,01,5,9,1", "3.16:4;4,-1,5,9,1", "3.16:4,4,1,5,9,1"}) {
    EXPECT_EQ(ParsePosition(wrong, kLayout), std::nullopt) << wrong;
  }
}

TEST(RedisIdentity, IsReadFromInfo) {
  const auto identity = IdentityOf(
      "# Server\r\nredis_version:7.0.15\r\nrun_id:abc\r\n# Replication\r\nrole:master\r\n"
      "master_replid:r1\r\nmaster_replid2:r2\r\n");
  EXPECT_EQ(identity, (Identity{"abc", "master", "r2"}));
  EXPECT_TRUE(identity.master());
  EXPECT_EQ(IdentityOf(""), Identity{});
}

// ---- the start-up check ---------------------------------------------------------------------

constexpr const char* kGood =
    "redis_version:7.0.15\r\ncluster_enabled:0\r\nmaxmemory_policy:volatile-lru\r\n";

constexpr const char* kClustered =
    "redis_version:7.0.15\r\ncluster_enabled:1\r\nmaxmemory_policy:noeviction\r\n";

TEST(RedisServerCheck, AcceptsWhatKeepsTheFence) {
  const auto check = Judge({kGood, "512", ""}, {});
  EXPECT_TRUE(check.refusals.empty());
  EXPECT_TRUE(check.warnings.empty());
  EXPECT_EQ(check.server, "Redis 7.0.15");
  EXPECT_EQ(Judge({std::string(kGood) + "valkey_version:9.1.0\r\n", "512", ""}, {}).server,
            "Valkey 9.1.0");
}

TEST(RedisServerCheck, RefusesToLetTheFenceBeEvictedAndSaysWhatToSet) {
  const auto check =
      Judge({"redis_version:7.0.15\r\nmaxmemory_policy:allkeys-lfu\r\n", "512", ""}, {});
  ASSERT_EQ(check.refusals.size(), 1u);
  EXPECT_NE(check.refusals[0].find("allkeys-lfu"), std::string::npos);
  EXPECT_NE(check.refusals[0].find("noeviction"), std::string::npos);
}

TEST(RedisServerCheck, TellsOfOneThatIsFullUnlessItIsMeantToBe) {
  const auto full = [](const std::string& policy, int used, int most) {
    const auto check =
        Judge({"redis_version:7.0.15\r\nmaxmemory_policy:" + policy +
                   "\r\nused_memory:" + std::to_string(used) +
                   "\r\nused_memory_human:1B\r\nmaxmemory:" + std::to_string(most) + "\r\n",
               "512", ""},
              {});
    EXPECT_TRUE(check.refusals.empty()) << "it starts all the same";
    return check.full;
  };
  ASSERT_EQ(full("noeviction", 100, 100).size(), 1u);
  EXPECT_NE(full("noeviction", 101, 100)[0].find("101 bytes used, maxmemory is 100"),
            std::string::npos);
  EXPECT_TRUE(full("noeviction", 99, 100).empty());
  EXPECT_TRUE(full("noeviction", 99, 0).empty()) << "without a bound";
  EXPECT_TRUE(full("volatile-lru", 101, 100).empty()) << "timelines are evicted";
}

TEST(RedisServerCheck, RefusesServersWithoutZmscore) {
  const auto refused = [](const std::string& version) {
    return !Judge({"redis_version:" + version + "\r\n", "512", ""}, {}).refusals.empty();
  };
  EXPECT_TRUE(refused("5.0.14"));
  EXPECT_TRUE(refused("6.0.16"));
  EXPECT_FALSE(refused("6.2.0"));
  EXPECT_FALSE(refused("7.0.15"));
  EXPECT_FALSE(refused("10.0.0"));
}

TEST(RedisServerCheck, RefusesAClusterThatStopsAsAWholeAndSaysWhatToType) {
  const auto judge = [](const char* full_coverage) {
    return Judge({kClustered, "512", full_coverage}, {});
  };
  ASSERT_EQ(judge("yes").refusals.size(), 1u);
  EXPECT_NE(judge("yes").refusals[0].find("CONFIG SET cluster-require-full-coverage no"),
            std::string::npos);
  EXPECT_EQ(judge("no").refusals.size() + judge("no").warnings.size(), 0u);
  EXPECT_EQ(judge("").refusals.size(), 0u);
  EXPECT_EQ(judge("").warnings.size(), 1u) << "hidden";
}

// As of a managed service, or to a user without the right. What INFO says is judged all the same.
TEST(RedisServerCheck, WhereConfigIsRefusedItNamesBothPlacesToSetIt) {
  const std::string info(kClustered);
  const auto hidden = Judge({info + "used_memory:9\r\nmaxmemory:9\r\n", "", ""}, {});
  ASSERT_EQ(hidden.warnings.size(), 2u);
  for (const std::string& warning : hidden.warnings) {
    EXPECT_NE(warning.find(" in redis.conf, or in the service's parameter group"),
              std::string::npos)
        << warning;
    EXPECT_EQ(warning.find("CONFIG"), std::string::npos) << warning;
  }
  ASSERT_EQ(hidden.full.size(), 1u);
  EXPECT_NE(hidden.full[0].find("larger nodes"), std::string::npos);
  const auto evicting = Judge({"maxmemory_policy:allkeys-lru\r\n", "", ""}, {});
  ASSERT_EQ(evicting.refusals.size(), 1u);
  EXPECT_NE(evicting.refusals[0].find("parameter group"), std::string::npos);
  const auto denied = Judge({info, "", "", true}, {});
  ASSERT_EQ(denied.warnings.size(), 2u);
  for (const std::string& warning : denied.warnings) {
    EXPECT_NE(warning.find("; give the user +config|get, or set "), std::string::npos) << warning;
  }
}

TEST(RedisServerCheck, WarnsOfAPolicyThatIsHiddenOrEvictsWhatIsBeingRebuilt) {
  for (const char* info : {"", "maxmemory_policy:volatile-ttl\r\n"}) {
    const auto check = Judge({info, "512", ""}, {});
    EXPECT_TRUE(check.refusals.empty());
    ASSERT_EQ(check.warnings.size(), 1u);
    EXPECT_NE(check.warnings[0].find("CONFIG SET maxmemory-policy"), std::string::npos);
  }
}

TEST(RedisServerCheck, WarnsWhatATooSmallListpackCosts) {
  const auto check = Judge({kGood, "128", ""}, {});
  EXPECT_TRUE(check.refusals.empty());
  ASSERT_EQ(check.warnings.size(), 1u);
  EXPECT_NE(check.warnings[0].find("four times the memory"), std::string::npos);
  EXPECT_NE(check.warnings[0].find("512"), std::string::npos);
  EXPECT_EQ(Judge({kGood, "", ""}, {}).warnings.size(), 1u) << "hidden";
}

}  // namespace
}  // namespace fanline::redis
