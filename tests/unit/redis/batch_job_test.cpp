// A batch on its way through a connection that notes what it is asked.
#include "backends/redis/batch_job.h"

#include <gmock/gmock.h>

#include <memory>

#include "tests/unit/redis/pending_calls.h"

namespace fanline::redis {
namespace {

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
  RedisBatchJob() { options_.timelines_per_call = 2; }
  void Start(uint64_t readers) {
    TimelineBatch batch;
    for (uint64_t reader = 1; reader <= readers; ++reader) {
      batch.adds.push_back({PostId{100}, 5'000, UserId{9}});
      batch.writes.push_back({UserId{reader}, static_cast<uint32_t>(reader)});
    }
    job_ = std::make_shared<BatchJob>(batch, options_, keys_, [this](BatchWritten written) {
      answers_.push_back(std::move(written));
    });
    StartCall();
  }
  void StartCall() {
    job_->StartCall(channel_, [this](bool more) {
      ended_.push_back(more);
      if (more) StartCall();
    });
  }

  Options options_;
  const Keys keys_{options_};
  PendingCalls channel_;
  std::vector<bool> ended_;  // calls, and whether there were more
  std::vector<BatchWritten> answers_;
  std::shared_ptr<BatchJob> job_;
};

TEST_F(RedisBatchJob, ABatchWritesAFewTimelinesACallAndHasOneCallUnderWay) {
  Start(5);
  for (const char* each : {"11", "1-", "x"}) {
    EXPECT_EQ(channel_.under_way(), 1u) << "Redis looks at other connections between two calls";
    EXPECT_TRUE(answers_.empty());
    channel_.Answer(Applied(each));
  }
  EXPECT_THAT(ReadersIn(channel_.asked.at(0)), ElementsAre(1, 2));
  EXPECT_THAT(ReadersIn(channel_.asked.at(1)), ElementsAre(3, 4));
  EXPECT_THAT(ReadersIn(channel_.asked.at(2)), ElementsAre(5));
  EXPECT_EQ(channel_.asked.size(), 3u);
  EXPECT_THAT(ended_, ElementsAre(true, true, false));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0].results,
              ElementsAre(1, 1, 1, BatchWritten::kNotLive, BatchWritten::kKeyFailed));
}

TEST_F(RedisBatchJob, ABatchOfNothingIsOneCallThatFences) {
  Start(0);
  channel_.Answer(Applied(""));
  EXPECT_EQ(channel_.asked.size(), 1u);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(answers_[0].status.done());
}

TEST_F(RedisBatchJob, AfterAFailureTheRestOfTheBatchIsNotSent) {
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

}  // namespace
}  // namespace fanline::redis
