// A node that hangs keeps one caller waiting at a time.
#include "backends/redis/client/silent_nodes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "backends/redis/client/blocking_connection.h"
#include "tests/unit/redis/fake_server.h"

namespace fanline::redis {
namespace {

using namespace std::chrono_literals;

const Endpoint kNode{"10.0.0.1", 6379}, kOther{"10.0.0.2", 6379};

class SilentNodesTest : public ::testing::Test {
 protected:
  Time now_{1h};
  SilentNodes nodes_{[this] { return now_; }};
};

TEST_F(SilentNodesTest, ANodeThatWasSilentRestsAndTheOthersDoNot) {
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s));
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s)) << "who answers is asked by all";
  nodes_.Silent(kNode);
  EXPECT_FALSE(nodes_.MayAsk(kNode, 3s));
  EXPECT_TRUE(nodes_.MayAsk(kOther, 3s));
  nodes_.Answered(kOther);
  now_ += SilentNodes::kRest - 1us;
  EXPECT_FALSE(nodes_.MayAsk(kNode, 3s));
}

TEST_F(SilentNodesTest, AfterItsRestOneCallerAsksForAllAndItsAnswerEndsTheRest) {
  nodes_.Silent(kNode);
  now_ += SilentNodes::kRest;
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s));
  EXPECT_FALSE(nodes_.MayAsk(kNode, 3s));
  nodes_.Silent(kNode);
  now_ += SilentNodes::kRest;
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s));
  nodes_.Answered(kNode);
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s));
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s));
}

TEST_F(SilentNodesTest, ACallerWhoNeverTellsIsWaitedForNoLongerThanItsPatience) {
  nodes_.Silent(kNode);
  now_ += SilentNodes::kRest;
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s));
  now_ += 3s;
  EXPECT_TRUE(nodes_.MayAsk(kNode, 3s));
}

// Two connections of different threads to one node.
class HangingNodeTest : public SilentNodesTest {
 protected:
  static CommandBuffer Ping() {
    CommandBuffer ping;
    ping.Command("PING");
    return ping;
  }
  static Status Ask(BlockingConnection& connection) {
    return connection.Call(Ping(), [](const redisReply&) { return Status::Done(); });
  }
  Options Shared() {
    Options options;
    options.command_timeout = 20ms;
    options.silent_nodes = {std::shared_ptr<void>(), &nodes_};
    return options.At(node_.address());
  }

  std::atomic<int> asked_ = 0;
  std::atomic<bool> hangs_ = false;
  FakeServer node_{[this](const FakeServer::Words&) {
    ++asked_;
    return hangs_ ? "" : "+PONG\r\n";
  }};
};

TEST_F(HangingNodeTest, IsLeftAloneByTheConnectionsThatShareItAndAskedAgain) {
  BlockingConnection one(Shared()), other(Shared());
  EXPECT_TRUE(Ask(one).done());
  EXPECT_TRUE(Ask(other).done());
  hangs_ = true;
  EXPECT_TRUE(Ask(one).later());
  EXPECT_EQ(asked_, 3);
  EXPECT_TRUE(Ask(other).later());
  EXPECT_EQ(other.asks(), ErrorAction::kLeaveNode) << "it may have a successor";
  EXPECT_EQ(asked_, 3);
  now_ += SilentNodes::kRest;
  EXPECT_TRUE(Ask(other).later());
  EXPECT_EQ(asked_, 4);
  hangs_ = false;
  EXPECT_TRUE(Ask(one).later());
  now_ += SilentNodes::kRest;
  EXPECT_TRUE(Ask(one).done());
  EXPECT_TRUE(Ask(other).done());
}

TEST_F(HangingNodeTest, OneThatRefusesNeedsNoRest) {
  Options gone = Shared();
  gone.address = {"127.0.0.1", 1};
  BlockingConnection connection(gone);
  EXPECT_TRUE(Ask(connection).later());
  EXPECT_TRUE(nodes_.MayAsk(gone.address, 3s));
  EXPECT_TRUE(nodes_.MayAsk(gone.address, 3s));
}

// Replies that keep coming renew the wait, however long all of them take.
TEST(BlockingConnectionTest, APipelineMayTakeLongerThanOneReply) {
  FakeServer slow([](const FakeServer::Words&) {
    std::this_thread::sleep_for(20ms);
    return "+PONG\r\n";
  });
  Options options;
  options.command_timeout = 100ms;
  BlockingConnection connection(options.At(slow.address()));
  CommandBuffer pings;
  for (int i = 0; i < 20; ++i) pings.Command("PING");
  size_t replies = 0;
  const Status status = connection.Pipeline(pings, 20, [&](const redisReply&) {
    ++replies;
    return Status::Done();
  });
  EXPECT_TRUE(status.done()) << status.message;
  EXPECT_EQ(replies, 20u);
}

}  // namespace
}  // namespace fanline::redis
