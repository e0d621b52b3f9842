#include "reconciler/tombstone_collector.h"

#include <gmock/gmock.h>

#include "tests/fakes/requests.h"

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr UnixMs kNowMs = 1'700'000'000'000;
constexpr UnixMs kPassed = kNowMs - 3'600'000;
const UnixMs kBefore = kPassed - Milliseconds(TombstoneLimits{}.keep);
const UnixMs kHorizon = kBefore + Milliseconds(TombstoneLimits{}.slack);

struct ToldOfTombstones : Metrics {
  UnixMs horizon = 0;
  uint64_t forward = 0, reverse = 0;
  int parked = 0;
  void HorizonRaised(UnixMs to) override { horizon = to; }
  void TombstonesCollected(bool of_reverse, uint64_t rows) override {
    (of_reverse ? reverse : forward) += rows;
  }
  void Parked(const std::string&) override { ++parked; }
};

struct TombstonesAsked : ServesAll<TombstonesAsked, ReadScanPassed, RaiseHorizon, ReadTombstones,
                                   DropTombstones, MoveTombstoneSweep> {
  std::vector<ReadScanPassed> passes;
  std::vector<RaiseHorizon> raises;
  std::vector<ReadTombstones> reads;
  std::vector<DropTombstones> drops;
  std::vector<MoveTombstoneSweep> moves;
  void Serve(ReadScanPassed request, ReplyTo<ScanPassed>) { passes.push_back(request); }
  void Serve(RaiseHorizon request, ReplyTo<HorizonRaised>) { raises.push_back(request); }
  void Serve(ReadTombstones request, ReplyTo<TombstonesRead>) { reads.push_back(request); }
  void Serve(DropTombstones request, ReplyTo<TombstonesDropped>) {
    drops.push_back(std::move(request));
  }
  void Serve(MoveTombstoneSweep request, ReplyTo<TombstoneSweepMoved>) { moves.push_back(request); }
};

// The only element, taken out.
template <class Request>
Request TakeOnly(std::vector<Request>& requests) {
  EXPECT_THAT(requests, SizeIs(1));
  Request request = requests.empty() ? Request{} : requests.front();
  requests.clear();
  return request;
}

class TombstoneCollectorTest : public ::testing::Test {
 protected:
  TombstoneCollectorTest() { gate_.SetMode(ReconcilerMode::kRun); }

  void Step(std::vector<TombstoneInput> inputs = {}) {
    next_ = collector_.Step(inputs, {now_, kNowMs}).next_timer;
  }
  void Pass(Duration time) {
    now_ += time;
    Step();
  }
  void AnswerPasses(UnixMs of_0, UnixMs of_1, const Status& status_of_1 = Status::Done()) {
    for (const ReadScanPassed& pass : std::exchange(store_.passes, {})) {
      Step({ScanPassed{pass.id, pass.shard == 1 ? status_of_1 : Status::Done(),
                       pass.shard == 1 ? of_1 : of_0}});
    }
  }
  // Raises the horizons of both shards, and lets that of shard 0 alone be swept.
  ReadTombstones FirstRead() {
    if (store_.passes.empty()) Step();
    AnswerPasses(kPassed, kPassed + 9);
    const auto raises = std::exchange(store_.raises, {});
    EXPECT_THAT(raises, SizeIs(2));
    Step({HorizonRaised{raises.at(0).id, {}}});
    Pass(1min);
    return TakeOnly(store_.reads);
  }
  static TombstonesRead Page(uint64_t id, std::vector<Tombstone> tombstones, bool over = false) {
    return {.id = id,
            .status = {},
            .due = true,
            .tombstones = std::move(tombstones),
            .after = {},
            .last = {UserId{9}, UserId{9}},
            .rows = 2'000,
            .over = over};
  }
  Tombstone To(Shard shard, uint64_t nth) const {
    uint64_t id = 1'000 * nth;
    while (map_.ShardOf(UserId{id}) != shard) ++id;
    return {{UserId{7}, UserId{id}}, 50 + nth};
  }

  const ShardMap map_ = ShardMap::Even(2);
  TombstonesAsked store_;
  ToldOfTombstones told_;
  RepairGate gate_{{}, 2};
  TombstoneCollector collector_{{store_, fakes::nobody}, told_, gate_, map_};
  Time now_{1h};
  std::optional<Time> next_;
};

TEST_F(TombstoneCollectorTest, NothingIsCollectedBeforeTheScanHasPassedOnEveryShard) {
  Step();
  ASSERT_THAT(store_.passes, SizeIs(2));
  AnswerPasses(kPassed, 0);
  Pass(1min);
  EXPECT_THAT(store_.raises, IsEmpty());
  AnswerPasses(0, kPassed);
  Pass(1min);
  AnswerPasses(kPassed, kPassed, Status::Later("mysql_1", "away"));
  EXPECT_EQ(told_.parked, 1);
  Pass(1min);
  EXPECT_THAT(store_.raises, IsEmpty());
  AnswerPasses(kPassed, kPassed);
  EXPECT_THAT(store_.raises, SizeIs(2));
}

TEST_F(TombstoneCollectorTest, AShardThatIsAwayEndsWhatWasKnownOfAllPasses) {
  const ReadTombstones read = FirstRead();
  AnswerPasses(kPassed, kPassed, Status::Later("mysql_1", "away"));
  Step({Page(read.id, {})});
  Step({TombstoneSweepMoved{TakeOnly(store_.moves).id, {}}});
  Pass(50s);
  EXPECT_THAT(store_.reads, IsEmpty());
}

TEST_F(TombstoneCollectorTest, TheHorizonIsRaisedAndSettledBeforeAnythingIsRead) {
  Step();
  AnswerPasses(kPassed, kPassed + 9);
  ASSERT_THAT(store_.raises, SizeIs(2));
  for (const RaiseHorizon& raise : store_.raises) EXPECT_EQ(raise.horizon, kHorizon);
  EXPECT_THAT(store_.reads, IsEmpty());
  Step({HorizonRaised{store_.raises[0].id, {}}});
  EXPECT_EQ(told_.horizon, kHorizon);
  Pass(59s);
  EXPECT_THAT(store_.reads, IsEmpty());
  Pass(1s);
  const ReadTombstones read = TakeOnly(store_.reads);
  EXPECT_EQ(read.shard, 0u);
  EXPECT_EQ(read.before, kBefore) << "an hour below the horizon";
  EXPECT_EQ(read.every, 24h);
}

TEST_F(TombstoneCollectorTest, AHorizonThatWasNotRaisedIsNotActedOn) {
  Step();
  AnswerPasses(kPassed, kPassed);
  Step({HorizonRaised{store_.raises.at(0).id, Status::Later("mysql_0", "away")}});
  store_.raises.clear();
  Pass(30s);
  EXPECT_THAT(store_.reads, IsEmpty());
  EXPECT_THAT(store_.raises, SizeIs(1)) << "raised again";
}

TEST_F(TombstoneCollectorTest, ReverseRowsGoFirstAndForwardRowsOnlyWhereTheyAreGone) {
  const ReadTombstones read = FirstRead();
  const Tombstone one = To(0, 1), two = To(1, 2), three = To(1, 3);
  Step({Page(read.id, {one, two, three})});
  const auto reverse = std::exchange(store_.drops, {});
  ASSERT_THAT(reverse, SizeIs(2));
  EXPECT_TRUE(reverse[0].reverse && reverse[1].reverse);
  EXPECT_THAT(reverse[0].tombstones, ElementsAre(one));
  EXPECT_THAT(reverse[1].tombstones, ElementsAre(two, three));
  Step({TombstonesDropped{reverse[0].id, {}, 1, {one}}});
  EXPECT_THAT(store_.drops, IsEmpty()) << "the other shard has not answered";
  Step({TombstonesDropped{reverse[1].id, {}, 1, {three}}});
  const DropTombstones forward = TakeOnly(store_.drops);
  EXPECT_FALSE(forward.reverse);
  EXPECT_EQ(forward.shard, 0u);
  EXPECT_EQ(forward.before, kBefore);
  EXPECT_THAT(forward.tombstones, ElementsAre(one, three));
  EXPECT_THAT(store_.moves, IsEmpty());
  Step({TombstonesDropped{forward.id, {}, 2, {}}});
  const MoveTombstoneSweep move = TakeOnly(store_.moves);
  EXPECT_EQ(move.from, EdgeKey{});
  EXPECT_EQ(move.to, (EdgeKey{UserId{9}, UserId{9}}));
  EXPECT_EQ(told_.reverse, 2u);
  EXPECT_EQ(told_.forward, 2u);
}

// The question about passes comes every minute, also in the middle of a page.
TEST_F(TombstoneCollectorTest, APassThatIsAskedForHoldsUpNoPage) {
  const ReadTombstones read = FirstRead();
  ASSERT_THAT(store_.passes, SizeIs(2)) << "not answered";
  const Tombstone one = To(0, 1);
  Step({Page(read.id, {one})});
  Step({TombstonesDropped{TakeOnly(store_.drops).id, {}, 1, {one}}});
  EXPECT_FALSE(TakeOnly(store_.drops).reverse);
}

TEST_F(TombstoneCollectorTest, AShardThatIsAwayKeepsThePlaceAndThePageIsReadAgain) {
  const ReadTombstones read = FirstRead();
  const Tombstone one = To(0, 1), two = To(1, 2);
  Step({Page(read.id, {one, two})});
  const auto reverse = std::exchange(store_.drops, {});
  Step({TombstonesDropped{reverse.at(0).id, {}, 1, {one}}});
  Step({TombstonesDropped{reverse.at(1).id, Status::Later("mysql_1", "away"), 0, {}}});
  const DropTombstones forward = TakeOnly(store_.drops);
  EXPECT_THAT(forward.tombstones, ElementsAre(one)) << "what is half deleted is finished";
  Step({TombstonesDropped{forward.id, {}, 1, {}}});
  EXPECT_THAT(store_.moves, IsEmpty());
  AnswerPasses(kPassed, kPassed);
  Pass(30s);
  Step({HorizonRaised{TakeOnly(store_.raises).id, {}}});
  Pass(1min);
  const ReadTombstones again = TakeOnly(store_.reads);
  EXPECT_EQ(again.shard, 0u);
  Step({Page(again.id, {two})});
  Step({TombstonesDropped{TakeOnly(store_.drops).id, {}, 1, {two}}});
  Step({TombstonesDropped{TakeOnly(store_.drops).id, {}, 1, {}}});
  EXPECT_THAT(store_.moves, SizeIs(1)) << "the page counts as done";
}

TEST_F(TombstoneCollectorTest, APageOfWhichNothingCouldGoIsReadAgain) {
  const ReadTombstones read = FirstRead();
  Step({Page(read.id, {To(0, 1)})});
  const DropTombstones reverse = TakeOnly(store_.drops);
  Step({TombstonesDropped{reverse.id, Status::Later("mysql_0", "away"), 0, {}}});
  EXPECT_THAT(store_.drops, IsEmpty());
  EXPECT_THAT(store_.moves, IsEmpty());
  Pass(30s);
  EXPECT_THAT(store_.raises, SizeIs(1)) << "from the beginning";
}

TEST_F(TombstoneCollectorTest, PagesGoOnAtTheRateGiven) {
  const ReadTombstones read = FirstRead();
  Step({Page(read.id, {})});
  Step({TombstoneSweepMoved{TakeOnly(store_.moves).id, {}}});
  EXPECT_THAT(store_.reads, IsEmpty());
  EXPECT_EQ(next_, now_ + 400ms);
  Pass(399ms);
  EXPECT_THAT(store_.reads, IsEmpty());
  Pass(1ms);  // 2,000 of 5,000 a second
  Step({Page(TakeOnly(store_.reads).id, {}, true)});
  EXPECT_EQ(TakeOnly(store_.moves).to, EdgeKey{}) << "the sweep is over";
}

TEST_F(TombstoneCollectorTest, ASweepThatIsNotDueIsAskedForAgainWithANewHorizon) {
  const ReadTombstones read = FirstRead();
  Step({TombstonesRead{.id = read.id, .status = {}, .due = false}});
  EXPECT_THAT(store_.drops, IsEmpty());
  EXPECT_THAT(store_.moves, IsEmpty());
  AnswerPasses(kPassed + 1'000, kPassed + 1'000);
  Pass(1min);
  EXPECT_EQ(store_.raises.at(0).horizon, kHorizon + 1'000);
}

TEST_F(TombstoneCollectorTest, InADryRunAndPausedNothingIsBegun) {
  for (const ReconcilerMode mode : {ReconcilerMode::kDryRun, ReconcilerMode::kPause}) {
    gate_.SetMode(mode);
    Pass(1min);
    EXPECT_THAT(store_.passes, IsEmpty());
  }
  gate_.SetMode(ReconcilerMode::kRun);
  Pass(1min);
  const ReadTombstones read = FirstRead();
  gate_.SetMode(ReconcilerMode::kPause);
  Step({Page(read.id, {})});
  Step({TombstoneSweepMoved{TakeOnly(store_.moves).id, {}}});
  Pass(10min);
  EXPECT_THAT(store_.reads, IsEmpty());
}

TEST_F(TombstoneCollectorTest, AScanThatPassedLessThanTheTimeAfterTheBeginningOfTimeRaisesNothing) {
  for (const UnixMs passed : {Milliseconds(TombstoneLimits{}.keep), UnixMs{1'000}}) {
    Pass(1min);
    AnswerPasses(passed, passed);
    Pass(30s);
    EXPECT_THAT(store_.raises, IsEmpty());
  }
}

TEST_F(TombstoneCollectorTest, ItStopsOnceWhatIsUnderWayIsAnswered) {
  Step();
  collector_.StopTaking();
  EXPECT_FALSE(collector_.drained()) << "the passes";
  AnswerPasses(kPassed, kPassed);
  EXPECT_TRUE(collector_.drained());
  EXPECT_THAT(store_.raises, IsEmpty());
}

}  // namespace
}  // namespace fanline::reconciler
