#include "backends/kafka/tools/log_reader.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/adapters/kafka/raw_log.h"
#include "tests/integration/kafka/real_broker.h"

namespace fanline::kafka {
namespace {

using test::RealBroker;

class LogReaderTest : public test::RealBrokerTest {
 protected:
  std::vector<std::string> Read(const LogSpan& span, Status* status = nullptr) {
    std::vector<std::string> values;
    const Status read = reader.Read(topic, span, [&](const Record& record) {
      values.push_back(record.value);
      return true;
    });
    if (status != nullptr) *status = read;
    EXPECT_TRUE(status != nullptr || read.done()) << read.message;
    return values;
  }

  LogReader reader{RealBroker(), std::chrono::seconds(10), LogSink()};
};

using Values = std::vector<std::string>;

TEST_F(LogReaderTest, ReadsWhatStoodThereWhenItLooked) {
  CreateTopic(topic, 2);
  Publish(topic, 1, 5);
  std::vector<LogSpan> spans;
  ASSERT_TRUE(reader.Look(topic, 2, 0, &spans).done());
  Publish(topic, 1, 3);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_TRUE(spans[0].empty());
  EXPECT_EQ(Read(spans[0]), Values());
  EXPECT_EQ(Read(spans[1]), (Values{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(Read({1, 1, 3}), (Values{"1", "2"}));
  int taken = 0;
  EXPECT_TRUE(reader.Read(topic, spans[1], [&](const Record&) { return ++taken < 2; }).done());
  EXPECT_EQ(taken, 2);
}

TEST_F(LogReaderTest, LooksForWhatIsNotOlderThanATime) {
  CreateTopic(topic, 1);
  Publish(topic, 0, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  std::vector<LogSpan> spans;
  ASSERT_TRUE(reader.Look(topic, 1, since, &spans).done());
  EXPECT_TRUE(spans[0].empty()) << "nothing is that young";
  Publish(topic, 0, 2);
  ASSERT_TRUE(reader.Look(topic, 1, since, &spans).done());
  EXPECT_EQ(spans[0].from, 2);
  EXPECT_EQ(spans[0].to, 4);
}

TEST_F(LogReaderTest, WhatIsGoneMeanwhileIsToldAndNothingIsGuessed) {
  CreateTopic(topic, 1);
  Publish(topic, 0, 5);
  ASSERT_TRUE(test::TrimLog(brokers, topic, 0, 3));
  Status status;
  EXPECT_EQ(Read({0, 0, 5}, &status), Values());
  EXPECT_TRUE(status.later()) << status.message;
  EXPECT_NE(status.message.find("the log does not hold this offset"), status.message.npos)
      << status.message;
}

}  // namespace
}  // namespace fanline::kafka
