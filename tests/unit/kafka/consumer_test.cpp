#include "backends/kafka/consumer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "backends/kafka/producer.h"
#include "fanline/base/mono_now.h"
#include "tests/adapters/kafka/member.h"
#include "tests/adapters/kafka/mock_cluster.h"
#include "tests/adapters/kafka/raw_log.h"

namespace fanline::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Api;
using test::Member;
using test::MockCluster;
using test::OffsetsFromTo;

constexpr int kPartitions = 2;
constexpr int kRecords = 100;  // in each partition, when a test starts

// A cluster, and a producer on it.
class World {
 public:
  explicit World(int brokers = 1) : cluster(brokers) {
    producer_ = std::make_unique<Producer>(
        ProducerOptions{.client = {.brokers = cluster.brokers()}}, LogSink());
  }

  void CreateTopic(const std::string& topic) {
    cluster.CreateTopic(topic, kPartitions);
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      Publish(topic, partition, kRecords);
  }
  void Publish(const std::string& topic, int32_t partition, int records,
               const std::string& value = "value", const Headers& headers = {}) {
    std::atomic<int> done = 0;
    for (int i = 0; i < records; ++i)
      producer_->Produce(topic, partition, "key", value, headers,
                         [&done](Status status) { done += status.done(); });
    ASSERT_TRUE(producer_->Flush(seconds(10)));
    ASSERT_EQ(done, records);
  }
  ConsumerOptions OptionsFor(const std::string& topic) const {
    return {.client = {.brokers = cluster.brokers()},
            .group = topic + "-group",
            .topic = topic,
            .fetch_wait = milliseconds(20)};
  }
  int64_t Committed(const std::string& topic, int32_t partition) const {
    return test::CommittedOffset(cluster.brokers(), topic + "-group", topic, partition);
  }
  void Commit(const std::string& topic, int32_t partition, int64_t offset) const {
    test::CommitOffset(cluster.brokers(), topic + "-group", topic, partition, offset);
  }

  MockCluster cluster;

 private:
  std::unique_ptr<Producer> producer_;
};

// One world for these tests, and for each a topic and a member of a group of its own. All join at
// once, when the suite starts, so that the mock group's 3 s are waited for once.
class ConsumerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<World>();
    const auto* suite = ::testing::UnitTest::GetInstance()->current_test_suite();
    for (int i = 0; i < suite->total_test_count(); ++i) {
      if (!suite->GetTestInfo(i)->should_run()) continue;
      const std::string name = suite->GetTestInfo(i)->name();
      world_->CreateTopic(name);
      members_[name] = std::make_unique<Member>(world_->OptionsFor(name));
    }
  }
  static void TearDownTestSuite() {
    members_.clear();
    world_.reset();
  }

  static World& world() { return *world_; }
  Member& member() { return *members_.at(topic); }
  // The member, with all partitions flowing from their start.
  Member& Flowing() {
    EXPECT_TRUE(member().Assigned(kPartitions));
    for (int32_t partition = 0; partition < kPartitions; ++partition) member().Seek(partition, 0);
    return member();
  }
  // Publishes behind all there is, and waits for that record of partition 0. Whatever was fetched
  // before it has arrived by then.
  void PassTime(Member& m) {
    const size_t before = m.Offsets(0).size();
    world().Publish(topic, 0, 1);
    ASSERT_TRUE(m.Delivered(0, before + 1));
  }

  const std::string topic = ::testing::UnitTest::GetInstance()->current_test_info()->name();

 private:
  static std::unique_ptr<World> world_;
  static std::map<std::string, std::unique_ptr<Member>> members_;
};

std::unique_ptr<World> ConsumerTest::world_;
std::map<std::string, std::unique_ptr<Member>> ConsumerTest::members_;

TEST_F(ConsumerTest, OnTheVeryFirstStartAPartitionComesWithTheLogsFirstOffset) {
  ASSERT_TRUE(member().Assigned(kPartitions));
  for (const PartitionAssigned& assigned : member().All<PartitionAssigned>()) {
    EXPECT_EQ(assigned.start, 0);
    EXPECT_FALSE(assigned.committed);
    EXPECT_EQ(assigned.low, 0);
    EXPECT_EQ(assigned.end, kRecords);
    EXPECT_FALSE(assigned.tail_lost());
  }
}

TEST_F(ConsumerTest, NothingIsDeliveredOfAPartitionThatWasNotSought) {
  Member& m = member();
  ASSERT_TRUE(m.Assigned(kPartitions));
  m.Seek(0, 0);
  ASSERT_TRUE(m.Delivered(0, kRecords));
  PassTime(m);
  EXPECT_TRUE(m.Offsets(1).empty());
}

TEST_F(ConsumerTest, DeliversRecordsWholeAndInOrderFromWhereItWasSought) {
  Member& m = member();
  const Headers headers = {{"traceparent", "00-abc-01"}, {"empty", ""}};
  world().Publish(topic, 1, 1, std::string("\0v\xff", 3), headers);
  ASSERT_TRUE(m.Assigned(kPartitions));

  m.Seek(1, 40);

  ASSERT_TRUE(m.Delivered(1, kRecords - 40 + 1));
  EXPECT_EQ(m.Offsets(1), OffsetsFromTo(40, kRecords + 1));
  const Record last = m.All<Record>().back();
  EXPECT_EQ(last.topic, topic);
  EXPECT_EQ(last.partition, 1);
  EXPECT_EQ(last.key, "key");
  EXPECT_EQ(last.value, std::string("\0v\xff", 3));
  EXPECT_EQ(last.headers, headers);
  EXPECT_GT(last.timestamp, 1'600'000'000'000);
}

TEST_F(ConsumerTest, ASleepingLoopIsWokenByARecord) {
  Member& m = Flowing();
  ASSERT_TRUE(m.Delivered(0, kRecords));
  ASSERT_TRUE(m.Delivered(1, kRecords));
  const size_t woken = m.woken();
  world().Publish(topic, 0, 1);
  // Nothing else would end this wait.
  while (m.woken() == woken) m.Turn(seconds(30));
  ASSERT_TRUE(m.Delivered(0, kRecords + 1));
}

TEST_F(ConsumerTest, WhatComesWhileFetchesRestIsDeliveredAfterTheMoment) {
  Member& m = Flowing();
  ASSERT_TRUE(m.Delivered(0, kRecords));
  ASSERT_TRUE(m.Delivered(1, kRecords));
  const Time moment = std::chrono::time_point_cast<Duration>(Clock::now()) + milliseconds(400);
  m.consumer().RestUntil(moment);
  PassTime(m);
  EXPECT_GE(Clock::now(), moment);

  m.consumer().RestUntil(std::chrono::time_point_cast<Duration>(Clock::now()) + seconds(30));
  PassTime(m);  // a rest is bounded, whatever was asked for
  m.consumer().RestUntil({});
  PassTime(m);
}

TEST_F(ConsumerTest, APollThatStoppedAtItsLimitWakesTheLoopAgain) {
  Member& m = Flowing();
  while (m.All<Record>().size() < 2 * kRecords) {
    const size_t woken = m.woken();
    m.Turn(seconds(30), 7);
    ASSERT_EQ(m.woken(), woken + 1);
  }
}

TEST_F(ConsumerTest, ASeekBackDeliversAgainWithoutGapAndNothingFromBefore) {
  Member& m = Flowing();
  ASSERT_TRUE(m.Delivered(0, 10));
  m.events.clear();

  m.Seek(0, 5);

  ASSERT_TRUE(m.Delivered(0, kRecords - 5));
  PassTime(m);
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(5, kRecords + 1));
}

TEST_F(ConsumerTest, APausedPartitionIsStillAndGoesOnExactlyWhereItStopped) {
  Member& m = Flowing();
  ASSERT_TRUE(m.Until([&] {
    m.Turn(milliseconds(100), 5);
    return !m.Offsets(1).empty();
  }));
  m.Pause(1);
  const std::vector<int64_t> before = m.Offsets(1);
  ASSERT_TRUE(m.Delivered(0, kRecords));
  PassTime(m);
  EXPECT_EQ(m.Offsets(1), before);

  m.Resume(1);

  ASSERT_TRUE(m.Delivered(1, kRecords));
  EXPECT_EQ(m.Offsets(1), OffsetsFromTo(0, kRecords));
}

TEST_F(ConsumerTest, NothingIsLostWhenAPartitionIsPausedBeforeItsFirstRecord) {
  Member& m = member();
  ASSERT_TRUE(m.Assigned(kPartitions));
  m.Seek(0, 0);
  // Until a fetch has told the log's end; nothing is polled meanwhile.
  for (int i = 0; i < 2; ++i) m.Sleep(milliseconds(200));

  m.Pause(0);
  m.Resume(0);

  world().Publish(topic, 0, 1);
  ASSERT_TRUE(m.Until([&] { return !m.Offsets(0).empty() && m.Offsets(0).back() == kRecords; }));
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(0, kRecords + 1));
}

TEST_F(ConsumerTest, PausingAndResumingAtRandomLosesAndRepeatsNothing) {
  Member& m = Flowing();
  for (int i = 0; m.Offsets(0).size() < kRecords || m.Offsets(1).size() < kRecords; ++i) {
    ASSERT_LT(i, 10'000);
    if (i % 3 == 0) m.Pause(i % 2);
    if (i % 5 == 0) m.Resume(0);
    if (i % 5 == 0) m.Resume(1);
    m.Turn(milliseconds(5), 3);
  }
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(0, kRecords));
  EXPECT_EQ(m.Offsets(1), OffsetsFromTo(0, kRecords));
}

TEST_F(ConsumerTest, CommitsReachTheGroupAndAgainAfterARefusal) {
  Member& m = Flowing();
  m.Commit(0, 10);
  ASSERT_TRUE(m.Until([&] { return world().Committed(topic, 0) == 10; }));

  world().cluster.Fail(Api::kOffsetCommit, {RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE});
  m.Commit(0, 20);
  ASSERT_TRUE(m.Until([&] { return world().Committed(topic, 0) == 20; }));
}

TEST_F(ConsumerTest, OrdersForAPartitionThatIsNotOursAreIgnored) {
  // It has joined, but nothing is assigned before a poll.
  member().Apply({.seek = {{0, 3}}, .pause = {0}, .resume = {0}, .commit = {{1, 50}}});
  Member& m = Flowing();
  m.Commit(0, 4);
  ASSERT_TRUE(m.Until([&] { return world().Committed(topic, 0) == 4; }));
  EXPECT_EQ(world().Committed(topic, 1), -1);
  ASSERT_TRUE(m.Delivered(0, kRecords));
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(0, kRecords));
}

TEST_F(ConsumerTest, AnOffsetBeyondTheLogsEndIsReportedAsALossAndASeekHealsIt) {
  Member& m = Flowing();
  ASSERT_TRUE(m.Delivered(0, kRecords));
  ASSERT_TRUE(m.Delivered(1, 1));
  m.events.clear();

  m.Seek(0, 1'000'000);

  ASSERT_TRUE(m.Assigned(1));
  ASSERT_EQ(m.All<PartitionRevoked>().size(), 1u);
  EXPECT_EQ(m.All<PartitionRevoked>()[0].partition, 0);
  const PartitionAssigned again = m.All<PartitionAssigned>()[0];
  EXPECT_EQ(again.partition, 0);
  EXPECT_EQ(again.start, 1'000'000);
  EXPECT_EQ(again.low, 0);
  EXPECT_EQ(again.end, kRecords);
  EXPECT_TRUE(again.tail_lost());
  EXPECT_EQ(again.first(), 0);
  EXPECT_TRUE(m.Offsets(0).empty());  // never reset to a place somebody made up

  m.Seek(0, kRecords - 3);
  world().Publish(topic, 1, 1);
  ASSERT_TRUE(m.Delivered(0, 3));
  ASSERT_TRUE(m.Until([&] { return !m.Offsets(1).empty() && m.Offsets(1).back() == kRecords; }));
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(kRecords - 3, kRecords));
  // The other partition, whose fetcher was started anew too, lost and repeated nothing.
  EXPECT_EQ(m.Offsets(1), OffsetsFromTo(m.Offsets(1)[0], kRecords + 1));
  EXPECT_EQ(m.All<PartitionRevoked>().size(), 1u);
  EXPECT_TRUE(m.consumer().AllParked().empty());
}

// One fetch tells it of all partitions; none is forgotten when the fetchers start anew.
TEST_F(ConsumerTest, LogsThatAreLostTogetherAreEachReportedAndReadOn) {
  Member& m = Flowing();
  ASSERT_TRUE(m.Delivered(0, kRecords));
  ASSERT_TRUE(m.Delivered(1, kRecords));
  m.events.clear();
  m.Apply(ConsumerOrders{.seek = {{0, 1'000'000}, {1, 2'000'000}}});

  ASSERT_TRUE(m.Assigned(kPartitions));
  std::map<int32_t, int64_t> starts;
  for (const PartitionAssigned& again : m.All<PartitionAssigned>())
    starts[again.partition] = again.start;
  EXPECT_EQ(starts, (std::map<int32_t, int64_t>{{0, 1'000'000}, {1, 2'000'000}}));

  m.Seek(0, kRecords - 3);
  m.Seek(1, kRecords - 5);
  ASSERT_TRUE(m.Delivered(0, 3));
  ASSERT_TRUE(m.Delivered(1, 5));
  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(kRecords - 3, kRecords));
  EXPECT_EQ(m.Offsets(1), OffsetsFromTo(kRecords - 5, kRecords));
  EXPECT_EQ(m.All<PartitionRevoked>().size(), 2u);
}

// The records written since stand at the offsets of lost ones.
TEST_F(ConsumerTest, ALossIsNotHiddenByWhatWasWrittenSince) {
  Member& m = Flowing();
  ASSERT_TRUE(m.Delivered(0, kRecords));
  m.events.clear();
  m.Seek(0, kRecords + 5);
  ASSERT_TRUE(m.Until([&] { return !m.All<PartitionRevoked>().empty(); }));

  world().Publish(topic, 0, 20);  // before it is looked up

  ASSERT_TRUE(m.Assigned(1));
  EXPECT_EQ(m.All<PartitionAssigned>()[0].start, kRecords + 5);
  EXPECT_TRUE(m.All<PartitionAssigned>()[0].tail_lost());
}

TEST_F(ConsumerTest, ACommitOrderedBeforeTheLogWasLostIsNotSentAfterwards) {
  Member& m = Flowing();
  m.Commit(0, 10);
  ASSERT_TRUE(m.Until([&] { return world().Committed(topic, 0) == 10; }));
  m.events.clear();
  m.Seek(0, 1'000'000);
  ASSERT_TRUE(m.Until([&] { return !m.All<PartitionRevoked>().empty(); }));
  m.Commit(0, 999'999);
  ASSERT_TRUE(m.Assigned(1));
  m.Commit(0, 0);  // back to the first record
  ASSERT_TRUE(m.Until([&] { return world().Committed(topic, 0) == 0; }));
}

// A pause drops what is queued, the error too.
TEST_F(ConsumerTest, ALossOfAPartitionThatWasPausedMeanwhileIsToldWhenItIsResumed) {
  Member& m = member();
  ASSERT_TRUE(m.Assigned(kPartitions));
  m.Seek(0, 1'000'000);
  // Without a poll nobody is woken again: time for the broker's answer. Were it late, the test
  // would only show less.
  for (int i = 0; i < 2; ++i) m.Sleep(milliseconds(200));
  m.Pause(0);
  m.Turn(milliseconds(0));
  EXPECT_TRUE(m.All<PartitionRevoked>().empty());

  m.Resume(0);

  ASSERT_TRUE(m.Assigned(kPartitions + 1));
  EXPECT_EQ(m.All<PartitionAssigned>().back().start, 1'000'000);
}

TEST_F(ConsumerTest, LagIsWhatLiesBetweenTheCommittedOffsetAndTheLogsEnd) {
  Member& m = member();
  ASSERT_TRUE(m.Assigned(kPartitions));
  const UnixMs now = UnixNow();
  for (const Consumer::Lag& lag : m.consumer().Lags(now)) EXPECT_EQ(lag.records, kRecords);
  m.Seek(0, 0);
  ASSERT_TRUE(m.Delivered(0, kRecords));
  // Delivered is not committed: it would be read again.
  EXPECT_EQ(m.consumer().Lags(now).at(0).records, kRecords);
  EXPECT_GE(m.consumer().Lags(now + 60'000).at(0).age, seconds(60));

  m.Commit(0, kRecords);

  EXPECT_EQ(m.consumer().Lags(now).at(0).records, 0);
  EXPECT_EQ(m.consumer().Lags(now + 60'000).at(0).age, seconds(0));
  // Nothing is read of the other partition; its lag grows all the same.
  EXPECT_GE(m.consumer().Lags(now + 60'000).at(1).age, seconds(60));
  world().Publish(topic, 1, 7);
  ASSERT_TRUE(m.Until([&] { return m.consumer().Lags(now).at(1).records == kRecords + 7; }));
}

TEST_F(ConsumerTest, SaysWhetherBrokersAnswerAlsoBeforeItOwnsAnything) {
  ASSERT_TRUE(member().Until([&] { return member().consumer().Unreachable() == ""; }));
}

// Tests with a world of their own, and the 3 s that cost.

TEST(ConsumerStart, PositionsAreAskedForUntilTheBrokerAnswersAndNeverMadeUp) {
  World world;
  world.CreateTopic("events");
  world.Commit("events", 0, 33);
  world.cluster.Fail(Api::kOffsetFetch, {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                                         RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED});
  world.cluster.Fail(Api::kListOffsets, {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  Member m(world.OptionsFor("events"));

  ASSERT_TRUE(m.Assigned(kPartitions));

  std::map<int32_t, int64_t> starts;
  for (const PartitionAssigned& assigned : m.All<PartitionAssigned>())
    starts[assigned.partition] = assigned.start;
  EXPECT_EQ(starts, (std::map<int32_t, int64_t>{{0, 33}, {1, 0}}));
}

TEST(ConsumerStart, ALogTrimmedBelowTheCommittedOffsetShowsItsGap) {
  World world;
  world.CreateTopic("events");
  world.Commit("events", 0, 10);
  world.Publish("events", 0, 80, std::string(100'000, 'x'));  // the mock keeps 5 MB a partition
  Member m(world.OptionsFor("events"));

  ASSERT_TRUE(m.Assigned(kPartitions));

  for (const PartitionAssigned& assigned : m.All<PartitionAssigned>()) {
    EXPECT_EQ(assigned.start, assigned.partition == 0 ? 10 : 0);
    EXPECT_EQ(assigned.low > 10, assigned.partition == 0);
  }
}

TEST(ConsumerStart, ALogThatLostItsTailShowsItsGap) {
  World world;
  world.CreateTopic("events");
  world.Commit("events", 0, kRecords + 10);
  world.Commit("events", 1, kRecords);
  Member m(world.OptionsFor("events"));

  ASSERT_TRUE(m.Assigned(kPartitions));

  for (const PartitionAssigned& assigned : m.All<PartitionAssigned>()) {
    EXPECT_EQ(assigned.end, kRecords);
    EXPECT_EQ(assigned.tail_lost(), assigned.partition == 0);
    EXPECT_EQ(assigned.first(), assigned.partition == 0 ? 0 : kRecords);
  }
}

// The mock brokers know no times: they say that no record is so young. A producer that catches up
// may write old ones next.
TEST(ConsumerStart, ALostTailWithoutAYoungRecordHasTheWholeLogReadAgain) {
  World world;
  world.CreateTopic("events");
  {
    Member first(world.OptionsFor("events"));
    ASSERT_TRUE(first.Assigned(kPartitions));
    first.Seek(0, 0);
    ASSERT_TRUE(first.Delivered(0, kRecords));
    first.Commit(0, kRecords + 10);  // as if there had been ten more
    ASSERT_TRUE(first.Until([&] { return world.Committed("events", 0) == kRecords + 10; }));
  }
  Member second(world.OptionsFor("events"));

  ASSERT_TRUE(second.Assigned(kPartitions));

  for (const PartitionAssigned& assigned : second.All<PartitionAssigned>()) {
    if (assigned.partition != 0) continue;
    EXPECT_TRUE(assigned.tail_lost());
    EXPECT_EQ(assigned.reread, std::optional<int64_t>(0));
    EXPECT_EQ(assigned.first(), 0);
  }
}

TEST(ConsumerStart, BrokersThatAreAwayAreSaidToBeUntilTheyAnswer) {
  World world;
  world.CreateTopic("events");
  Member m(world.OptionsFor("events"));
  ASSERT_TRUE(m.Assigned(kPartitions));
  ASSERT_TRUE(m.Until([&] { return m.consumer().Unreachable() == ""; }));

  world.cluster.GoDown();
  ASSERT_TRUE(m.Until([&] { return m.consumer().Unreachable() != ""; }));
  EXPECT_THAT(*m.consumer().Unreachable(), ::testing::HasSubstr("looking up"));

  world.cluster.ComeUp();
  ASSERT_TRUE(m.Until([&] { return m.consumer().Unreachable() == ""; }));
}

// Where it stands is asked for again and again, alone.
TEST(ConsumerStart, APartitionWithoutALeaderIsNamedUntilItHasOneAndTheBrokersAnswer) {
  World world;
  world.CreateTopic("events");
  world.cluster.Lead("events", 1, 0);
  ConsumerOptions options = world.OptionsFor("events");
  options.client.properties["topic.metadata.refresh.interval.ms"] = "500";
  Member m(options);
  ASSERT_TRUE(m.Assigned(1));
  ASSERT_TRUE(m.Until([&] { return !m.consumer().Leaderless().empty(); }));
  EXPECT_THAT(m.consumer().Leaderless(),
              ::testing::ElementsAre(::testing::Pair(
                  1, ::testing::StartsWith("events/1: the partition has no leader"))));
  for (int turn = 0; turn < 30; ++turn) {
    m.Turn(milliseconds(100));
    ASSERT_EQ(m.consumer().Unreachable(), "");
  }

  world.cluster.Lead("events", 1, 1);
  ASSERT_TRUE(m.Until([&] { return m.consumer().Leaderless().empty(); }));
  EXPECT_TRUE(m.Assigned(kPartitions));
}

TEST(ConsumerStart, ASilentBrokerHidesTheEndsOfItsOwnLogsAlone) {
  World world(2);
  world.cluster.Coordinate("events-group");
  world.CreateTopic("events");
  for (int32_t partition = 0; partition < 2; ++partition)
    world.cluster.Lead("events", partition, partition + 1);
  Member m(world.OptionsFor("events"));
  ASSERT_TRUE(m.Assigned(kPartitions));
  world.cluster.Delay(2, 60'000);
  const Time since = MonoNow();

  const auto seen = [&](int32_t partition) {
    const auto all = m.All<LogEndSeen>();
    return std::any_of(all.begin(), all.end(), [&](const LogEndSeen& each) {
      return each.partition == partition && each.asked_at > since;
    });
  };
  ASSERT_TRUE(m.Until([&] { return seen(0); }));
  EXPECT_FALSE(seen(1));
}

TEST(ConsumerTrouble, ACorruptPartitionIsParkedAndLookedAtAgainWhileTheOthersGoOn) {
  World world;
  world.CreateTopic("events");
  Member m(world.OptionsFor("events"));
  ASSERT_TRUE(m.Assigned(kPartitions));
  // For the only partition that is fetched: twice in a row.
  world.cluster.Fail(Api::kFetch, {RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_INVALID_MSG});
  m.Seek(0, 40);

  ASSERT_TRUE(m.Until([&] { return !m.consumer().AllParked().empty(); }));
  const Consumer::Parked parked = m.consumer().AllParked()[0];
  EXPECT_EQ(parked.partition, 0);
  EXPECT_EQ(parked.position, 40);
  EXPECT_THAT(parked.reason, ::testing::HasSubstr("events/0 at offset 40: the log is corrupt"));
  EXPECT_THAT(parked.reason, ::testing::HasSubstr("kafka-delete-records"));
  m.Seek(1, 0);
  ASSERT_TRUE(m.Delivered(1, kRecords));
  // It is still ours, and what is ordered about its flow meanwhile holds afterwards.
  m.Pause(0);
  m.Resume(0);

  ASSERT_TRUE(m.Delivered(0, kRecords - 40));

  EXPECT_EQ(m.Offsets(0), OffsetsFromTo(40, kRecords));
  EXPECT_TRUE(m.consumer().AllParked().empty());
  EXPECT_TRUE(m.All<PartitionRevoked>().empty());
}

TEST(ConsumerEnd, ClosingIsBoundedWhileTheBrokerIsAway) {
  World world;
  world.CreateTopic("events");
  Member m(world.OptionsFor("events"));
  ASSERT_TRUE(m.Assigned(kPartitions));
  m.Seek(0, 0);
  ASSERT_TRUE(m.Delivered(0, 1));
  world.cluster.GoDown();
  m.Commit(0, 5);
  const auto begin = std::chrono::steady_clock::now();

  m.consumer().Close(milliseconds(500));

  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(4));
}

TEST(ConsumerEnd, RecordsThatArriveWhileItClosesAreLeftToOthers) {
  World world;
  world.CreateTopic("events");
  Member m(world.OptionsFor("events"));
  ASSERT_TRUE(m.Assigned(kPartitions));
  m.Seek(0, 0);
  ASSERT_TRUE(m.Delivered(0, kRecords));
  std::atomic<bool> closed = false;
  std::thread publisher([&] {
    while (!closed) world.Publish("events", 0, 20);
  });
  ASSERT_TRUE(m.Delivered(0, kRecords + 100));
  const auto begin = std::chrono::steady_clock::now();

  m.consumer().Close(seconds(10));

  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(8));  // left, not given up
  closed = true;
  publisher.join();
}

}  // namespace
}  // namespace fanline::kafka
