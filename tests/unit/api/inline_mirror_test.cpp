#include "api/inline_mirror.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace fanline::api {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct FakeReverse : Serves<ApplyEdges> {
  void Submit(ApplyEdges request, ReplyTo<EdgesApplied> to) override {
    asked.push_back(request);
    if (answer) answer(request.id, to);
  }
  std::vector<ApplyEdges> asked;
  std::function<void(uint64_t, ReplyTo<EdgesApplied>)> answer;
};

struct FakeModes : Serves<ReadMirrorMode> {
  void Submit(ReadMirrorMode request, ReplyTo<MirrorModeRead>) override {
    asked.push_back(request.id);
  }
  std::vector<uint64_t> asked;
};

struct CountingResults : Metrics {
  void CounterBelowZero() override { ++below_zero; }
  void MirroredInline(InlineResult result) override { results.push_back(result); }
  int below_zero = 0;
  std::vector<InlineResult> results;
};

class InlineMirrorTest : public ::testing::Test {
 protected:
  static ForwardChanged Changed(uint64_t ver, bool changed = true) {
    return {.edge = {UserId{5}, UserId{7}, ver, true, 1}, .changed = changed};
  }
  void SetMode(MirrorMode mode) { mirror_.Push(MirrorModeRead{1, Status::Done(), mode}); }
  void AnswerAtOnce(Status status) {
    reverse_.answer = [status](uint64_t id, ReplyTo<EdgesApplied> to) { to({id, status, {}, 0}); };
  }

  FakeReverse reverse_;
  FakeModes modes_;
  CountingResults metrics_;
  const ShardMap map_ = ShardMap::Even(2);
  InlineMirror mirror_{reverse_, modes_, map_, metrics_, 1ms};
};

TEST_F(InlineMirrorTest, LeavesAChangeToTheRelayUnlessToldOtherwise) {
  mirror_.After(Changed(9));
  EXPECT_THAT(reverse_.asked, IsEmpty());
}

TEST_F(InlineMirrorTest, AppliesOnceMoreWhatWasSoAlreadyInBothModes) {
  mirror_.After(Changed(9, false));
  ASSERT_EQ(reverse_.asked.size(), 1u);
  EXPECT_EQ(reverse_.asked[0].shard, map_.ShardOf(UserId{7}));
  EXPECT_EQ(reverse_.asked[0].edges.front().ver, 9u);
  SetMode(MirrorMode::kSync);
  mirror_.After(Changed(9, false));
  EXPECT_EQ(reverse_.asked.size(), 2u);
}

TEST_F(InlineMirrorTest, WhatHasNoRowIsNotApplied) {
  SetMode(MirrorMode::kSync);
  mirror_.After(Changed(0, false));
  EXPECT_THAT(reverse_.asked, IsEmpty());
}

TEST_F(InlineMirrorTest, WaitsInTheModeSync) {
  SetMode(MirrorMode::kSync);
  AnswerAtOnce(Status::Done());
  mirror_.After(Changed(9));
  AnswerAtOnce(Status::Later("mysql_1", "away"));
  mirror_.After(Changed(10));
  EXPECT_THAT(metrics_.results, ElementsAre(InlineResult::kDone, InlineResult::kFailed));
}

TEST_F(InlineMirrorTest, WaitsNoLongerThanItsBudgetAndTakesALateAnswer) {
  SetMode(MirrorMode::kSync);
  mirror_.After(Changed(9));
  EXPECT_THAT(metrics_.results, ElementsAre(InlineResult::kLate));
  mirror_.Push(EdgesApplied{reverse_.asked[0].id, Status::Done(), {}, 0});
  EXPECT_EQ(metrics_.results.size(), 1u);
}

TEST_F(InlineMirrorTest, AnAnswerFromAnotherThreadEndsTheWait) {
  InlineMirror patient(reverse_, modes_, map_, metrics_, 1h);
  patient.Push(MirrorModeRead{1, Status::Done(), MirrorMode::kSync});
  std::thread applier;
  reverse_.answer = [&](uint64_t id, ReplyTo<EdgesApplied> to) {
    applier = std::thread([id, to] { to({id, Status::Done(), {}, 0}); });
  };
  patient.After(Changed(9));
  applier.join();
  EXPECT_THAT(metrics_.results, ElementsAre(InlineResult::kDone));
}

TEST_F(InlineMirrorTest, AsksForTheModeOnceASecondAndNotAgainBeforeTheAnswer) {
  const Time begin{1h};
  mirror_.Step(begin);
  mirror_.Step(begin + 500ms);
  mirror_.Step(begin + 2s);
  EXPECT_EQ(modes_.asked.size(), 1u);
  SetMode(MirrorMode::kSync);
  mirror_.Step(begin + 2s);
  EXPECT_EQ(modes_.asked.size(), 2u);
}

TEST_F(InlineMirrorTest, KeepsTheModeWhileTheShardIsAway) {
  SetMode(MirrorMode::kSync);
  mirror_.Push(MirrorModeRead{2, Status::Later("mysql_0", "away"), MirrorMode::kAsync});
  AnswerAtOnce(Status::Done());
  mirror_.After(Changed(9));
  EXPECT_EQ(reverse_.asked.size(), 1u);
}

TEST_F(InlineMirrorTest, CountersBelowZeroAreCountedOnBothSides) {
  ForwardChanged changed = Changed(9);
  changed.below_zero = true;
  mirror_.After(changed);
  mirror_.Push(EdgesApplied{77, Status::Done(), {}, 2});
  EXPECT_EQ(metrics_.below_zero, 3);
}

}  // namespace
}  // namespace fanline::api
