#include "api/inline_mirror.h"

#include <gmock/gmock.h>

#include "api/operations/call.h"

namespace fanline::api {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps what is asked; a test replies by hand.
template <class R>
struct Kept : Serves<R> {
  void Submit(R request, ReplyTo<typename R::Reply> to) override { SubmitInTurn(request, to, {}); }
  void SubmitInTurn(R request, ReplyTo<typename R::Reply>, Turn turn) override {
    asked.push_back(request);
    turns.push_back(turn);
  }
  std::vector<R> asked;
  std::vector<Turn> turns;
};

struct CountingResults : Metrics {
  void CounterBelowZero() override { ++below_zero; }
  void MirroredInline(InlineResult result) override { results.push_back(result); }
  int below_zero = 0;
  std::vector<InlineResult> results;
};

struct Asker {
  void Push(EdgeChanged reply) { answered.push_back(reply.id); }
  std::vector<uint64_t> answered;
};

class InlineMirrorTest : public ::testing::Test {
 protected:
  // Edge 5 -> 7 is changed as `forward` says. Returns the ids that are answered so far.
  std::vector<uint64_t> Change(uint64_t id, const ForwardChanged& forward, Status status = {}) {
    mirror_.Submit(ChangeEdge{id, {UserId{5}, UserId{7}, true}}, asker_);
    mirror_.Push(EdgeChanged{forward_.asked.back().id, std::move(status), forward});
    return asker_.answered;
  }
  static ForwardChanged Changed(uint64_t ver, bool changed = true) {
    return {.edge = {UserId{5}, UserId{7}, ver, true, 1}, .changed = changed};
  }
  void SetMode(MirrorMode mode) { mirror_.Push(MirrorModeRead{1, Status::Done(), mode}); }
  // To the request for a reverse row that came last.
  void Reply(Status status) {
    mirror_.Push(EdgesApplied{reverse_.asked.back().id, std::move(status), {}, 0});
  }

  Time now_{1h};
  Kept<ChangeEdge> forward_;
  Kept<ApplyEdges> reverse_;
  Kept<ReadMirrorMode> modes_;
  CountingResults metrics_;
  Asker asker_;
  const ShardMap map_ = ShardMap::Even(2);
  InlineMirror mirror_{{forward_, reverse_, modes_}, map_, metrics_, [this] { return now_; }};
};

TEST_F(InlineMirrorTest, LeavesAChangeToTheRelayUnlessToldOtherwise) {
  EXPECT_THAT(Change(1, Changed(9)), ElementsAre(1));
  EXPECT_THAT(reverse_.asked, IsEmpty());
}

TEST_F(InlineMirrorTest, AppliesOnceMoreWhatWasSoAlreadyInBothModes) {
  EXPECT_THAT(Change(1, Changed(9, false)), ElementsAre(1)) << "without waiting for it";
  ASSERT_EQ(reverse_.asked.size(), 1u);
  EXPECT_EQ(reverse_.asked[0].shard, map_.ShardOf(UserId{7}));
  EXPECT_EQ(reverse_.asked[0].edges.front().ver, 9u);
  Reply(Status::Done());
  SetMode(MirrorMode::kSync);
  EXPECT_THAT(Change(2, Changed(9, false)), ElementsAre(1));
  EXPECT_EQ(reverse_.asked.size(), 2u);
  EXPECT_THAT(asker_.answered, ElementsAre(1));
}

TEST_F(InlineMirrorTest, WhatHasNoRowOrFailedIsNotApplied) {
  SetMode(MirrorMode::kSync);
  EXPECT_THAT(Change(1, Changed(0, false)), ElementsAre(1));
  EXPECT_THAT(Change(2, Changed(9), Status::Later("mysql_0", "away")), ElementsAre(1, 2));
  EXPECT_THAT(reverse_.asked, IsEmpty());
}

TEST_F(InlineMirrorTest, WaitsInTheModeSync) {
  SetMode(MirrorMode::kSync);
  EXPECT_THAT(Change(1, Changed(9)), IsEmpty());
  Reply(Status::Done());
  EXPECT_THAT(Change(2, Changed(10)), ElementsAre(1));
  Reply(Status::Later("mysql_1", "away"));
  EXPECT_THAT(asker_.answered, ElementsAre(1, 2)) << "a failure is the mirror's to mend";
  EXPECT_THAT(metrics_.results, ElementsAre(InlineResult::kDone, InlineResult::kFailed));
}

TEST_F(InlineMirrorTest, WaitsNoLongerThanItsBudgetAndTakesALateAnswer) {
  SetMode(MirrorMode::kSync);
  Change(1, Changed(9));
  now_ += InlineMirror::kBudget - 1ms;
  EXPECT_LE(mirror_.Step(now_), now_ + 10ms);
  EXPECT_THAT(asker_.answered, IsEmpty());
  now_ += 1ms;
  mirror_.Step(now_);
  EXPECT_THAT(asker_.answered, ElementsAre(1));
  Reply(Status::Done());
  EXPECT_THAT(asker_.answered, ElementsAre(1));
  EXPECT_THAT(metrics_.results, ElementsAre(InlineResult::kLate));
}

TEST_F(InlineMirrorTest, ATimeThatIsUpAnswersNothingThatWaitsForItsForwardRow) {
  SetMode(MirrorMode::kSync);
  mirror_.Submit(ChangeEdge{1, {UserId{5}, UserId{7}, true}}, asker_);
  mirror_.Step(now_ + 1h);
  EXPECT_THAT(asker_.answered, IsEmpty());
}

TEST_F(InlineMirrorTest, AsksForTheModeOnceASecondAndNotAgainBeforeTheAnswer) {
  mirror_.Step(now_);
  mirror_.Step(now_ + 500ms);
  mirror_.Step(now_ + 2s);
  EXPECT_EQ(modes_.asked.size(), 1u);
  SetMode(MirrorMode::kSync);
  mirror_.Step(now_ + 2s);
  EXPECT_EQ(modes_.asked.size(), 2u);
}

// Users' changes must not wait behind it.
TEST_F(InlineMirrorTest, AsksForTheModeAmongLookupsAndNotForLong) {
  mirror_.Step(now_);
  ASSERT_EQ(modes_.turns.size(), 1u);
  EXPECT_EQ(modes_.turns[0].work_class, static_cast<size_t>(Work::kLookups));
  EXPECT_EQ(modes_.turns[0].until, now_ + 500ms);
}

TEST_F(InlineMirrorTest, KeepsTheModeWhileTheShardIsAway) {
  SetMode(MirrorMode::kSync);
  mirror_.Push(MirrorModeRead{2, Status::Later("mysql_0", "away"), MirrorMode::kAsync});
  Change(1, Changed(9));
  EXPECT_EQ(reverse_.asked.size(), 1u);
}

TEST_F(InlineMirrorTest, CountersBelowZeroAreCountedOnBothSides) {
  ForwardChanged changed = Changed(9);
  changed.below_zero = true;
  Change(1, changed);
  mirror_.Push(EdgesApplied{77, Status::Done(), {}, 2});
  EXPECT_EQ(metrics_.below_zero, 3);
}

}  // namespace
}  // namespace fanline::api
