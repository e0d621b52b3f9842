// The walk over all keys, with the answers a Redis could give.
#include "backends/redis/reset_walk.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "backends/redis/client/reply.h"

namespace fanline::redis {
namespace {

// Calls wait until the test answers them, with what comes from the wire.
struct PendingCalls : CommandChannel {
  void Call(Encode encode, Done done) override {
    CommandBuffer out;
    encode(out, ScriptDigests{});
    sent.push_back(std::move(done));
  }
  void Answer(std::string_view wire) {
    const Done done = std::move(sent.front());
    sent.pop_front();
    const std::unique_ptr<redisReader, void (*)(redisReader*)> reader(redisReaderCreate(),
                                                                      redisReaderFree);
    void* reply = nullptr;
    redisReaderFeed(reader.get(), wire.data(), wire.size());
    redisReaderGetReply(reader.get(), &reply);
    done({Status::Done(), false, static_cast<redisReply*>(reply)});
    freeReplyObject(reply);
  }

  std::deque<Done> sent;
};
constexpr std::string_view kYes = ":1\r\n", kNo = ":0\r\n";
constexpr std::string_view kNoKeys = "*2\r\n$1\r\n0\r\n*0\r\n";  // all of SCAN

struct World {
  void Reset() {
    walk.Add(ResetRange{7, 0, 5, {}, {0}, AppliedPosition{1, 10}},
             [this](RangeReset answer) { reply = std::move(answer); });
  }

  const Options options;
  const RangeLayout layout{512};
  PendingCalls redis;
  ResetWalk walk{redis, options, layout};
  std::optional<RangeReset> reply;
};

TEST(ResetWalk, IsAnsweredWhenItsLastStepIs) {
  World w;
  w.Reset();
  w.redis.Answer(kYes);
  w.redis.Answer(kNoKeys);
  EXPECT_FALSE(w.reply);
  w.redis.Answer(kYes);
  ASSERT_TRUE(w.reply);
  EXPECT_TRUE(w.reply->status.done());
}

TEST(ResetWalk, IsBegunAnewWhenAnIndexWasDeletedMeanwhile) {
  World w;
  w.Reset();
  w.redis.Answer(kYes);
  w.redis.Answer(kNoKeys);
  w.redis.Answer(kNo);
  ASSERT_TRUE(w.reply);
  EXPECT_TRUE(w.reply->status.later());
  EXPECT_FALSE(w.reply->needs_claim);

  w.reply.reset();
  w.Reset();
  w.redis.Answer(kYes);
  w.redis.Answer(kNoKeys);
  w.redis.Answer(kYes);
  EXPECT_TRUE(w.reply->status.done());
}

}  // namespace
}  // namespace fanline::redis
