// A batch on its way through a connection that notes what it is asked.
#include "backends/redis/batch_job.h"

#include <gmock/gmock.h>

#include <memory>

#include "tests/unit/redis/pending_calls.h"

namespace fanline::redis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Whose timelines a call names.
std::vector<uint64_t> ReadersIn(const std::string& call) {
  std::vector<uint64_t> readers;
  for (uint64_t reader = 1; reader <= 10; ++reader) {
    if (call.find("}:" + std::to_string(reader) + "\r\n") != std::string::npos) {
      readers.push_back(reader);
    }
  }
  return readers;
}

// apply.lua: this of each timeline.
std::string Applied(const std::string& each) {
  return "*6\r\n$" + std::to_string(each.size()) + "\r\n" + each +
         "\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n:0\r\n";
}

class RedisBatchJob : public ::testing::Test {
 protected:
  RedisBatchJob() {
    options_.timelines_per_call = 2;
    for (int i = 0; i < 20; ++i) gate_.Note(500, 0);  // all are live: nothing is asked first
  }
  void Start(uint64_t readers) {
    TimelineBatch batch;
    for (uint64_t reader = 1; reader <= readers; ++reader) {
      batch.adds.push_back({PostId{100}, 5'000});
      batch.writes.push_back({UserId{reader}, static_cast<uint32_t>(reader)});
    }
    job_ = std::make_shared<BatchJob>(
        batch, options_, keys_, gate_, [this] { ++parts_done_; },
        [this](BatchWritten written) { answers_.push_back(std::move(written)); });
    while (job_->has_more()) job_->StartPart(channel_);
  }

  Options options_;
  const Keys keys_{options_};
  PruneGate gate_;
  PendingCalls channel_;
  int parts_done_ = 0;
  std::vector<BatchWritten> answers_;
  std::shared_ptr<BatchJob> job_;
};

TEST_F(RedisBatchJob, APartWritesAFewTimelinesACallAndHasOneCallUnderWay) {
  Start(5);
  for (const char* each : {"11", "1-", "x"}) {
    EXPECT_EQ(channel_.under_way(), 1u) << "Redis looks at other connections between two calls";
    EXPECT_EQ(parts_done_, 0);
    channel_.Answer(Applied(each));
  }
  EXPECT_THAT(ReadersIn(channel_.asked.at(0)), ElementsAre(1, 2));
  EXPECT_THAT(ReadersIn(channel_.asked.at(1)), ElementsAre(3, 4));
  EXPECT_THAT(ReadersIn(channel_.asked.at(2)), ElementsAre(5));
  EXPECT_EQ(channel_.asked.size(), 3u);
  EXPECT_EQ(parts_done_, 1);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0].results,
              ElementsAre(1, 1, 1, BatchWritten::kNotLive, BatchWritten::kKeyFailed));
}

TEST_F(RedisBatchJob, WhoIsLeftOutTakesNoRoomOfACall) {
  for (int i = 0; i < 20; ++i) gate_.Note(500, 400);
  Start(7);
  channel_.Answer("*8\r\n:1\r\n:0\r\n:1\r\n:0\r\n:0\r\n:1\r\n:0\r\n:1\r\n", Applied("11"),
                  Applied("1"));
  EXPECT_THAT(ReadersIn(channel_.asked.at(1)), ElementsAre(2, 5));
  EXPECT_THAT(ReadersIn(channel_.asked.at(2)), ElementsAre(7));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0].pruned, 4u);
  const int none = BatchWritten::kNotLive;
  EXPECT_THAT(answers_[0].results, ElementsAre(none, 1, none, none, 1, none, 1));
}

TEST_F(RedisBatchJob, WhereNobodyIsLeftOneCallFences) {
  for (int i = 0; i < 20; ++i) gate_.Note(500, 400);
  Start(3);
  channel_.Answer("*4\r\n:1\r\n:0\r\n:0\r\n:0\r\n", Applied(""));
  EXPECT_EQ(channel_.asked.size(), 2u);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0].results, Each(BatchWritten::kNotLive));
}

TEST_F(RedisBatchJob, WhereManyAreNotLiveTheNextBatchAsks) {
  Start(500);
  EXPECT_FALSE(gate_.open());
  while (channel_.under_way() > 0) channel_.Answer(Applied("--"));
  EXPECT_TRUE(gate_.open());
  EXPECT_EQ(answers_.at(0).pruned, 0u);
}

TEST_F(RedisBatchJob, AfterAFailureTheRestOfThePartIsNotSent) {
  Start(5);
  channel_.Answer(Applied("11"));
  channel_.Fail(true);
  EXPECT_EQ(channel_.asked.size(), 2u);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(answers_[0].status.later());
  EXPECT_TRUE(answers_[0].needs_claim);
  Start(5);
  channel_.Answer(Applied("1"));
  EXPECT_EQ(channel_.asked.size(), 3u) << "an answer for one of two";
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_TRUE(answers_[1].status.later());
}

// ---- whether it pays to ask -----------------------------------------------------------------

TEST(RedisPruneGate, AsksWhileNothingIsKnown) { EXPECT_TRUE(PruneGate().open()); }

TEST(RedisPruneGate, ClosesWhereNearlyAllAreLiveAndOpensWhereManyAreNot) {
  PruneGate gate;
  for (int call = 0; call < 20; ++call) gate.Note(500, 10);
  EXPECT_FALSE(gate.open());
  for (int call = 0; call < 20; ++call) gate.Note(500, 100);
  EXPECT_TRUE(gate.open());
}

TEST(RedisPruneGate, AFewReadersDoNotSwingIt) {
  PruneGate gate;
  for (int call = 0; call < 20; ++call) gate.Note(500, 0);
  gate.Note(20, 20);
  EXPECT_FALSE(gate.open());
  gate.Note(0, 0);
  EXPECT_FALSE(gate.open());
}

}  // namespace
}  // namespace fanline::redis
