// The walk over all keys, with the answers a Redis could give.
#include "backends/redis/reset_walk.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/redis/pending_calls.h"

namespace fanline::redis {
namespace {

constexpr std::string_view kYes = ":1\r\n", kNo = ":0\r\n";
constexpr std::string_view kNoKeys = "*2\r\n$1\r\n0\r\n*0\r\n";  // all of SCAN

using Timelines = ResetRange::Timelines;

// A page that ends the walk.
std::string Page(const std::vector<Key>& found) {
  std::string wire = "*2\r\n$1\r\n0\r\n*" + std::to_string(found.size()) + "\r\n";
  for (const std::string_view name : found) {
    wire += "$" + std::to_string(name.size()) + "\r\n" + std::string(name) + "\r\n";
  }
  return wire;
}

struct World {
  void Reset(Timelines timelines = Timelines::kIndex, Range range = 0) {
    walk.Add(ResetRange{7, range, 5, timelines, AppliedPosition{1, 10}},
             [this](RangeReset answer) { reply = std::move(answer); });
  }
  bool Asked(std::string_view words) const {
    return redis.asked.back().find(words) != std::string::npos;
  }

  const Options options;
  const Keys keys{options};
  PendingCalls redis;
  ResetWalk walk{redis, options, keys};
  std::optional<RangeReset> reply;
};

TEST(ResetWalk, IsAnsweredWhenItsLastStepIs) {
  World w;
  w.Reset();
  w.redis.Answer(kYes, kNoKeys);
  EXPECT_FALSE(w.reply);
  w.redis.Answer(kYes);
  ASSERT_TRUE(w.reply);
  EXPECT_TRUE(w.reply->status.done());
}

TEST(ResetWalk, ThatLeavesTheTimelinesAloneIsOneCall) {
  World w;
  w.Reset(Timelines::kLeave);
  w.redis.Answer(kYes);
  ASSERT_TRUE(w.reply);
  EXPECT_TRUE(w.reply->status.done());
  EXPECT_EQ(w.redis.asked.size(), 1u);
}

// What made the drop necessary may not show a second time. A quarantine's position stays right.
TEST(ResetWalk, ADropOfATakeoverAloneForgetsThePositionFirst) {
  for (const Timelines timelines : {Timelines::kIndex, Timelines::kDrop}) {
    for (const bool takeover : {false, true}) {
      World w;
      ResetRange request{7, 0, 5, timelines, {}};
      if (takeover) request.position = AppliedPosition{1, 10};
      w.walk.Add(request, [](const RangeReset&) {});
      EXPECT_EQ(w.Asked(w.keys.Pos(0)), takeover && timelines == Timelines::kDrop);
    }
  }
}

// A Cluster's node refuses a call that names a key it lacks while the slot is on its way.
TEST(ResetWalk, BeginsAndEndsWithAKeyThatNeverExists) {
  World w;
  w.Reset(Timelines::kDrop);
  EXPECT_TRUE(w.Asked(w.keys.Nowhere(0)));
  w.redis.Answer(kYes, kNoKeys);
  EXPECT_TRUE(w.Asked(w.keys.Nowhere(0)));
  EXPECT_EQ(w.redis.asked.size(), 3u);
}

TEST(ResetWalk, LooksForTheTimelinesOfItsRangeAlone) {
  World w;
  w.Reset();
  w.redis.Answer(kYes);
  EXPECT_TRUE(w.Asked(w.keys.TimelinesOf(0)));
}

TEST(ResetWalk, DropsUnderItsTagWhatIsOfAnotherRange) {
  World w;
  UserId mine{}, other{};
  for (uint64_t raw = 1; Raw(mine) == 0 || Raw(other) == 0; ++raw) {
    (w.keys.layout().RangeOf(UserId{raw}) == 0 ? mine : other) = UserId{raw};
  }
  w.Reset(Timelines::kIndex);
  w.redis.Answer(kYes, Page({w.keys.Timeline(0, mine), w.keys.Timeline(0, other)}));
  const std::string first_dropped(std::string_view(w.keys.Timeline(0, other)));
  const std::string then_listed(std::string_view(w.keys.Timeline(0, mine)));
  const size_t dropped = w.redis.asked.back().find(first_dropped);
  const size_t listed = w.redis.asked.back().find(then_listed);
  ASSERT_NE(listed, std::string::npos);
  EXPECT_LT(dropped, listed);
  EXPECT_TRUE(w.Asked("$1\r\n5\r\n$1\r\n1\r\n")) << "epoch 5, one to drop";
}

// SCAN may return many more keys than were asked for.
TEST(ResetWalk, TakesALongPageInCallsThatServicesTake) {
  World w;
  w.Reset(Timelines::kDrop);
  std::vector<Key> found;
  for (uint64_t raw = 1; raw <= 4'500; ++raw) found.push_back(w.keys.Timeline(0, UserId{raw}));
  w.redis.Answer(kYes, Page(found));
  EXPECT_EQ(w.redis.under_way(), 5u);
  for (const std::string& call : w.redis.asked) {
    EXPECT_LE(std::stoul(call.substr(1)), kMostArguments);
  }
  w.redis.Answer(kYes, kYes, kYes, kYes, kYes);
  EXPECT_FALSE(w.reply) << "its end is asked for";
  w.redis.Answer(kYes);
  ASSERT_TRUE(w.reply);
  EXPECT_EQ(w.reply->dropped, 5u);
}

TEST(ResetWalk, AsksForAllTimelinesWhenManyRangesWait) {
  World w;
  w.Reset(Timelines::kDrop, 0);
  w.Reset(Timelines::kDrop, 1);
  w.Reset(Timelines::kDrop, 2);
  w.redis.Answer(kYes);  // the first walks alone
  w.redis.Answer(kNoKeys, kYes, kYes, kYes);
  EXPECT_TRUE(w.Asked(w.keys.Timelines()));
}

// The owner gave up on the one that waits: it claimed again meanwhile.
TEST(ResetWalk, AResetThatWaitsIsAnsweredWhenAnotherOfItsRangeComes) {
  World w;
  w.Reset(Timelines::kDrop, 0);
  w.Reset(Timelines::kDrop, 1);
  ASSERT_FALSE(w.reply);
  w.Reset(Timelines::kDrop, 1);
  ASSERT_TRUE(w.reply);
  EXPECT_TRUE(w.reply->status.later());
  w.redis.Answer(kYes, kNoKeys, kYes, kYes);
  EXPECT_TRUE(w.Asked(w.keys.TimelinesOf(1)));
}

TEST(ResetWalk, IsBegunAnewWhenAnIndexWasDeletedMeanwhile) {
  World w;
  w.Reset();
  w.redis.Answer(kYes, kNoKeys, kNo);
  ASSERT_TRUE(w.reply);
  EXPECT_TRUE(w.reply->status.later());
  EXPECT_FALSE(w.reply->needs_claim);

  w.reply.reset();
  w.Reset();
  w.redis.Answer(kYes, kNoKeys, kYes);
  EXPECT_TRUE(w.reply->status.done());
}

// A slot that moves refuses the beginning. The owner asks again soon, and other ranges of the node
// wait behind the walk.
TEST(ResetWalk, ThatIsRefusedAtItsBeginningLooksThroughNoKeys) {
  World w;
  w.Reset();
  w.redis.Fail();
  EXPECT_EQ(w.redis.asked.size(), 1u);
  ASSERT_TRUE(w.reply);
  EXPECT_TRUE(w.reply->status.later());
}

TEST(ResetWalk, OfManyGoesOnWhileOneOfThemHasNotFailed) {
  World w;
  w.Reset(Timelines::kDrop, 0);
  w.Reset(Timelines::kDrop, 1);
  w.Reset(Timelines::kDrop, 2);
  w.redis.Fail();  // the first walks alone
  w.redis.Fail();
  w.redis.Answer(kYes);
  EXPECT_TRUE(w.Asked(w.keys.Timelines()));
}

}  // namespace
}  // namespace fanline::redis
