#include "backends/kafka/consumer.h"

#include <gtest/gtest.h>

#include "fanline/base/mono_now.h"
#include "tests/adapters/kafka/member.h"
#include "tests/adapters/kafka/raw_log.h"
#include "tests/integration/kafka/real_broker.h"

namespace fanline::kafka {
namespace {

using test::Member;
using test::OffsetsFromTo;
using test::RealBrokerTest;
using test::TrimLog;
using test::WriteLog;

class ConsumerTest : public RealBrokerTest {
 protected:
  PartitionAssigned OnlyAssignment(Member& m) {
    EXPECT_TRUE(m.Assigned(1));
    const auto all = m.All<PartitionAssigned>();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? PartitionAssigned{} : all[0];
  }
};

TEST_F(ConsumerTest, ALogTrimmedUnderAPausedPartitionIsReportedNotSilentlyJumped) {
  CreateTopic(topic, 1);
  Publish(topic, 0, 50);
  Member m(GroupMember());
  m.Seek(0, OnlyAssignment(m).start);
  m.Pause(0);
  ASSERT_TRUE(TrimLog(brokers, topic, 0, 30));

  m.Resume(0);

  ASSERT_TRUE(m.Assigned(2));
  EXPECT_EQ(m.All<PartitionRevoked>().size(), 1u);
  const PartitionAssigned again = m.All<PartitionAssigned>()[1];
  EXPECT_EQ(again.low, 30);
  EXPECT_EQ(again.end, 50);
  EXPECT_FALSE(again.tail_lost());
  EXPECT_EQ(again.first(), 30);
  EXPECT_TRUE(m.Offsets(0).empty());

  m.Seek(0, 30);
  ASSERT_TRUE(m.Delivered(0, 20));
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(30, 50));
}

// What has been read for certain is not read again: a week of it would hold up what is new.
TEST_F(ConsumerTest, AfterALostTailAnHourBeforeTheLastRecordIsReadAgain) {
  CreateTopic(topic, 1);
  const UnixMs now = UnixNow(), minute = 60'000;
  ASSERT_TRUE(WriteLog(brokers, topic, 0, 30, now - 300 * minute));
  ASSERT_TRUE(WriteLog(brokers, topic, 0, 10, now - 150 * minute));
  ASSERT_TRUE(WriteLog(brokers, topic, 0, 10, now - 120 * minute));
  {
    Member first(GroupMember());
    first.Seek(0, OnlyAssignment(first).start);
    ASSERT_TRUE(first.Delivered(0, 50));
    first.Commit(0, 60);  // as if there had been ten more of that time
  }
  Member second(GroupMember());
  const PartitionAssigned assigned = OnlyAssignment(second);
  EXPECT_TRUE(assigned.tail_lost());
  EXPECT_EQ(assigned.end, 50);
  EXPECT_EQ(assigned.first(), 30);
}

// A member commits the start before it has read a record.
TEST_F(ConsumerTest, TheTimeOfTheLastRecordOutlivesAMemberThatReadNone) {
  CreateTopic(topic, 1);
  ASSERT_TRUE(WriteLog(brokers, topic, 0, 30, UnixNow() - 18'000'000));
  ASSERT_TRUE(WriteLog(brokers, topic, 0, 20, UnixNow()));
  {
    Member first(GroupMember());
    first.Seek(0, OnlyAssignment(first).start);
    ASSERT_TRUE(first.Delivered(0, 50));
    first.Commit(0, 50);
  }
  {
    Member second(GroupMember());
    second.Seek(0, OnlyAssignment(second).start);
    second.Commit(0, 60);
  }
  Member third(GroupMember());
  EXPECT_EQ(OnlyAssignment(third).first(), 30);
}

TEST_F(ConsumerTest, AMemberOfATopicThatIsMissingGetsItWhenItIsThere) {
  ConsumerOptions options = GroupMember();
  options.client.properties["topic.metadata.refresh.interval.ms"] = "200";
  Member m(options);
  m.Turn(std::chrono::milliseconds(500));

  CreateTopic(topic, 1);
  Publish(topic, 0, 1);

  m.Seek(0, OnlyAssignment(m).start);
  EXPECT_TRUE(m.Delivered(0, 1));
}

}  // namespace
}  // namespace fanline::kafka
