#include "backends/kafka/producer.h"

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "fanline/wire/dead_letter.h"
#include "tests/adapters/kafka/raw_log.h"
#include "tests/integration/kafka/real_broker.h"
#include "tests/integration/replies.h"

namespace fanline::kafka {
namespace {

using test::ReadLog;
using test::RealBroker;
using test::RealBrokerTest;
using ::testing::ElementsAre;
using ::testing::Pair;

class ProducerTest : public RealBrokerTest {
 protected:
  ProducerOptions Options() const { return {.client = RealBroker(), .hint_topic = topic}; }
  static constexpr size_t kLargest = 1024 * 1024 - 1000;  // of a topic with the default limit
};

TEST_F(ProducerTest, TheLargestRecordAndItsStoryFitIntoTheDeadLetters) {
  CreateTopic(topic + ".dlq", 1, {{"max.message.bytes", std::to_string(1024 * 1024 + 65536)}});
  Producer producer(Options(), LogSink());
  DeadLetter letter{
      .record = {topic, 3, 12345678901, 0, std::string("k\0", 2), {}, {{"app", "\x01"}}},
      .stage = "dispatcher",
      .reason = std::string(2000, 'r')};
  for (size_t i = 0; i < kLargest; ++i) letter.record.value += static_cast<char>(i * 7 % 256);

  const Status status = Ask(producer, AppendDeadLetter{0, letter}).status;

  ASSERT_TRUE(status.done()) << status.message;
  const auto log = ReadLog(brokers, topic + ".dlq", 0, 1);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].key, letter.record.key);
  EXPECT_TRUE(log[0].value == letter.record.value);
  EXPECT_THAT(log[0].headers, ElementsAre(Pair("app", "\x01"), Pair(kReasonHeader, letter.reason),
                                          Pair(kStageHeader, "dispatcher"),
                                          Pair(kOriginHeader, topic + "/3/12345678901")));
}

TEST_F(ProducerTest, HintsOfManyRequestsKeepTheirOrderInEachPartition) {
  constexpr uint64_t kRequests = 2000;
  constexpr Range kRanges = 16;
  CreateTopic(topic, kRanges);
  Replies<HintsAppended> replies;
  Producer producer(Options(), LogSink());
  for (uint64_t id = 1; id <= kRequests; ++id) {
    AppendHints request{.id = id};
    for (Range range = 0; range < kRanges; ++range)
      request.hints.emplace_back(range, Hint::OfPost(UserId{1}, PostId{id}));
    producer.Submit(std::move(request), replies);
  }
  ASSERT_TRUE(producer.Flush(std::chrono::seconds(30)));
  for (uint64_t id = 1; id <= kRequests; ++id) EXPECT_TRUE(replies.Await(id).status.done());

  for (const Range range : {0, 15}) {
    const auto log = ReadLog(brokers, topic, range, kRequests);
    ASSERT_EQ(log.size(), kRequests);
    for (uint64_t i = 0; i < kRequests; ++i) {
      ASSERT_EQ(std::get<Hint>(DecodeHint(log[i].value)), Hint::OfPost(UserId{1}, PostId{i + 1}));
    }
  }
}

TEST_F(ProducerTest, ATopicThatIsMissingIsLaterAndDoneOnceItIsThere) {
  ProducerOptions options = Options();
  options.delivery_timeout = std::chrono::milliseconds(2000);
  options.client.properties["topic.metadata.propagation.max.ms"] = "500";
  options.client.properties["topic.metadata.refresh.interval.ms"] = "200";
  Producer producer(options, LogSink());
  const auto produce = [&] {
    std::promise<Status> answered;
    producer.Produce(topic, 0, {}, "x", {},
                     [&](Status status) { answered.set_value(std::move(status)); });
    return answered.get_future().get();
  };
  const Status missing = produce();
  EXPECT_TRUE(missing.later()) << missing.message;

  CreateTopic(topic, 1);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  Status status = produce();
  while (!status.done() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    status = produce();
  }
  EXPECT_TRUE(status.done()) << status.message;
}

}  // namespace
}  // namespace fanline::kafka
