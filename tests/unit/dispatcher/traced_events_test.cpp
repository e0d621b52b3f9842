// Traces travel on, and samples are drawn.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

TEST(Dispatcher, LetsHeadersTravelOnButNotTheEventsEncoding) {
  World w;
  w.Dispatch(Published(), {{"traceparent", "00-ab-cd-01"}, {"content-type", "application/json"}});
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.log[0].headers, (Headers{{"traceparent", "00-ab-cd-01"}}));
}

constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";

Headers Traced() {
  return {{"traceparent", std::string("00-") + kTraceId + "-00f067aa0ba902b7-01"}};
}

TEST(Dispatcher, TellsOfSampledEventsThatBelongToATrace) {
  World w({.sample_rate = 1});
  w.Give(Published(PostId{1}), Traced());
  w.Dispatch(Published(PostId{2}));
  ASSERT_EQ(w.metrics.traced.size(), 1u);
  EXPECT_EQ(w.metrics.traced[0], std::pair(PostId{1}, std::string(kTraceId)));
}

TEST(Dispatcher, SaysNothingOfATraceThatIsNotSampled) {
  World w({.sample_rate = 0});
  w.Dispatch(Published(PostId{1}), Traced());
  EXPECT_TRUE(w.metrics.traced.empty());
}

TEST(Dispatcher, NamesTheTraceOfWhatItRejects) {
  World w({.sample_rate = 1});
  w.GiveBytes("no event", Traced());
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.metrics.rejected, std::vector<std::string>{kTraceId});
  EXPECT_TRUE(w.metrics.traced.empty());
}

TEST(Dispatcher, SamplesTheSamePostsAgainWhenTheyAreRedelivered) {
  const Limits limits{.sample_rate = 0.5};
  const auto sampled = [&] {
    World w(limits);
    for (uint64_t post = 1; post <= 200; ++post) w.Give(Published(PostId{post}));
    w.RunUntilIdle();
    std::vector<uint64_t> posts;
    for (const auto& logged : w.log) {
      const auto& hint = std::get<Hint::Post>(logged.hints[0].second.what);
      if (hint.sample) posts.push_back(Raw(logged.post));
    }
    return posts;
  };
  const auto once = sampled();
  EXPECT_EQ(once, sampled());
  EXPECT_GT(once.size(), 60u);
  EXPECT_LT(once.size(), 140u);
}

}  // namespace
}  // namespace fanline::dispatcher
