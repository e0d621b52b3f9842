#include "backends/kafka/log_positions.h"

#include <gtest/gtest.h>

#include "tests/adapters/kafka/member.h"
#include "tests/integration/kafka/real_broker.h"
#include "tests/integration/replies.h"

namespace fanline::kafka {
namespace {

class LogPositionsTest : public test::RealBrokerTest {};

TEST_F(LogPositionsTest, AnotherGroupsCommitsAreSeenAndNoneIsMinusOne) {
  CreateTopic(topic, 2);
  Publish(topic, 1, 7);
  {
    test::Member member(GroupMember());
    ASSERT_TRUE(member.Assigned(2));
    member.Commit(1, 5);
    member.consumer().Close(std::chrono::seconds(5));
  }
  KafkaLogPositions positions({test::RealBroker(), topic, GroupMember().group}, LogSink());
  const auto read = fanline::Ask(positions, ReadGroupOffsets{4, {0, 1}});
  ASSERT_TRUE(read.status.done()) << read.status.message;
  ASSERT_EQ(read.committed.size(), 2u);
  EXPECT_EQ(read.committed[0].offset, -1);
  EXPECT_EQ(read.committed[1].offset, 5);
}

TEST_F(LogPositionsTest, ABrokerThatIsNotThereIsAskedAgainLater) {
  KafkaLogPositions positions({ClientOptions{.brokers = "127.0.0.1:1"}, topic, "anybody"},
                              LogSink());
  EXPECT_TRUE(fanline::Ask(positions, ReadGroupOffsets{0, {0}}).status.later());
}

}  // namespace
}  // namespace fanline::kafka
