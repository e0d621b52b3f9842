// What is measured and told of sampled posts.
#include "pusher/pusher.h"

#include <gtest/gtest.h>

#include "fanline/model/size_class.h"
#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

TEST(Pusher, MeasuresASampledPublishOnceFromRecordToLastDelivery) {
  BobsWorld w;
  const UserId eve = ReaderIn(1);
  w.Follow(eve, kAnn);
  w.MakeLive(eve);
  w.Publish(kAnn, kPost, 1'000);
  const auto sample = [&](uint32_t part) {
    return DeliverySample{part, kRanges, w.now.unix_ms, 5'000};
  };
  w.Give(0, Hint::OfPost(kAnn, kPost, sample(0)));
  w.Give(0, Hint::OfPost(kAnn, kPost, sample(0)));  // delivered twice
  w.RunFor(std::chrono::milliseconds(20));
  ASSERT_EQ(w.metrics.first.size(), 1u);
  EXPECT_EQ(w.metrics.first[0].first, SizeClassOf(5'000));
  EXPECT_EQ(w.metrics.first[0].second, std::chrono::milliseconds(20));
  EXPECT_TRUE(w.metrics.last.empty()) << "the other range is still to come";

  auto late = sample(1);
  late.published_at -= 20;
  w.Give(1, Hint::OfPost(kAnn, kPost, late));
  w.RunFor(std::chrono::milliseconds(30));
  EXPECT_EQ(w.metrics.first.size(), 1u);
  ASSERT_EQ(w.metrics.last.size(), 1u);
  EXPECT_EQ(w.metrics.last[0].second, std::chrono::milliseconds(50));
}

TEST(Pusher, TellsOfTheLastDeliveryOfAPostThatBelongsToATrace) {
  BobsWorld w;
  const Headers traced{{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}};
  w.Publish(kAnn, kPost, 1'000);
  const auto sample = [&](uint32_t part) {
    return DeliverySample{part, kRanges, w.now.unix_ms, 5'000};
  };
  for (uint32_t part = 0; part + 1 < kRanges; ++part) {
    w.Give(static_cast<Range>(part), Hint::OfPost(kAnn, kPost, sample(part)), traced);
  }
  w.RunUntilIdle();
  EXPECT_TRUE(w.metrics.traced.empty()) << "a range is still to come";
  const auto last = static_cast<Range>(kRanges - 1);
  auto late = sample(kRanges - 1);
  w.Give(last, Hint::OfPost(kAnn, kPost, late), traced);
  w.RunFor(std::chrono::milliseconds(30));
  ASSERT_EQ(w.metrics.traced.size(), 1u);
  EXPECT_EQ(w.metrics.traced[0].trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(w.metrics.traced[0].author, kAnn);
  EXPECT_EQ(w.metrics.traced[0].post, kPost);
  EXPECT_EQ(w.metrics.traced[0].followers, 5'000u);
  EXPECT_EQ(w.metrics.traced[0].since_published, std::chrono::milliseconds(30));
}

TEST(Pusher, SaysNothingOfAPostWithoutATrace) {
  BobsWorld w;
  w.Publish(kAnn, kPost, 1'000);
  for (uint32_t part = 0; part < kRanges; ++part) {
    w.Give(static_cast<Range>(part),
           Hint::OfPost(kAnn, kPost, DeliverySample{part, kRanges, w.now.unix_ms, 5'000}));
  }
  w.RunUntilIdle();
  EXPECT_EQ(w.metrics.last.size(), 1u);
  EXPECT_TRUE(w.metrics.traced.empty());
}

}  // namespace
}  // namespace fanline::pusher
