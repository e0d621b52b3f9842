#include "backends/kafka/admin.h"

#include <gmock/gmock.h>

#include "tests/integration/kafka/real_broker.h"

namespace fanline::kafka {
namespace {

using test::RealBrokerTest;
using ::testing::HasSubstr;

class AdminTest : public RealBrokerTest {};

TEST_F(AdminTest, MakesATopicOnceAndIsContentToFindIt) {
  const TopicSpec spec{topic, 16, 1, {}};
  EXPECT_TRUE(admin.CreateTopic(spec).done());

  int32_t partitions = -1;
  ASSERT_TRUE(admin.CountPartitions(topic, &partitions).done());
  EXPECT_EQ(partitions, 16);
  const Status again = admin.CreateTopic(spec);
  EXPECT_TRUE(again.done()) << again.message;
}

TEST_F(AdminTest, ATopicWithAnotherNumberOfPartitionsIsRefusedNamingBoth) {
  CreateTopic(topic, 4);
  const Status status = admin.CreateTopic({topic, 16, 1, {}});
  EXPECT_TRUE(status.never());
  EXPECT_THAT(status.message, HasSubstr(topic));
  EXPECT_THAT(status.message, HasSubstr("4 partitions"));
  EXPECT_THAT(status.message, HasSubstr("16 are wanted"));
}

TEST_F(AdminTest, LookingForATopicDoesNotMakeIt) {
  for (int i = 0; i < 2; ++i) {
    int32_t partitions = -1;
    ASSERT_TRUE(admin.CountPartitions(topic, &partitions).done());
    EXPECT_EQ(partitions, 0);
  }
}

TEST_F(AdminTest, WhatNoClusterWouldMakeIsNever) {
  EXPECT_TRUE(admin.CreateTopic({"no/such?name", 1, 1, {}}).never());
  EXPECT_TRUE(admin.CreateTopic({topic, 0, 1, {}}).never());
  EXPECT_TRUE(admin.CreateTopic({topic, 1, 1, {{"no.such.setting", "1"}}}).never());
  const Status copies = admin.CreateTopic({topic, 1, 3, {}});
  EXPECT_TRUE(copies.never());
  EXPECT_EQ(copies.message.find('\n'), std::string::npos);
}

TEST_F(AdminTest, ReadsATopicsOwnSettingsAndTheBrokersDefaults) {
  ASSERT_TRUE(admin.CreateTopic({topic, 1, 1, {{kTimestampType, kLogAppendTime}}}).done());
  std::string value;
  ASSERT_TRUE(admin.ReadConfig(topic, kTimestampType, &value).done());
  EXPECT_EQ(value, kLogAppendTime);
  ASSERT_TRUE(admin.ReadConfig(topic, "cleanup.policy", &value).done());
  EXPECT_EQ(value, "delete");
  EXPECT_TRUE(admin.ReadConfig(topic, "no.such.setting", &value).never());
}

TEST(AdminWithoutBroker, AnswersLaterInItsTime) {
  Admin admin({.brokers = "127.0.0.1:1"}, std::chrono::milliseconds(300), LogSink());
  const auto begin = std::chrono::steady_clock::now();
  int32_t partitions = 0;
  EXPECT_TRUE(admin.CountPartitions("any", &partitions).later());
  EXPECT_TRUE(admin.CreateTopic({"any", 1, 1, {}}).later());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

}  // namespace
}  // namespace fanline::kafka
