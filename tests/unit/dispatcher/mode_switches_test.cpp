#include "dispatcher/mode_switches.h"

#include <gtest/gtest.h>

#include <vector>

#include "dispatcher/pulled_counts.h"
#include "tests/fakes/requests.h"

namespace fanline::dispatcher {
namespace {

constexpr UserId kAnn{1001};

struct Told : Metrics {
  void AuthorSwitched(UserId author, const ModeSwitch& how, const AuthorWeight&) override {
    switched.emplace_back(author, how.pull);
  }
  void AuthorsPulled(uint64_t by_hand, uint64_t by_itself) override {
    pulled.emplace_back(by_hand, by_itself);
  }
  std::vector<std::pair<UserId, bool>> switched;
  std::vector<std::pair<uint64_t, uint64_t>> pulled;
};

struct World : ServesAll<World, SwitchAuthor, CountPulled> {
  void Serve(SwitchAuthor request, ReplyTo<AuthorSwitched>) { orders.push_back(request); }
  void Serve(CountPulled request, ReplyTo<PulledCounted>) { counts.push_back(request); }

  void Consider(UserId author, uint64_t live, uint64_t version = 0) {
    AuthorMode mode{.version = version};
    mode.weight = {live, {}, std::chrono::seconds(1)};
    switches.Consider(1, author, mode);
  }

  std::vector<SwitchAuthor> orders;
  std::vector<CountPulled> counts;
  fakes::Inbox<std::variant<AuthorSwitched, PulledCounted>> inbox;
  Told told;
  uint64_t ids = 0;
  ModeSwitches switches{{*this, inbox}, told, {.pull_above = 100}, ids};
  PulledCounts pulled{{*this, inbox}, told, 2, std::chrono::seconds(15), ids};
};

TEST(ModeSwitches, AreOrderedForTheVersionTheyWereDecidedOn) {
  World w;
  w.Consider(kAnn, 99);
  EXPECT_TRUE(w.orders.empty());
  w.Consider(kAnn, 100, 7);
  ASSERT_EQ(w.orders.size(), 1u);
  EXPECT_EQ(w.orders[0].author, kAnn);
  EXPECT_EQ(w.orders[0].shard, 1u);
  EXPECT_TRUE(w.orders[0].pull);
  EXPECT_EQ(w.orders[0].version, 7u);
}

TEST(ModeSwitches, AreOrderedOnceUntilAnsweredAndAgainWhenLost) {
  World w;
  w.Consider(kAnn, 100);
  w.Consider(kAnn, 100);
  ASSERT_EQ(w.orders.size(), 1u);
  w.switches.On({w.orders[0].id, Status::Later("mysql", "away"), false});
  EXPECT_TRUE(w.told.switched.empty());
  w.Consider(kAnn, 100);
  ASSERT_EQ(w.orders.size(), 2u);
  w.switches.On({w.orders[1].id, Status::Done(), true});
  EXPECT_EQ(w.told.switched, (std::vector<std::pair<UserId, bool>>{{kAnn, true}}));
  w.switches.On({w.orders[1].id, Status::Done(), true});
  EXPECT_EQ(w.told.switched.size(), 1u) << "answered before";
}

TEST(ModeSwitches, OnesThatAnotherHasMadeAreNotCounted) {
  World w;
  w.Consider(kAnn, 100);
  w.switches.On({w.orders[0].id, Status::Done(), false});
  EXPECT_TRUE(w.told.switched.empty());
}

TEST(ModeSwitches, OnlySoManyAreUnderWay) {
  World w;
  for (uint64_t author = 1; author <= 100; ++author) w.Consider(UserId{author}, 100);
  ASSERT_EQ(w.orders.size(), 64u);
  w.switches.On({w.orders[0].id, Status::Done(), true});
  w.Consider(UserId{100}, 100);
  EXPECT_EQ(w.orders.size(), 65u);
}

TEST(PulledCounts, SumWhatTheShardsSayNowAndThen) {
  World w;
  Now now{Time(std::chrono::seconds(100)), 0};
  w.pulled.Step(now);
  EXPECT_TRUE(w.counts.empty());
  now.mono += std::chrono::seconds(15);
  EXPECT_EQ(w.pulled.timer(), now.mono);
  w.pulled.Step(now);
  w.pulled.Step(now);
  ASSERT_EQ(w.counts.size(), 2u);
  w.pulled.On({1, 0, Status::Done(), 1, 2});
  w.pulled.On({2, 1, Status::Done(), 10, 20});
  w.pulled.On({3, 1, Status::Later("mysql", "away"), 0, 0});
  w.pulled.On({4, 0, Status::Done(), 0, 3});
  const std::vector<std::pair<uint64_t, uint64_t>> said{{1, 2}, {11, 22}, {10, 23}};
  EXPECT_EQ(w.told.pulled, said);
}

}  // namespace
}  // namespace fanline::dispatcher
