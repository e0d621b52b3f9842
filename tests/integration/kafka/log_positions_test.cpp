#include "backends/kafka/log_positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/integration/kafka/real_broker.h"
#include "tests/integration/replies.h"

namespace fanline::kafka {
namespace {

class LogPositionsTest : public test::RealBrokerTest {
 protected:
  static ClientOptions RealBroker() { return test::RealBroker(); }
};

TEST_F(LogPositionsTest, AnotherGroupsCommitsAreSeenAndNoneIsMinusOne) {
  CreateTopic(topic, 2);
  Publish(topic, 1, 7);
  {
    Consumer member(GroupMember(), LogSink());
    std::vector<ConsumerEvent> events;
    const auto assigned = [&events] {
      return std::count_if(events.begin(), events.end(), [](const ConsumerEvent& event) {
        return std::holds_alternative<PartitionAssigned>(event);
      });
    };
    while (assigned() < 2) {
      member.Poll(10, events);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ConsumerOrders orders;
    orders.commit.push_back({1, 5});
    member.Apply(orders);
    member.Close(std::chrono::seconds(5));
  }
  KafkaLogPositions positions({RealBroker(), topic, GroupMember().group}, LogSink());
  const auto read = fanline::Ask(positions, ReadGroupOffsets{4, {0, 1}});
  ASSERT_TRUE(read.status.done()) << read.status.message;
  ASSERT_EQ(read.committed.size(), 2u);
  EXPECT_EQ(read.committed[0].offset, -1);
  EXPECT_EQ(read.committed[1].offset, 5);
}

TEST_F(LogPositionsTest, ABrokerThatIsNotThereIsAskedAgainLater) {
  ClientOptions nowhere;
  nowhere.brokers = "127.0.0.1:1";
  KafkaLogPositions positions({nowhere, topic, "anybody"}, LogSink());
  EXPECT_TRUE(fanline::Ask(positions, ReadGroupOffsets{0, {0}}).status.later());
}

}  // namespace
}  // namespace fanline::kafka
