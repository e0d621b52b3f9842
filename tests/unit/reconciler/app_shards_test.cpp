#include "reconciler/app_shards.h"

#include <gtest/gtest.h>

#include "tests/fakes/requests.h"

namespace fanline::reconciler {
namespace {

struct FakeProbe : Serves<PingShard> {
  void Submit(PingShard request, ReplyTo<ShardPinged>) override { asked.push_back(request); }
  std::vector<PingShard> asked;
};

TEST(AppShards, AsksEachOnceASecondButNotOneThatHangs) {
  FakeProbe probe;
  AppShards shards({probe, fakes::nobody}, 2);
  Now now{Time{} + std::chrono::hours(1), 0};
  EXPECT_EQ(shards.Step({}, now), now.mono + AppShards::kEvery);
  ASSERT_EQ(probe.asked.size(), 2u);
  const std::vector<ShardPinged> replies{{probe.asked[0].id, 0, Status::Done()}};
  (void)shards.Step(replies, now);
  EXPECT_EQ(probe.asked.size(), 2u);
  now.mono += AppShards::kEvery;
  (void)shards.Step({}, now);
  ASSERT_EQ(probe.asked.size(), 3u);
  EXPECT_EQ(probe.asked[2].shard, 0u);
}

TEST(AppShards, WithoutTablesOfAnApplicationNobodyIsAsked) {
  FakeProbe probe;
  AppShards shards({probe, fakes::nobody}, 0);
  EXPECT_EQ(shards.Step({}, {}), std::nullopt);
}

}  // namespace
}  // namespace fanline::reconciler
