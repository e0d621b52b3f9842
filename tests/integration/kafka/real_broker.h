// The broker that stack/with-stack started, and topics of one test on it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>

#include "backends/kafka/admin.h"
#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"

namespace fanline::kafka::test {

inline ClientOptions RealBroker() {
  const char* brokers = std::getenv("FANLINE_KAFKA_BROKERS");
  ClientOptions options{.brokers = brokers == nullptr ? "" : brokers};
  EXPECT_NE(options.brokers, "") << "run by stack/with-stack";
  return options;
}

class RealBrokerTest : public ::testing::Test {
 protected:
  void CreateTopic(const std::string& name, int32_t partitions,
                   std::map<std::string, std::string> configs = {}) {
    const Status status = admin.CreateTopic({name, partitions, 1, std::move(configs)});
    ASSERT_TRUE(status.done()) << status.message;
  }
  // Publishes `records` records with the values "0", "1", ... Returns when they are acknowledged.
  void Publish(const std::string& to, int32_t partition, int records) {
    Producer producer({.client = RealBroker()}, LogSink());
    std::atomic<int> done = 0;
    for (int i = 0; i < records; ++i)
      producer.Produce(to, partition, "key", std::to_string(i), {},
                       [&done](Status status) { done += status.done(); });
    ASSERT_TRUE(producer.Flush(std::chrono::seconds(20)));
    ASSERT_EQ(done, records);
  }
  ConsumerOptions GroupMember() const {
    return {.client = RealBroker(),
            .group = topic + "-group",
            .topic = topic,
            .session_timeout = std::chrono::milliseconds(6000)};
  }

  const std::string brokers = RealBroker().brokers;
  // A new name each time, so that --gtest_repeat works.
  const std::string topic =
      std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
      std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  Admin admin{RealBroker(), std::chrono::seconds(10), LogSink()};
};

}  // namespace fanline::kafka::test
