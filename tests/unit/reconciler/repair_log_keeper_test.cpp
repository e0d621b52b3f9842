#include "reconciler/repair_log_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/requests.h"

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Told : Metrics {
  int parked = 0;
  void Parked(const std::string&) override { ++parked; }
};

struct Asked : Serves<PurgeRepairs> {
  std::vector<PurgeRepairs> purges;
  void Submit(PurgeRepairs request, ReplyTo<RepairsPurged>) override { purges.push_back(request); }
};

class RepairLogKeeperTest : public ::testing::Test {
 protected:
  void Step(Duration later = {}) {
    now_ += later;
    next_ = keeper_.Step({}, {now_, 0});
  }
  // The first one waiting.
  void Answer(uint64_t deleted, Status status = Status::Done()) {
    const PurgeRepairs asked = store_.purges.at(0);
    store_.purges.erase(store_.purges.begin());
    const RepairsPurged reply{asked.id, asked.shard, std::move(status), deleted};
    next_ = keeper_.Step({&reply, 1}, {now_, 0});
  }

  Asked store_;
  Told told_;
  RepairLogKeeper keeper_{{store_, fakes::nobody}, told_, 2};
  Time now_{1h};
  std::optional<Time> next_;
};

TEST_F(RepairLogKeeperTest, EveryShardIsPurgedByAgeNowAndThen) {
  Step();
  ASSERT_THAT(store_.purges, SizeIs(2));
  EXPECT_EQ(store_.purges[0].keep, std::chrono::seconds(30 * 24h));
  EXPECT_NE(store_.purges[0].shard, store_.purges[1].shard);
  Answer(3);
  Answer(0);
  EXPECT_THAT(store_.purges, IsEmpty());
  EXPECT_EQ(next_, now_ + 1h);
  Step(1h);
  EXPECT_THAT(store_.purges, SizeIs(2));
}

TEST_F(RepairLogKeeperTest, WhileThereIsMoreItGoesOn) {
  Step();
  Answer(store_.purges.at(0).most);
  Answer(0);
  ASSERT_THAT(store_.purges, SizeIs(1)) << "of the shard with more, at once";
  EXPECT_EQ(store_.purges[0].shard, 0u);
}

TEST_F(RepairLogKeeperTest, AShardThatIsAwayIsAskedAgainAndHoldsUpOnlyItself) {
  Step();
  Answer(0, Status::Later("mysql_0", "away"));
  EXPECT_EQ(told_.parked, 1);
  Step(1min);
  ASSERT_THAT(store_.purges, SizeIs(2)) << "the other one has not answered yet";
  EXPECT_EQ(store_.purges[0].shard, 1u);
  EXPECT_EQ(store_.purges[1].shard, 0u);
}

TEST_F(RepairLogKeeperTest, DrainsWhatItAskedFor) {
  Step();
  keeper_.StopTaking();
  EXPECT_FALSE(keeper_.drained());
  Answer(10'000);
  Answer(0);
  EXPECT_TRUE(keeper_.drained());
  EXPECT_THAT(store_.purges, IsEmpty());
}

}  // namespace
}  // namespace fanline::reconciler
