#include "fanline/consuming/mirror_lag.h"

#include <gtest/gtest.h>

namespace fanline::reconciler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kStart{seconds(1'000)};

TEST(MirrorLag, IsTheAgeOfWhatIsNotFinishedSinceItCame) {
  MirrorLagMeter meter;
  meter.Assigned(0, 10);
  EXPECT_EQ(meter.Lag(kStart), Duration(0));
  meter.Consumed(0, 10, kStart);
  meter.Consumed(0, 11, kStart + seconds(100));
  EXPECT_EQ(meter.Lag(kStart + seconds(101)), seconds(101));
  meter.Committed(0, 11);
  EXPECT_EQ(meter.Lag(kStart + seconds(101)), seconds(1)) << "the idle time before it is no lag";
  meter.Committed(0, 12);
  EXPECT_EQ(meter.Lag(kStart + seconds(101)), Duration(0));
}

TEST(MirrorLag, IsExactToItsResolutionWithFewSamples) {
  MirrorLagMeter meter;
  meter.Assigned(0, 0);
  for (int64_t i = 0; i < 10'000; ++i) meter.Consumed(0, i, kStart + milliseconds(i));
  meter.Committed(0, 5'050);
  const Duration lag = meter.Lag(kStart + seconds(10));
  EXPECT_GE(lag, milliseconds(4'950));
  EXPECT_LE(lag, milliseconds(5'050));
}

TEST(MirrorLag, TheWorstPartitionCountsAndALostOneDoesNot) {
  MirrorLagMeter meter;
  meter.Assigned(0, 0);
  meter.Assigned(1, 0);
  meter.Consumed(0, 0, kStart);
  meter.Consumed(1, 0, kStart + seconds(5));
  EXPECT_EQ(meter.Lag(kStart + seconds(6)), seconds(6));
  meter.Revoked(0);
  EXPECT_EQ(meter.Lag(kStart + seconds(6)), seconds(1));
}

TEST(MirrorLag, AMirrorThatIsAheadOfUsDoesNotLag) {
  MirrorLagMeter meter;
  meter.Assigned(0, 0);
  meter.Committed(0, 100);
  meter.Consumed(0, 50, kStart);
  meter.Committed(0, 100);
  EXPECT_EQ(meter.Lag(kStart + seconds(9)), Duration(0));
}

}  // namespace
}  // namespace fanline::reconciler
