// A node that hangs keeps one caller waiting at a time.
#include "backends/redis/client/silent_nodes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

#include "backends/redis/client/blocking_connection.h"
#include "fanline/base/mono_now.h"
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
  static Status Ask(BlockingConnection& connection) {
    return connection.Call(CommandOf("PING"), [](const redisReply&) { return Status::Done(); });
  }
  Options Shared() {
    const Options options{.command_timeout = 20ms,
                          .silent_nodes = {std::shared_ptr<void>(), &nodes_}};
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

// The second of two replies may come later than the limit of one, since the first came.
TEST(BlockingConnectionTest, APipelineMayTakeLongerThanOneReply) {
  std::promise<void> asked, first, second;
  std::atomic<int> commands = 0;
  FakeServer slow([&](const FakeServer::Words&) {
    if (++commands == 1) {
      asked.set_value();
      first.get_future().wait();
    } else {
      second.get_future().wait();
    }
    return "+PONG\r\n";
  });
  const Options options{.command_timeout = 100ms};
  BlockingConnection connection(options.At(slow.address()));
  CommandBuffer pings;
  for (int i = 0; i < 2; ++i) pings.Command("PING");
  size_t replies = 0;
  const BlockingConnection::OnReply count = [&](const redisReply&) {
    ++replies;
    return Status::Done();
  };
  std::optional<Status> ended;
  const auto look_until = [&](Time now, const auto& done) {
    const BlockingConnection* const self = &connection;
    while (!done() && !ended) {
      BlockingConnection::Await({&self, 1}, Time::max());
      ended = connection.Look(now);
    }
  };
  const Time begin = MonoNow();
  connection.Begin(pings, 2, count);
  auto was_asked = asked.get_future();
  look_until(begin, [&] { return was_asked.wait_for(0s) == std::future_status::ready; });
  first.set_value();
  look_until(begin + 90ms, [&] { return replies == 1; });
  EXPECT_FALSE(connection.Look(begin + 150ms));
  second.set_value();
  look_until(begin + 150ms, [] { return false; });
  EXPECT_TRUE(ended->done()) << ended->message;
  EXPECT_EQ(replies, 2u);
}

}  // namespace
}  // namespace fanline::redis
