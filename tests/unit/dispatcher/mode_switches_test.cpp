#include "dispatcher/mode_switches.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/fakes/requests.h"

namespace fanline::dispatcher {
namespace {

constexpr UserId kFirst{1001};

struct Told : Metrics {
  void AuthorSwitched(UserId author, const ModeSwitch& how, const AuthorWeight&) override {
    switched.emplace_back(author, how.pull);
  }
  std::vector<std::pair<UserId, bool>> switched;
};

struct SwitchWorld : Serves<SwitchAuthor> {
  void Submit(SwitchAuthor request, ReplyTo<AuthorSwitched>) override { orders.push_back(request); }

  void Consider(UserId author, uint64_t live, uint64_t version = 0) {
    AuthorMode mode{.version = version};
    mode.weight = {live, {}, std::chrono::seconds(1)};
    switches.Consider(1, author, mode);
  }

  std::vector<SwitchAuthor> orders;
  fakes::Inbox<AuthorSwitched> inbox;
  Told told;
  uint64_t ids = 0;
  ModeSwitches switches{{*this, inbox}, told, {.pull_above = 100}, ids};
};

TEST(ModeSwitches, AreOrderedForTheVersionTheyWereDecidedOn) {
  SwitchWorld w;
  w.Consider(kFirst, 99);
  EXPECT_TRUE(w.orders.empty());
  w.Consider(kFirst, 100, 7);
  ASSERT_EQ(w.orders.size(), 1u);
  EXPECT_EQ(w.orders[0].author, kFirst);
  EXPECT_EQ(w.orders[0].shard, 1u);
  EXPECT_TRUE(w.orders[0].pull);
  EXPECT_EQ(w.orders[0].version, 7u);
}

TEST(ModeSwitches, AreOrderedOnceUntilAnsweredAndAgainWhenLost) {
  SwitchWorld w;
  w.Consider(kFirst, 100);
  w.Consider(kFirst, 100);
  ASSERT_EQ(w.orders.size(), 1u);
  w.switches.On({w.orders[0].id, Status::Later("mysql", "away"), false});
  EXPECT_TRUE(w.told.switched.empty());
  w.Consider(kFirst, 100);
  ASSERT_EQ(w.orders.size(), 2u);
  w.switches.On({w.orders[1].id, Status::Done(), true});
  EXPECT_EQ(w.told.switched, (std::vector<std::pair<UserId, bool>>{{kFirst, true}}));
  w.switches.On({w.orders[1].id, Status::Done(), true});
  EXPECT_EQ(w.told.switched.size(), 1u) << "answered before";
}

TEST(ModeSwitches, OnesThatAnotherHasMadeAreNotCounted) {
  SwitchWorld w;
  w.Consider(kFirst, 100);
  w.switches.On({w.orders[0].id, Status::Done(), false});
  EXPECT_TRUE(w.told.switched.empty());
}

TEST(ModeSwitches, OnlySoManyAreUnderWay) {
  SwitchWorld w;
  for (uint64_t author = 1; author <= 100; ++author) w.Consider(UserId{author}, 100);
  ASSERT_EQ(w.orders.size(), 64u);
  w.switches.On({w.orders[0].id, Status::Done(), true});
  w.Consider(UserId{100}, 100);
  EXPECT_EQ(w.orders.size(), 65u);
}

}  // namespace
}  // namespace fanline::dispatcher
