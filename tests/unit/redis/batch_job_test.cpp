// A batch on its way through a connection that notes what it is asked.
#include "backends/redis/batch_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "backends/redis/client/reply.h"

namespace fanline::redis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class Channel : public CommandChannel {
 public:
  void Call(Encode encode, Done done) override {
    CommandBuffer command;
    encode(command, {});
    calls.emplace_back(command.bytes());
    waiting_.push_back(std::move(done));
  }
  size_t under_way() const { return waiting_.size(); }
  // The oldest call's answer, in the protocol's words.
  void Answer(const std::string& text) {
    ASSERT_FALSE(waiting_.empty()) << "nothing was asked";
    const std::unique_ptr<redisReader, void (*)(redisReader*)> reader(redisReaderCreate(),
                                                                      redisReaderFree);
    redisReaderFeed(reader.get(), text.data(), text.size());
    void* reply = nullptr;
    ASSERT_EQ(redisReaderGetReply(reader.get(), &reply), REDIS_OK);
    TakeFirst()({Status::Done(), false, static_cast<redisReply*>(reply)});
    freeReplyObject(reply);
  }
  void Fail() {
    ASSERT_FALSE(waiting_.empty()) << "nothing was asked";
    TakeFirst()({Status::Later("redis", "gone"), true, nullptr});
  }
  // Whose timelines the call names.
  std::vector<uint64_t> Readers(size_t call) const {
    std::vector<uint64_t> readers;
    if (call >= calls.size()) return readers;
    for (uint64_t reader = 1; reader <= 10; ++reader) {
      if (calls[call].find("}:" + std::to_string(reader) + "\r\n") != std::string::npos) {
        readers.push_back(reader);
      }
    }
    return readers;
  }

  std::vector<std::string> calls;

 private:
  Done TakeFirst() {
    Done done = std::move(waiting_.front());
    waiting_.pop_front();
    return done;
  }
  std::deque<Done> waiting_;
};

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
  Channel channel_;
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
  EXPECT_THAT(channel_.Readers(0), ElementsAre(1, 2));
  EXPECT_THAT(channel_.Readers(1), ElementsAre(3, 4));
  EXPECT_THAT(channel_.Readers(2), ElementsAre(5));
  EXPECT_EQ(channel_.calls.size(), 3u);
  EXPECT_EQ(parts_done_, 1);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0].results,
              ElementsAre(1, 1, 1, BatchWritten::kNotLive, BatchWritten::kKeyFailed));
}

TEST_F(RedisBatchJob, WhoIsLeftOutTakesNoRoomOfACall) {
  for (int i = 0; i < 20; ++i) gate_.Note(500, 400);
  Start(7);
  channel_.Answer("*8\r\n:1\r\n:0\r\n:1\r\n:0\r\n:0\r\n:1\r\n:0\r\n:1\r\n");
  channel_.Answer(Applied("11"));
  channel_.Answer(Applied("1"));
  EXPECT_THAT(channel_.Readers(1), ElementsAre(2, 5));
  EXPECT_THAT(channel_.Readers(2), ElementsAre(7));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0].pruned, 4u);
  const int none = BatchWritten::kNotLive;
  EXPECT_THAT(answers_[0].results, ElementsAre(none, 1, none, none, 1, none, 1));
}

TEST_F(RedisBatchJob, WhereNobodyIsLeftOneCallFences) {
  for (int i = 0; i < 20; ++i) gate_.Note(500, 400);
  Start(3);
  channel_.Answer("*4\r\n:1\r\n:0\r\n:0\r\n:0\r\n");
  channel_.Answer(Applied(""));
  EXPECT_EQ(channel_.calls.size(), 2u);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0].results, Each(BatchWritten::kNotLive));
}

TEST_F(RedisBatchJob, AfterAFailureTheRestOfThePartIsNotSent) {
  Start(5);
  channel_.Answer(Applied("11"));
  channel_.Fail();
  EXPECT_EQ(channel_.calls.size(), 2u);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(answers_[0].status.later());
  EXPECT_TRUE(answers_[0].needs_claim);
  Start(5);
  channel_.Answer(Applied("1"));
  EXPECT_EQ(channel_.calls.size(), 3u) << "an answer for one of two";
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_TRUE(answers_[1].status.later());
}

}  // namespace
}  // namespace fanline::redis
