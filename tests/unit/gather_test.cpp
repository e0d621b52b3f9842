#include "fanline/base/gather.h"

#include <gtest/gtest.h>

namespace fanline {
namespace {

using std::chrono::milliseconds;

constexpr Duration kBound = milliseconds(100);
constexpr Time kStart{std::chrono::hours(1)};

// Work arrives every `apart`, each piece at a moment of its own. When it is taken.
struct Arrivals {
  explicit Arrivals(Duration bound) : pace(bound) {}

  void Go(Duration apart, int pieces) {
    for (int i = 0; i < pieces; ++i) Arrive(now + apart);
  }
  void Arrive(Time at) {
    now = at;
    if (batches == 0 || taken < at) {  // else it comes with the batch that is about to start
      taken = std::max(at, pace.opens_at());
      EXPECT_TRUE(pace.open(taken));
      pace.Started(taken);
      ++batches;
    }
    longest = std::max(longest, taken - at);
  }

  GatherPace pace;
  Time now = kStart;
  Time taken{};
  int batches = 0;
  Duration longest{};
};

TEST(GatherPace, ALonePieceWaitsForNobody) {
  Arrivals w(kBound);
  w.Go(milliseconds(200), 50);
  EXPECT_EQ(w.batches, 50);
  EXPECT_EQ(w.longest, Duration::zero());
}

TEST(GatherPace, ThePiecesOfALoneEventAreTakenAsTheyComeInAFewBatches) {
  Arrivals w(kBound);
  w.Go(milliseconds(1), 40);
  EXPECT_LE(w.batches, 8);
  EXPECT_LE(w.longest, kBound / GatherPace::kRoom) << "each of the first batches may start early";
}

TEST(GatherPace, ABatchIsTakenOnceInEachBoundHoweverMuchArrives) {
  for (const Duration apart : {Duration(milliseconds(10)), Duration(milliseconds(1)),
                               Duration(std::chrono::microseconds(20))}) {
    Arrivals w(kBound);
    w.Go(apart, static_cast<int>(std::chrono::seconds(10) / apart));
    EXPECT_LE(w.batches, 100 + GatherPace::kRoom) << apart.count() << " us apart";
    EXPECT_GE(w.batches, 90);
    EXPECT_LE(w.longest, kBound) << "no piece waits longer than the operator allows";
  }
}

TEST(GatherPace, NothingWaitsWhenItIsOff) {
  Arrivals w(Duration::zero());
  w.Go(milliseconds(1), 1'000);
  EXPECT_EQ(w.batches, 1'000);
  EXPECT_EQ(w.longest, Duration::zero());
}

TEST(GatherReady, GoesAtOnceWhenNothingElseIsUnderWayOrItIsOff) {
  GatherReady ready(kBound), off(Duration::zero());
  off.Add(kStart);
  EXPECT_TRUE(off.due(true, kStart));
  EXPECT_FALSE(ready.due(false, kStart)) << "nothing is ready";
  ready.Add(kStart);
  EXPECT_TRUE(ready.due(false, kStart));
}

TEST(GatherReady, WaitsForWhatIsUnderWayButNoLongerThanTheBound) {
  GatherReady ready(kBound);
  ready.Add(kStart);
  ready.Add(kStart + kBound / 2);
  EXPECT_FALSE(ready.due(true, kStart + kBound / 2));
  EXPECT_EQ(ready.timer(), kStart + kBound) << "the oldest counts";
  EXPECT_TRUE(ready.due(true, kStart + kBound));
  ready.Released();
  EXPECT_EQ(ready.timer(), std::nullopt);
  EXPECT_FALSE(ready.due(false, kStart + kBound));
}

}  // namespace
}  // namespace fanline
