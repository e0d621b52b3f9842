#include "backends/kafka/consumer.h"

#include <gtest/gtest.h>

#include "backends/kafka/testing/member.h"
#include "backends/kafka/testing/raw_log.h"
#include "tests/integration/kafka/real_broker.h"

namespace fanline::kafka {
namespace {

using test::CommitOffset;
using test::CommittedOffset;
using test::Member;
using test::OffsetsFromTo;
using test::RealBrokerTest;
using test::TrimLog;

class ConsumerTest : public RealBrokerTest {
 protected:
  PartitionAssigned OnlyAssignment(Member& m) {
    EXPECT_TRUE(m.Assigned(1));
    const auto all = m.All<PartitionAssigned>();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? PartitionAssigned{} : all[0];
  }
};

TEST_F(ConsumerTest, TheVeryFirstStartReadsFromWhereTheLogBegins) {
  CreateTopic(topic, 1);
  Publish(topic, 0, 50);
  ASSERT_TRUE(TrimLog(brokers, topic, 0, 30));
  Member m(GroupMember());

  const PartitionAssigned assigned = OnlyAssignment(m);
  EXPECT_EQ(assigned.start, 30);
  EXPECT_EQ(assigned.low, 30);

  m.Seek(0, assigned.start);
  ASSERT_TRUE(m.Delivered(0, 20));
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(30, 50));
}

TEST_F(ConsumerTest, TheNextMemberGoesOnAtTheCommittedOffset) {
  CreateTopic(topic, 1);
  Publish(topic, 0, 50);
  {
    Member first(GroupMember());
    first.Seek(0, OnlyAssignment(first).start);
    ASSERT_TRUE(first.Delivered(0, 50));
    first.Commit(0, 37);
    // Closed at once: what was ordered is committed on the way out.
  }
  Member second(GroupMember());

  const PartitionAssigned assigned = OnlyAssignment(second);
  EXPECT_EQ(assigned.start, 37);
  second.Seek(0, assigned.start);
  ASSERT_TRUE(second.Delivered(0, 13));
  EXPECT_EQ(second.Offsets(0), OffsetsFromTo(37, 50));
}

TEST_F(ConsumerTest, ACommittedOffsetBelowTheLogIsReportedAsItIs) {
  CreateTopic(topic, 1);
  Publish(topic, 0, 50);
  ASSERT_TRUE(CommitOffset(brokers, topic + "-group", topic, 0, 10));
  ASSERT_TRUE(TrimLog(brokers, topic, 0, 30));
  Member m(GroupMember());

  const PartitionAssigned assigned = OnlyAssignment(m);
  EXPECT_EQ(assigned.start, 10);
  EXPECT_EQ(assigned.low, 30);
}

TEST_F(ConsumerTest, ALogTrimmedUnderAPausedPartitionIsTroubleNotASilentJump) {
  CreateTopic(topic, 1);
  Publish(topic, 0, 50);
  Member m(GroupMember());
  m.Seek(0, OnlyAssignment(m).start);
  m.Pause(0);
  ASSERT_TRUE(TrimLog(brokers, topic, 0, 30));

  m.Resume(0);

  ASSERT_TRUE(m.Until([&] { return !m.All<PartitionTrouble>().empty(); }));
  EXPECT_EQ(m.All<PartitionTrouble>()[0].position, 0);
  EXPECT_TRUE(m.Offsets(0).empty());

  m.Seek(0, 30);
  ASSERT_TRUE(m.Delivered(0, 20));
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(30, 50));
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
