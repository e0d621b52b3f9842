#include "backends/kafka/partition_flow.h"

#include <gtest/gtest.h>

namespace fanline::kafka {
namespace {

// A client whose brokers are not there: only librdkafka's own thread answers.
class PartitionFlowTest : public ::testing::Test {
 protected:
  // Fetchers start and stop in librdkafka's own time.
  void Settle() {
    while (!flow.Settle(MonoNow())) continue;
  }

  void FlowFrom5() {
    flow.Assign({0});
    flow.Seek(0, 5);
    Settle();
  }

  Client client{RD_KAFKA_CONSUMER,
                ClientConfig({.brokers = "127.0.0.1:1"}, {{"group.id", "nobody"}}, {}), LogSink(),
                nullptr};
  PartitionFlow flow{client, "topic"};
};

TEST_F(PartitionFlowTest, NothingIsAcceptedBeforeASeek) {
  flow.Assign({0, 1});
  EXPECT_FALSE(flow.Accept(0, 0));
  flow.Resume(0);  // not even after a resume: there is no position
  Settle();
  EXPECT_FALSE(flow.Accept(0, 0));
}

TEST_F(PartitionFlowTest, NothingIsAcceptedBetweenASeekAndLibrdkafkaDoingIt) {
  flow.Assign({0});
  flow.Seek(0, 5);
  EXPECT_FALSE(flow.Accept(0, 7));
  Settle();
  EXPECT_TRUE(flow.Accept(0, 7));
  EXPECT_EQ(flow.next(0), 8);
}

TEST_F(PartitionFlowTest, RecordsBelowThePositionAreNotAcceptedAgain) {
  FlowFrom5();
  EXPECT_FALSE(flow.Accept(0, 4));
  EXPECT_TRUE(flow.Accept(0, 5));
  EXPECT_FALSE(flow.Accept(0, 5));
  EXPECT_TRUE(flow.Accept(0, 9));  // a gap: compaction, transaction markers
}

TEST_F(PartitionFlowTest, NothingIsAcceptedOfAPausedOrForeignPartition) {
  flow.Assign({0, 1});
  flow.Seek(0, 5);
  flow.Pause(0);
  Settle();
  EXPECT_FALSE(flow.Accept(0, 5));
  EXPECT_FALSE(flow.Accept(2, 5));
  flow.Resume(0);
  Settle();
  EXPECT_TRUE(flow.Accept(0, 5));
}

TEST_F(PartitionFlowTest, NothingIsAcceptedAfterARevocationUntilTheNextSeek) {
  FlowFrom5();
  flow.Unassign();
  EXPECT_FALSE(flow.Accept(0, 5));
  flow.Seek(0, 5);  // an order that crossed the revocation
  flow.Assign({0});
  Settle();
  EXPECT_FALSE(flow.Accept(0, 5));
}

TEST_F(PartitionFlowTest, AStopIsToldOnceAndOnlyOfWhatWasFlowing) {
  flow.Assign({0});
  EXPECT_FALSE(flow.Park(0));
  flow.Seek(0, 5);
  EXPECT_FALSE(flow.Park(0));  // of the position before
  Settle();
  EXPECT_TRUE(flow.Park(0));
  EXPECT_FALSE(flow.Park(0));
  EXPECT_FALSE(flow.Accept(0, 5));
}

TEST_F(PartitionFlowTest, WhatIsPausedAndParkedWaitsForBoth) {
  FlowFrom5();
  ASSERT_TRUE(flow.Park(0));
  flow.Pause(0);
  flow.GoOn(0);
  Settle();
  EXPECT_FALSE(flow.Accept(0, 5));
  flow.Resume(0);
  Settle();
  ASSERT_TRUE(flow.Accept(0, 5));

  ASSERT_TRUE(flow.Park(0));
  flow.Pause(0);
  flow.Resume(0);
  Settle();
  EXPECT_FALSE(flow.Accept(0, 6));
  flow.GoOn(0);
  Settle();
  EXPECT_TRUE(flow.Accept(0, 6));
}

TEST_F(PartitionFlowTest, ASeekRevivesWhatIsParked) {
  FlowFrom5();
  ASSERT_TRUE(flow.Park(0));
  flow.Seek(0, 3);
  Settle();
  EXPECT_TRUE(flow.Accept(0, 3));
}

TEST_F(PartitionFlowTest, AForgottenPartitionIsAsItCame) {
  FlowFrom5();
  ASSERT_TRUE(flow.Park(0));
  flow.Forget(0);
  flow.GoOn(0);
  flow.Resume(0);
  Settle();
  EXPECT_FALSE(flow.Accept(0, 5));
  EXPECT_EQ(flow.next(0), std::nullopt);
  EXPECT_TRUE(flow.owns(0));
}

}  // namespace
}  // namespace fanline::kafka
