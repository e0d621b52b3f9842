// Finding the master that Sentinels watch. Real ones: tests/e2e/redis_sentinels_test.py.
#include <gmock/gmock.h>

#include <atomic>

#include "backends/redis/cluster/masters.h"
#include "tests/support/hanging_host.h"
#include "tests/unit/redis/fake_server.h"

namespace fanline::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Array(const std::vector<std::string>& texts) {
  std::string array = "*" + std::to_string(texts.size()) + "\r\n";
  for (const std::string& text : texts) array += Bulk(text);
  return array;
}

// A node that says what it is.
class FakeNode : public FakeServer {
 public:
  explicit FakeNode(const std::string& role)
      : FakeServer(
            [role](const Words&) { return Bulk("# Replication\r\nrole:" + role + "\r\n"); }) {}
};

// A Sentinel that watches one master.
class FakeSentinel {
 public:
  FakeSentinel(Endpoint master, uint64_t epoch, std::string password = "")
      : master_(std::move(master)), epoch_(epoch), password_(std::move(password)) {}

  Endpoint address() const { return server_.address(); }
  int asked() const { return asked_; }
  void Forget() { forgot_ = true; }

 private:
  std::string Answer(const FakeServer::Words& command) {
    if (command[0] == "AUTH") {
      signed_in_ = command[1] == password_;
      return signed_in_ ? "+OK\r\n" : "-WRONGPASS invalid password\r\n";
    }
    if (!password_.empty() && !signed_in_) return "-NOAUTH Authentication required.\r\n";
    if (command[0] == "INFO") return Bulk("redis_mode:sentinel\r\n");
    if (command[0] != "SENTINEL") return "-ERR unknown command\r\n";
    ++asked_;
    const bool known = command[2] == "timelines" && !forgot_;
    if (command[1] == "master") {
      return known ? Array({"name", "timelines", "config-epoch", std::to_string(epoch_)})
                   : "-ERR No such master with that name\r\n";
    }
    return known ? Array({master_.host, std::to_string(master_.port)}) : "*-1\r\n";
  }

  const Endpoint master_;
  const uint64_t epoch_;
  const std::string password_;
  std::atomic<bool> signed_in_ = false;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> forgot_ = false;
  FakeServer server_{[this](const FakeServer::Words& command) { return Answer(command); }};
};

Options Behind(std::vector<Endpoint> sentinels) {
  return {.seeds = std::move(sentinels), .sentinel_master = "timelines"};
}

const Endpoint kNowhere{"127.0.0.1", 1};

TEST(Sentinels, NameTheMasterAndItServesEveryBucket) {
  FakeNode node("master");
  FakeSentinel sentinel(node.address(), 1);
  Masters masters(Behind({sentinel.address()}));
  ASSERT_TRUE(masters.Refresh(Masters::Ask::kAll).done());
  EXPECT_THAT(masters.map().masters(), ElementsAre(node.address()));
  EXPECT_EQ(*masters.map().MasterOf(kBuckets - 1), node.address());
}

TEST(Sentinels, OneThatHasNotHeardOfAFailoverIsOverruled) {
  FakeNode former("master"), now("master");
  FakeSentinel cut_off(former.address(), 4), second(now.address(), 5), third(now.address(), 5);
  Masters masters(Behind({cut_off.address(), second.address(), third.address()}));
  ASSERT_TRUE(masters.Refresh(Masters::Ask::kAll).done());
  EXPECT_THAT(masters.map().masters(), ElementsAre(now.address()));
}

TEST(Sentinels, WhoIsInAHurryBelievesTheFirstThatNamesARealMaster) {
  FakeNode replica("slave"), master("master");
  FakeSentinel early(replica.address(), 5), late(master.address(), 6), third(master.address(), 6);
  Masters masters(Behind({early.address(), late.address(), third.address()}));
  ASSERT_TRUE(masters.Refresh(Masters::Ask::kOne).done());
  EXPECT_THAT(masters.map().masters(), ElementsAre(master.address()));
  EXPECT_EQ(third.asked(), 0);
}

TEST(Sentinels, TwoOfFiveThatHangDelayALookAsLittleAsNone) {
  FakeNode former("master"), now("master");
  const HangingHost one, two;
  FakeSentinel cut_off(former.address(), 4), second(now.address(), 5), third(now.address(), 5);
  Masters masters(
      Behind({one.address(), two.address(), cut_off.address(), second.address(), third.address()}));
  for (const auto ask : {Masters::Ask::kAll, Masters::Ask::kOne}) {
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(masters.Refresh(ask).done());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  }
  ASSERT_TRUE(masters.Refresh(Masters::Ask::kAll).done());
  EXPECT_THAT(masters.map().masters(), ElementsAre(now.address()));
}

TEST(Sentinels, AReplicaThatTheyNameIsNoMasterYet) {
  FakeNode before("master"), replica("slave");
  FakeSentinel first(before.address(), 4);
  FakeSentinel then(replica.address(), 5);
  Masters masters(Behind({first.address(), then.address()}));
  const Status status = masters.Refresh(Masters::Ask::kAll);
  EXPECT_TRUE(status.later());
  EXPECT_THAT(status.message, HasSubstr("is a replica yet"));
  EXPECT_TRUE(masters.map().empty());
}

TEST(Sentinels, WhatIsWrongWithTheMasterIsSaidThoughALaterSentinelIsAway) {
  FakeNode replica("slave");
  FakeSentinel first(replica.address(), 5);
  Masters masters(Behind({first.address(), kNowhere}));
  EXPECT_THAT(masters.Refresh(Masters::Ask::kOne).message, HasSubstr("is a replica yet"));
}

TEST(Sentinels, OneThatKnowsNothingOrIsAwayIsAskedAfterTheOthers) {
  FakeNode node("master");
  FakeSentinel forgetful(node.address(), 1), sentinel(node.address(), 1);
  forgetful.Forget();
  Masters masters(Behind({kNowhere, forgetful.address(), sentinel.address()}));
  ASSERT_TRUE(masters.Refresh(Masters::Ask::kOne).done());
  EXPECT_GT(forgetful.asked(), 0);
  // A slow machine's answer may take longer than Survey::kPatience: then the next is asked, too.
  int asked = -1;
  for (int tries = 0; tries < 10 && forgetful.asked() != asked; ++tries) {
    asked = forgetful.asked();
    ASSERT_TRUE(masters.Refresh(Masters::Ask::kOne).done());
  }
  EXPECT_EQ(forgetful.asked(), asked);
}

TEST(Sentinels, WhileTheyNameNobodyTheMasterKnownIsKept) {
  FakeNode node("master");
  FakeSentinel sentinel(node.address(), 1);
  Masters masters(Behind({sentinel.address()}));
  ASSERT_TRUE(masters.Refresh(Masters::Ask::kAll).done());
  sentinel.Forget();
  EXPECT_TRUE(masters.Refresh(Masters::Ask::kAll).later());
  EXPECT_THAT(masters.map().masters(), ElementsAre(node.address()));
}

TEST(Sentinels, AMasterThatTheyDoNotWatchIsSaidWithItsName) {
  FakeNode node("master");
  FakeSentinel sentinel(node.address(), 1);
  Options options = Behind({sentinel.address()});
  options.sentinel_master = "other";
  const Status status = Masters(options).Refresh(Masters::Ask::kAll);
  EXPECT_TRUE(status.later());
  EXPECT_THAT(status.message, HasSubstr(ToString(sentinel.address())));
  EXPECT_THAT(status.message, HasSubstr("no master called other"));
}

TEST(Sentinels, HaveAPasswordOfTheirOwn) {
  FakeNode node("master");
  FakeSentinel sentinel(node.address(), 1, "s3cret");
  Options options = Behind({sentinel.address()});
  const Status refused = Masters(options).Refresh(Masters::Ask::kAll);
  EXPECT_THAT(refused.message, HasSubstr("Sentinel " + ToString(sentinel.address()) + ": NOAUTH"));
  EXPECT_STREQ(refused.advice, "set --redis-sentinel-user and --redis-sentinel-password-file");
  options.sentinel_password.text = "s3cret";
  EXPECT_TRUE(Masters(options).Refresh(Masters::Ask::kAll).done());
}

TEST(Sentinels, AreToldFromNodesWhenNobodySaidWhatTheyAre) {
  for (const std::string field : {"redis_mode", "server_mode"}) {
    const FakeServer sentinel([&](const FakeServer::Words&) { return Bulk(field + ":sentinel"); });
    EXPECT_THAT(Masters(Options{.seeds = {sentinel.address()}}).Refresh(Masters::Ask::kAll).message,
                HasSubstr("--redis-sentinel-master"));
  }
}

}  // namespace
}  // namespace fanline::redis
