// Asking nodes that hang for the map. Real ones: tests/integration/redis/cluster_test.cpp.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>

#include "backends/redis/client/reply.h"
#include "backends/redis/client/silent_nodes.h"
#include "backends/redis/cluster/masters.h"
#include "backends/redis/live_timelines.h"
#include "tests/integration/soon.h"
#include "tests/support/hanging_host.h"
#include "tests/unit/redis/fake_server.h"

namespace fanline::redis {
namespace {

const Endpoint kService{"timelines.test", 6379};

// A name server. At each look the name leads to the next of these places.
class Names {
 public:
  void Lead(const std::vector<Endpoint>& to) {
    const std::lock_guard lock(mutex_);
    to_.clear();
    for (const Endpoint& node : to) to_.push_back({node});
    looks_ = 0;
  }
  // At each look to all of these, in this order, as a file of hosts does.
  void LeadToAll(const std::vector<Endpoint>& to) {
    const std::lock_guard lock(mutex_);
    to_ = {to};
  }
  std::vector<Endpoint> Next() {
    const std::lock_guard lock(mutex_);
    return to_.at(looks_++ % to_.size());
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<Endpoint>> to_;
  size_t looks_ = 0;
} names;

}  // namespace
}  // namespace fanline::redis

// In place of the C library's.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** found) {
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host != fanline::redis::kService.host) return real(host, port, hints, found);
  int error = 0;
  for (const fanline::Endpoint& node : fanline::redis::names.Next()) {
    error = real(node.host.c_str(), std::to_string(node.port).c_str(), hints, found);
    while (error == 0 && *found != nullptr) found = &(*found)->ai_next;
  }
  return error;
}

namespace fanline::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

using namespace std::chrono_literals;

constexpr auto kOne = Masters::Ask::kOne;
constexpr auto kAll = Masters::Ask::kAll;
// Far below the time that one node may take, far above what an answer takes.
constexpr auto kSoon = 1'000ms;

// What CLUSTER NODES says, the same on each node.
class FakeCluster {
 public:
  class Node {
   public:
    explicit Node(const FakeCluster& cluster)
        : server_([this, &cluster](const FakeServer::Words& command) {
            ++asked_;
            if (command[0] == "INFO") return Bulk("cluster_enabled:1\r\nredis_mode:cluster\r\n");
            return Bulk(cluster.text());
          }) {}

    Endpoint address() const { return server_.address(); }
    int asked() const { return asked_; }

   private:
    std::atomic<int> asked_ = 0;
    FakeServer server_;
  };

  explicit FakeCluster(size_t answering, size_t hanging = 0) {
    while (nodes_.size() < answering) nodes_.emplace_back(*this);
    while (hosts_.size() < hanging) hosts_.emplace_back();
    for (const Node& node : nodes_) addresses_.push_back(node.address());
    for (const HangingHost& host : hosts_) addresses_.push_back(host.address());
    for (size_t i = 0; i < addresses_.size(); ++i) Claim(i, addresses_.size());
  }

  std::vector<Endpoint> addresses() const { return addresses_; }  // who answers comes first
  static std::string NameOf(size_t i) { return "node-" + std::to_string(i) + ".test"; }
  const std::list<Node>& nodes() const { return nodes_; }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  void Claim(size_t i, size_t of) {
    const std::lock_guard lock(mutex_);
    text_ += std::to_string(i) + " " + ToString(addresses_[i]) + "@1," + NameOf(i) +
             ",shard-id=5f master - 0 0 " + std::to_string(i + 1) + " connected " +
             std::to_string(kSlots / of * i) + "-" +
             std::to_string(i + 1 == of ? kSlots - 1 : kSlots / of * (i + 1) - 1) + "\n";
  }

  mutable std::mutex mutex_;
  std::string text_;
  std::list<HangingHost> hosts_;
  std::list<Node> nodes_;
  std::vector<Endpoint> addresses_;
};

Options At(std::vector<Endpoint> seeds) { return {.seeds = std::move(seeds)}; }

class Stopwatch {
 public:
  auto passed() const { return std::chrono::steady_clock::now() - begin_; }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

TEST(Masters, ThreeThatHangDelayALookAsLittleAsNone) {
  const FakeCluster cluster(5, 3);
  Masters masters(At(cluster.addresses()));
  for (int look = 0; look < 2; ++look) {
    const Stopwatch watch;
    ASSERT_TRUE(masters.Refresh(kAll).done());
    EXPECT_LT(watch.passed(), kSoon) << look;
    EXPECT_THAT(masters.map().masters(), UnorderedElementsAreArray(cluster.addresses()));
    EXPECT_THAT(masters.Missing(), SizeIs(3));
  }
}

TEST(Masters, SeedsThatHangAreNotWaitedForOneAfterTheOther) {
  const FakeCluster cluster(1);
  const HangingHost one, two, three;
  const std::vector<Endpoint> seeds{one.address(), two.address(), three.address(),
                                    cluster.addresses().front()};
  for (const auto ask : {kOne, kAll}) {
    Masters masters(At(seeds));
    const Stopwatch watch;
    ASSERT_TRUE(masters.Refresh(ask).done());
    EXPECT_LT(watch.passed(), kSoon);
    EXPECT_EQ(masters.map().masters(), cluster.addresses());
    EXPECT_THAT(masters.Missing(), SizeIs(0));
  }
}

TEST(Masters, WhoIsInAHurryAsksOneWhileItAnswers) {
  const FakeCluster cluster(3);
  Masters masters(At(cluster.addresses()));
  for (int look = 0; look < 3; ++look) ASSERT_TRUE(masters.Refresh(kOne).done());
  EXPECT_LT(cluster.nodes().back().asked(), cluster.nodes().front().asked());
}

TEST(Masters, ANodeThatRestsMakesNobodyAskForTheMapEachTime) {
  const FakeCluster cluster(1, 1);
  Options options = At(cluster.addresses());
  options.silent_nodes = std::make_shared<SilentNodes>([] { return Time{1h}; });
  options.silent_nodes->Silent(cluster.addresses().back());
  Masters masters(options);
  ASSERT_TRUE(masters.Refresh(kOne).done());
  Bucket bucket = 0;
  while (*masters.map().MasterOf(bucket) != cluster.addresses().back()) ++bucket;
  CommandBuffer command;
  command.Command("GET", "x");
  const auto call = [&] {
    return masters.Call(bucket, command, [](const redisReply&) { return Status::Done(); });
  };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(call().later());
  const int asked = cluster.nodes().front().asked();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(call().later());
  EXPECT_EQ(cluster.nodes().front().asked(), asked);
}

TEST(Masters, WhenTheMastersKnownHangSeedsAreAsked) {
  const FakeCluster before(0, 2);
  FakeServer replica([&](const FakeServer::Words& command) {
    if (command[0] == "INFO") return Bulk("cluster_enabled:1\r\n");
    return Bulk(before.text());
  });
  Options options = At({replica.address()});
  options.command_timeout = 100ms;  // nothing but this ends a look
  Masters masters(options);
  for (int look = 0; look < 2; ++look) {
    ASSERT_TRUE(masters.Refresh(kAll).done());
    EXPECT_EQ(masters.map().masters(), before.addresses());
    EXPECT_THAT(masters.Missing(), SizeIs(2));
  }
}

TEST(Masters, AConnectionThatANodeClosedIsMadeAnew) {
  std::atomic<int> asked = 0;
  const FakeServer node([&](const FakeServer::Words& command) {
    if (++asked == 4) return std::string(FakeServer::kHangUp);
    return command[0] == "INFO" ? Bulk("redis_mode:standalone\r\n") : "-ERR no cluster\r\n";
  });
  Masters masters(At({node.address()}));
  ASSERT_TRUE(masters.Refresh(kAll).done());
  EXPECT_EQ(asked, 3);
  ASSERT_TRUE(masters.Refresh(kAll).done()) << "closed in between";
  EXPECT_EQ(asked, 7);
}

TEST(Masters, OneThatHangsAloneIsSaidToHang) {
  const HangingHost host;
  Options options = At({host.address()});
  options.command_timeout = 100ms;
  const Status status = Masters(options).Refresh(kAll);
  EXPECT_TRUE(status.later());
  EXPECT_THAT(status.message, HasSubstr(ToString(host.address()) + ": no reply in time"));
}

// ---- names ----------------------------------------------------------------------------------

TEST(Masters, ANameOfManyNodesLeadsToAllOfThem) {
  const FakeCluster cluster(3);
  const Endpoint dead{"127.0.0.1", 1};
  names.Lead({dead, cluster.addresses().back()});
  Masters masters(At({kService}));
  EXPECT_TRUE(masters.Refresh(kAll).later());
  ASSERT_TRUE(masters.Refresh(kAll).done());
  EXPECT_THAT(masters.map().masters(), UnorderedElementsAreArray(cluster.addresses()));
  names.Lead({dead});
  EXPECT_TRUE(masters.Refresh(kAll).done()) << "the nodes are known";
}

const Endpoint kDead{"127.0.0.1", 1};

TEST(Masters, OfANamesAddressesADeadOneIsPassedOver) {
  const FakeCluster cluster(1);
  const Endpoint live = cluster.addresses().front();
  for (const auto& to : {std::vector{kDead, live}, {kDead, kDead, live}, {live, kDead}}) {
    names.LeadToAll(to);
    for (const auto ask : {kOne, kAll}) {
      for (int look = 0; look < 3; ++look) {
        const Status status = Masters(At({kService})).Refresh(ask);
        EXPECT_TRUE(status.done()) << status.message;
      }
    }
  }
  names.LeadToAll({kDead, kDead});
  const Status status = Masters(At({kService})).Refresh(kOne);
  EXPECT_THAT(status.message, HasSubstr(ToString(kService) + ": Connection refused"));
}

// A host that is down answers nothing, like a listener whose queue is full.
TEST(Masters, AnAddressThatAnswersNothingHasAPartOfTheTime) {
  const FakeCluster cluster(1);
  const HangingHost full;
  ASSERT_EQ(listen(full.listener(), 0), 0);
  sockaddr_in place{};
  socklen_t size = sizeof place;
  getsockname(full.listener(), reinterpret_cast<sockaddr*>(&place), &size);
  int clients[3];
  for (int& client : clients) {
    client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(client, reinterpret_cast<sockaddr*>(&place), sizeof place);
  }
  const Endpoint live = cluster.addresses().front();
  Options options = At({kService});
  options.connect_timeout = 200ms;
  for (const auto& to : {std::vector{full.address(), live}, {live, full.address()}}) {
    names.LeadToAll(to);
    const Status status = Masters(options).Refresh(kOne);
    EXPECT_TRUE(status.done()) << status.message;
  }
  names.LeadToAll({full.address(), full.address()});
  const Status status = Masters(options).Refresh(kOne);
  EXPECT_THAT(status.message, HasSubstr("no connection in time"));
  for (const int client : clients) close(client);
}

TEST(Masters, AfterANodeThatHangsANameLeadsToAnother) {
  const FakeCluster cluster(1);
  const HangingHost host;
  const Endpoint live = cluster.addresses().front();
  Options options = At({kService});
  options.command_timeout = 100ms;
  for (const auto& to : {std::vector{host.address(), live}, {live, host.address()}}) {
    names.LeadToAll(to);
    Masters masters(options);
    EXPECT_TRUE(masters.Refresh(kOne).done() || masters.Refresh(kOne).done());
  }
}

TEST(Masters, LearnTheNamesThatNodesAnnounce) {
  const FakeCluster cluster(2);
  const Options options = At(cluster.addresses());
  ASSERT_TRUE(Masters(options).Refresh(kOne).done());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(options.At(cluster.addresses()[i]).announced->Of(cluster.addresses()[i]),
              FakeCluster::NameOf(i));
  }
}

// A service moves the name of its primary to another node, and the former one becomes a replica.
class FakePrimary : public FakeServer {
 public:
  FakePrimary(int number, const std::atomic<int>& primary)
      : FakeServer([=, &primary](const Words& command) {
          const bool is_it = primary == number;
          if (command[0] == "INFO") return Bulk(is_it ? "role:master\r\n" : "role:slave\r\n");
          if (command[0] == "CLUSTER") return std::string("-ERR no cluster\r\n");
          if (!is_it) return std::string("-READONLY You can't write\r\n");
          return ":" + std::to_string(number) + "\r\n";
        }) {}
};

TEST(Masters, AFailoverByDnsIsFollowed) {
  std::atomic<int> primary = 1;
  const FakePrimary first(1, primary), second(2, primary);
  names.Lead({first.address()});
  Options options = At({kService});
  options.heartbeat = 20ms;
  options.reconnect = {5ms, 50ms};
  std::atomic<int> times_served = 0;
  RedisLiveTimelines::Events events;
  events.on_away = [&](const std::vector<RangesAway>& away) { times_served += away.empty(); };
  const RedisLiveTimelines pushes(options, {}, events);
  ASSERT_TRUE(Soon([&] { return times_served == 1; }));
  Masters reads(options);
  int64_t answered = 0;
  const auto call = [&] {
    return reads.Call(0, CommandOf("SET", "x", 1), [&](const redisReply& reply) {
      answered = Integer(reply).value_or(0);
      return Status::Done();
    });
  };
  ASSERT_TRUE(call().done());
  EXPECT_EQ(answered, 1);
  names.Lead({second.address()});
  primary = 2;
  EXPECT_TRUE(call().later()) << "a replica by now";
  EXPECT_TRUE(call().done());
  EXPECT_EQ(answered, 2);
  EXPECT_TRUE(Soon([&] { return times_served == 2; }));
}

}  // namespace
}  // namespace fanline::redis
