#include "backends/kafka/producer.h"

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "fanline/base/misconfigured.h"
#include "fanline/wire/dead_letter.h"
#include "fanline/wire/event_codec.h"
#include "tests/adapters/kafka/mock_cluster.h"
#include "tests/adapters/kafka/raw_log.h"

namespace fanline::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Api;
using test::MockCluster;
using test::ReadLog;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr int kRanges = 16;

AppendHints HintPerRange(uint64_t id) {
  AppendHints request{.id = id};
  for (Range range = 0; range < kRanges; ++range)
    request.hints.emplace_back(range, Hint::OfPost(UserId{7}, PostId{id}));
  return request;
}

// Replies as they come, from whatever thread.
class Replies {
 public:
  void Put(uint64_t id, Status status) {
    const std::lock_guard lock(mutex_);
    ++counts_[id];
    statuses_[id] = std::move(status);
    changed_.notify_all();
  }
  template <class Reply>
  void Push(Reply reply) {
    Put(reply.id, std::move(reply.status));
  }
  void Push(HintsAppended reply) {
    {
      const std::lock_guard lock(mutex_);
      for (const auto& failed : reply.failed) failed_[reply.id].push_back(failed.hint);
    }
    Put(reply.id, std::move(reply.status));
  }
  // The hints of an answered request that are not acknowledged.
  std::vector<size_t> Failed(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return failed_[id];
  }
  Status Wait(uint64_t id) {
    std::unique_lock lock(mutex_);
    const bool come = changed_.wait_for(lock, seconds(20), [&] { return statuses_.contains(id); });
    return come ? statuses_[id] : Status::Never("no reply came");
  }
  bool Has(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return statuses_.contains(id);
  }
  size_t Count(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return counts_[id];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Status> statuses_;
  std::map<uint64_t, size_t> counts_;
  std::map<uint64_t, std::vector<size_t>> failed_;
};

// One cluster for all tests (it takes a second to end), topics for each.
class ProducerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = std::make_unique<MockCluster>(); }
  static void TearDownTestSuite() { cluster_.reset(); }

  ProducerTest() {
    cluster().CreateTopic(hints, kRanges);
    cluster().CreateTopic(events, 2);
    cluster().CreateTopic(dead_letters, 1);
  }
  ~ProducerTest() override { cluster().ComeUp(); }

  static MockCluster& cluster() { return *cluster_; }
  ProducerOptions Options() {
    return {.client = {.brokers = cluster().brokers()}, .hint_topic = hints};
  }
  std::unique_ptr<Producer> Start(const ProducerOptions& options) {
    return std::make_unique<Producer>(options, LogSink());
  }
  std::unique_ptr<Producer> Start() { return Start(Options()); }
  std::vector<Record> Log(const std::string& topic, int32_t partition, size_t count) {
    return ReadLog(cluster().brokers(), topic, partition, count);
  }

  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string hints = name + "-hints";
  const std::string events = name + "-events";
  const std::string dead_letters = events + ".dlq";
  Replies replies;

 private:
  static std::unique_ptr<MockCluster> cluster_;
};

std::unique_ptr<MockCluster> ProducerTest::cluster_;

TEST_F(ProducerTest, AppendsEachHintToThePartitionOfItsRangeAndAnswersOnce) {
  auto producer = Start();

  producer->Submit(HintPerRange(1), replies);

  ASSERT_TRUE(replies.Wait(1).done()) << replies.Wait(1).message;
  for (const Range range : {0, 7, 15}) {
    const auto log = Log(hints, range, 1);
    ASSERT_EQ(log.size(), 1u);
    EXPECT_EQ(std::get<Hint>(DecodeHint(log[0].value)), Hint::OfPost(UserId{7}, PostId{1}));
    EXPECT_EQ(log[0].key, "");
  }
  EXPECT_EQ(replies.Count(1), 1u);
}

TEST_F(ProducerTest, HeadersTravelOnWithTheHints) {
  auto producer = Start();
  AppendHints request = HintPerRange(1);
  const Headers some = {{"traceparent", "00-abc-01"}, {"odd", std::string("\0\xff", 2)}};
  request.headers.resize(kRanges);
  request.headers[3] = request.headers[4] = std::make_shared<const Headers>(some);
  request.headers[5] = std::make_shared<const Headers>(Headers{{"traceparent", "00-def-02"}});

  producer->Submit(request, replies);

  ASSERT_TRUE(replies.Wait(1).done());
  EXPECT_EQ(Log(hints, 2, 1).at(0).headers, Headers());
  EXPECT_EQ(Log(hints, 3, 1).at(0).headers, some);
  EXPECT_EQ(Log(hints, 4, 1).at(0).headers, some);
  EXPECT_EQ(Log(hints, 5, 1).at(0).headers, *request.headers[5]);
}

TEST_F(ProducerTest, EachMessageKeepsItsOwnHeaders) {
  const std::string& relation_log = dead_letters;  // one partition
  ProducerOptions options = Options();
  options.relation_topic = relation_log;
  auto producer = Start(options);
  AppendRelations request{.id = 1, .messages = {}, .headers = {}};
  for (uint64_t ver = 1; ver <= 3; ++ver) {
    request.messages.emplace_back(EdgeWritten{{UserId{1}, UserId{2}, ver, true, 1}});
  }
  request.headers = {{{"traceparent", "00-abc-01"}}, {}, {{"traceparent", "00-def-02"}}};

  producer->Submit(request, replies);

  ASSERT_TRUE(replies.Wait(1).done());
  std::vector<Headers> found;
  for (const Record& record : Log(relation_log, 0, 3)) found.push_back(record.headers);
  EXPECT_EQ(found, request.headers);
}

TEST_F(ProducerTest, ARequestWithoutHintsIsDone) {
  auto producer = Start();
  producer->Submit(AppendHints{.id = 9, .hints = {}, .headers = {}}, replies);
  EXPECT_TRUE(replies.Wait(9).done());
}

TEST_F(ProducerTest, ErrorsThatPassAreRetriedOutOfSight) {
  auto producer = Start();
  cluster().Fail(Api::kProduce,
                 {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                  RD_KAFKA_RESP_ERR__TRANSPORT});

  producer->Submit(HintPerRange(1), replies);

  EXPECT_TRUE(replies.Wait(1).done()) << replies.Wait(1).message;
  EXPECT_EQ(Log(hints, 0, 1).size(), 1u);
}

TEST_F(ProducerTest, ABrokerThatStaysAwayIsLater) {
  ProducerOptions options = Options();
  options.delivery_timeout = milliseconds(1000);
  auto producer = Start(options);
  cluster().GoDown();

  producer->Submit(HintPerRange(1), replies);

  const Status status = replies.Wait(1);
  EXPECT_TRUE(status.later());
  EXPECT_EQ(status.resource, "kafka");
  EXPECT_THAT(status.message, HasSubstr(hints));
}

TEST_F(ProducerTest, WhatAFullQueueRefusesIsLater) {
  ProducerOptions options = Options();
  options.queued_records = 20;
  auto producer = Start(options);
  cluster().GoDown();

  producer->Submit(HintPerRange(1), replies);
  producer->Submit(HintPerRange(2), replies);

  producer->Submit(HintPerRange(3), replies);

  EXPECT_FALSE(replies.Has(1));  // queued, waits for the broker
  EXPECT_FALSE(replies.Has(2)) << "four found room: nobody knows yet what becomes of these";
  ASSERT_TRUE(replies.Has(3)) << "nothing of it is under way";
  EXPECT_TRUE(replies.Wait(3).later());
  EXPECT_THAT(replies.Wait(3).message, HasSubstr("queue is full"));
  EXPECT_EQ(replies.Failed(3).size(), static_cast<size_t>(kRanges));

  cluster().ComeUp();
  EXPECT_TRUE(replies.Wait(1).done());
  EXPECT_TRUE(replies.Wait(2).later());
  EXPECT_THAT(replies.Failed(2), ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  ASSERT_TRUE(producer->Flush(seconds(10)));
  for (const uint64_t id : {1, 2, 3}) EXPECT_EQ(replies.Count(id), 1u);
}

TEST_F(ProducerTest, AReplyNamesTheHintsThatAreNotAcknowledged) {
  auto producer = Start();
  cluster().Fail(Api::kProduce, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  AppendHints request{.id = 1};
  for (const Range range : {3, 4, 5})
    request.hints.emplace_back(range, Hint::OfPost(UserId{7}, PostId{1}));

  producer->Submit(request, replies);

  ASSERT_TRUE(replies.Wait(1).never()) << replies.Wait(1).message;
  ASSERT_EQ(replies.Failed(1).size(), 1u) << "each range has a request of its own to the broker";
  for (size_t hint = 0; hint < 3; ++hint) {
    if (hint == replies.Failed(1)[0]) continue;
    EXPECT_EQ(Log(hints, static_cast<int32_t>(3 + hint), 1).size(), 1u);
  }
}

TEST_F(ProducerTest, AHintThatTheClientNeverTakesHoldsUpNoneBehindIt) {
  ProducerOptions options = Options();
  options.client.properties["message.max.bytes"] = "1000";
  auto producer = Start(options);
  AppendHints request{.id = 1};
  for (const uint64_t post : {1, 2, 3})
    request.hints.emplace_back(3, Hint::OfPost(UserId{7}, PostId{post}));
  request.headers.resize(3);
  request.headers[1] =
      std::make_shared<const Headers>(Headers{{"tracestate", std::string(2'000, 'x')}});

  producer->Submit(request, replies);

  EXPECT_TRUE(replies.Wait(1).never()) << replies.Wait(1).message;
  EXPECT_THAT(replies.Failed(1), ElementsAre(1));
  EXPECT_EQ(Log(hints, 3, 2).size(), 2u);
}

TEST_F(ProducerTest, ADeadLetterThatIsTooLargeLeavesItsOriginBehind) {
  ProducerOptions options = Options();
  options.max_record_bytes = 10'000;
  auto producer = Start(options);
  const Record large = {events, 1, 4711, 0, {}, std::string(20'000, 'x'), {}};

  producer->Submit(AppendDeadLetter{1, {large, "dispatcher", "author_id: missing"}}, replies);

  EXPECT_TRUE(replies.Wait(1).done()) << replies.Wait(1).message;
  const auto log = Log(dead_letters, 0, 1);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].value, "");
  EXPECT_THAT(
      log[0].headers,
      ElementsAre(Pair("fanline-reason", "author_id: missing"), Pair("fanline-stage", "dispatcher"),
                  Pair("fanline-origin", events + "/1/4711"),
                  Pair("fanline-omitted",
                       ::testing::AllOf(HasSubstr("20000 bytes"), HasSubstr("larger than")))));
}

TEST_F(ProducerTest, ADeadLetterThatIsRefusedEvenSoHoldsUpNothing) {
  auto producer = Start();
  cluster().Fail(Api::kProduce,
                 {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});

  producer->Submit(AppendDeadLetter{1, {.record = {.topic = events}}}, replies);

  EXPECT_TRUE(replies.Wait(1).done()) << replies.Wait(1).message;
  EXPECT_EQ(replies.Count(1), 1u);
}

TEST_F(ProducerTest, APartitionThatDoesNotExistIsLater) {
  auto producer = Start();
  AppendHints request{.id = 1};
  request.hints.emplace_back(kRanges, Hint::OfPost(UserId{7}, PostId{1}));

  producer->Submit(request, replies);

  EXPECT_TRUE(replies.Wait(1).later()) << replies.Wait(1).message;
}

// The error makes an idempotent producer fatal: from then on it accepts nothing.
TEST_F(ProducerTest, AFatalErrorIsLaterAndANewProducerTakesOver) {
  auto producer = Start();
  producer->Submit(HintPerRange(1), replies);
  ASSERT_TRUE(replies.Wait(1).done());
  cluster().Fail(Api::kProduce, {RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER});
  AppendHints one{.id = 2};
  one.hints.emplace_back(0, Hint::OfPost(UserId{7}, PostId{2}));

  producer->Submit(one, replies);

  ASSERT_TRUE(replies.Wait(2).later()) << replies.Wait(2).message;
  uint64_t id = 3;
  const auto until = std::chrono::steady_clock::now() + seconds(20);
  for (producer->Submit(HintPerRange(id), replies); !replies.Wait(id).done();
       producer->Submit(HintPerRange(id), replies)) {
    ASSERT_TRUE(replies.Wait(id).later()) << replies.Wait(id).message;
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    ++id;
  }
  EXPECT_GT(id, 3u) << "the old producer was not fatal: this test shows nothing";
  EXPECT_EQ(Log(hints, 5, 2).size(), 2u);
}

TEST_F(ProducerTest, ADeadLetterIsTheRecordByteForByteWithItsStory) {
  auto producer = Start();
  const Record record = {events,
                         1,
                         4711,
                         5,
                         std::string("k\0y", 3),
                         std::string("\0\x01\xffv", 4),
                         {{"traceparent", "00-abc-01"}, {"traceparent", "twice"}}};

  producer->Submit(AppendDeadLetter{1, {record, "dispatcher", "author_id: missing"}}, replies);

  ASSERT_TRUE(replies.Wait(1).done()) << replies.Wait(1).message;
  const auto log = Log(dead_letters, 0, 1);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].key, record.key);
  EXPECT_EQ(log[0].value, record.value);
  EXPECT_THAT(
      log[0].headers,
      ElementsAre(Pair("traceparent", "00-abc-01"), Pair("traceparent", "twice"),
                  Pair("fanline-reason", "author_id: missing"), Pair("fanline-stage", "dispatcher"),
                  Pair("fanline-origin", events + "/1/4711"), Pair("fanline-first-appended", "5")));
}

TEST_F(ProducerTest, ADeadLetterOfAReplayKeepsItsFirstTime) {
  auto producer = Start();
  const Record record = {events, 1, 4711, 5'000, {}, "v", {{"fanline-first-appended", "5"}}};

  producer->Submit(AppendDeadLetter{1, {.record = record}}, replies);

  ASSERT_TRUE(replies.Wait(1).done()) << replies.Wait(1).message;
  const auto log = Log(dead_letters, 0, 1);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(std::count_if(log[0].headers.begin(), log[0].headers.end(),
                          [](const auto& header) { return header.first.ends_with("appended"); }),
            1);
  EXPECT_EQ(FirstAppended(log[0]), 5);
}

TEST_F(ProducerTest, AnEventIsJsonKeyedByItsPostOrItsOwnText) {
  ProducerOptions options = Options();
  options.feed_topic = dead_letters;  // any topic of one partition
  auto producer = Start(options);
  const FeedEvent event{EventKind::kPublished, PostId{77}, UserId{5}, 1'000, 0};
  producer->Submit(AppendEvent{1, event}, replies);
  producer->Submit(AppendEvent{2, event, "{ as it came }"}, replies);

  ASSERT_TRUE(replies.Wait(1).done()) << replies.Wait(1).message;
  ASSERT_TRUE(replies.Wait(2).done()) << replies.Wait(2).message;
  const auto log = Log(dead_letters, 0, 2);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].key, "77");
  EXPECT_EQ(log[0].value, EncodeEventJson(event));
  EXPECT_THAT(log[0].headers, ElementsAre(Pair("content-type", "application/json")));
  EXPECT_EQ(log[1].value, "{ as it came }");
}

TEST_F(ProducerTest, ProducesAnyRecordAndCallsBack) {
  auto producer = Start();
  for (uint64_t id = 0; id < 100; ++id)
    producer->Produce(events, kAnyPartition, "author-7", std::to_string(id), {},
                      [this, id](Status status) { replies.Put(id, std::move(status)); });

  ASSERT_TRUE(producer->Flush(seconds(10)));
  for (uint64_t id = 0; id < 100; ++id) EXPECT_TRUE(replies.Has(id));
  // Murmur2 of "author-7", as Java's producer places it: one partition holds all, in order.
  const auto log = Log(events, 1, 100);
  ASSERT_EQ(log.size(), 100u);
  EXPECT_EQ(log[99].value, "99");
}

TEST_F(ProducerTest, FlushEndsWhenItsTimeIsUpAndClosingAnswersWhatIsUnderWay) {
  auto producer = Start();
  cluster().GoDown();
  producer->Submit(HintPerRange(1), replies);
  EXPECT_FALSE(producer->Flush(milliseconds(50)));
  EXPECT_FALSE(replies.Has(1));

  producer->Close(milliseconds(100));

  ASSERT_TRUE(replies.Has(1));
  EXPECT_TRUE(replies.Wait(1).later());
  producer->Submit(HintPerRange(2), replies);
  ASSERT_TRUE(replies.Has(2));
  EXPECT_TRUE(replies.Wait(2).later());
}

TEST_F(ProducerTest, ARefusedPropertyIsNamedAndItsValueIsNot) {
  // The first carries a guarantee.
  for (const auto& [property, value] : {std::pair{"acks", "1"}, {"security.protocol", "hunter2"}}) {
    ProducerOptions options = Options();
    options.client.properties[property] = value;
    try {
      Start(options);
      FAIL() << property << " was taken";
    } catch (const Misconfigured& error) {
      EXPECT_THAT(error.what(), HasSubstr(property));
      EXPECT_THAT(error.what(), Not(HasSubstr("hunter2")));
    }
  }
}

}  // namespace
}  // namespace fanline::kafka
