#include "feedctl/auditing/repair.h"

#include <gmock/gmock.h>

#include <string>

namespace fanline::feedctl {
namespace {

using namespace std::chrono_literals;
using audit::Difference;
using audit::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using timeline::RebuildResult;

constexpr UserId kAnn{1}, kBob{2};
const Difference kMiss{.kind = Kind::kMissing, .item = {PostId{7}, 7}};

// World: what is wrong with whom; a rebuild sets it right. All that is done is written down.
class RepairTest : public ::testing::Test {
 protected:
  RepairResult Run(const std::vector<UserId>& readers) {
    Repair repair({[this](UserId reader, audit::Look* look) {
                     *look = {.judged = true, .items = 1};
                     look->differences = wrong_[reader];
                     return away_;
                   },
                   [this](UserId reader) {
                     done_.push_back("drop " + ToString(reader));
                     return Status::Done();
                   },
                   [this](UserId reader, RebuildResult* result) {
                     done_.push_back("rebuild " + ToString(reader));
                     *result = ends_;
                     if (rebuilds_help_) wrong_[reader].clear();
                     return Status::Done();
                   },
                   [this](Duration time) {
                     waited_.push_back(time);
                     if (meanwhile_) meanwhile_();
                     return waited_.size() != interrupted_at_;
                   }},
                  {.after = 5s, .per_second = 4});
    RepairResult result;
    status_ = repair.Run(readers, &result);
    return result;
  }

  std::map<UserId, std::vector<Difference>> wrong_{{kAnn, {kMiss}}, {kBob, {kMiss}}};
  std::function<void()> meanwhile_;
  RebuildResult ends_ = RebuildResult::kRebuilt;
  bool rebuilds_help_ = true;
  size_t interrupted_at_ = 0;
  Status away_ = Status::Done();
  Status status_ = Status::Done();
  std::vector<std::string> done_;
  std::vector<Duration> waited_;
};

TEST_F(RepairTest, RebuildsWhatIsWrongTwiceAtItsRate) {
  const auto result = Run({kAnn, kBob});
  EXPECT_THAT(done_, ElementsAre("drop 1", "rebuild 1", "drop 2", "rebuild 2"));
  EXPECT_THAT(waited_, ElementsAre(5s, 250ms));
  EXPECT_EQ(result.wrong, 2u);
  EXPECT_EQ(result.rebuilt, 2u);
  EXPECT_EQ(result.in_flight, 0u);
  EXPECT_TRUE(result.good());
}

TEST_F(RepairTest, LeavesAloneWhatWasInFlight) {
  meanwhile_ = [this] { wrong_[kAnn].clear(); };
  const auto result = Run({kAnn, kBob});
  EXPECT_THAT(done_, ElementsAre("drop 2", "rebuild 2"));
  EXPECT_EQ(result.in_flight, 1u);
  EXPECT_TRUE(result.good());
}

TEST_F(RepairTest, DoesNotWaitWhereNothingIsWrongAnyMore) {
  wrong_.clear();
  const auto result = Run({kAnn, kBob});
  EXPECT_THAT(waited_, IsEmpty());
  EXPECT_EQ(result.in_flight, 2u);
  EXPECT_TRUE(result.good());
}

TEST_F(RepairTest, SaysWhatIsWrongAllTheSame) {
  rebuilds_help_ = false;
  const auto result = Run({kAnn});
  EXPECT_EQ(result.rebuilt, 1u);
  EXPECT_EQ(result.still_wrong, 1u);
  EXPECT_THAT(waited_, ElementsAre(5s, 5s)) << "it too may be in flight";
  EXPECT_FALSE(result.good());
}

TEST_F(RepairTest, WhatIsRefusedOrGivenUpIsLeft) {
  for (const auto ends : {RebuildResult::kRefused, RebuildResult::kGaveUp}) {
    wrong_ = {{kAnn, {kMiss}}};
    ends_ = ends;
    const auto result = Run({kAnn});
    EXPECT_EQ(result.left, 1u);
    EXPECT_EQ(result.rebuilt, 0u);
    EXPECT_FALSE(result.good());
  }
}

TEST_F(RepairTest, WhatSomebodyElseRebuildsIsRebuilt) {
  for (const auto ends : {RebuildResult::kBusy, RebuildResult::kAlreadyReady}) {
    wrong_ = {{kAnn, {kMiss}}};
    ends_ = ends;
    EXPECT_EQ(Run({kAnn}).rebuilt, 1u);
  }
}

TEST_F(RepairTest, AnInterruptLeavesTheRest) {
  interrupted_at_ = 2;  // before the second rebuild
  auto result = Run({kAnn, kBob});
  EXPECT_THAT(done_, ElementsAre("drop 1", "rebuild 1"));
  EXPECT_EQ(result.rebuilt, 1u);
  EXPECT_EQ(result.left, 1u);

  done_.clear(), waited_.clear();
  interrupted_at_ = 1;  // before the second look
  wrong_ = {{kAnn, {kMiss}}, {kBob, {kMiss}}};
  result = Run({kAnn, kBob});
  EXPECT_THAT(done_, IsEmpty());
  EXPECT_EQ(result.left, 2u);
}

TEST_F(RepairTest, AServiceThatIsAwayEndsIt) {
  away_ = Status::Later("redis", "away");
  Run({kAnn});
  EXPECT_EQ(status_.resource, "redis");
  EXPECT_THAT(done_, IsEmpty());
}

}  // namespace
}  // namespace fanline::feedctl
