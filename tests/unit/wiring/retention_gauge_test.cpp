// A log's retention as a metric.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/wiring/checks.h"

namespace fanline::wiring {
namespace {

struct World {
  prometheus::Registry registry;

  void Show(const char* value) { ShowRetention(registry, "feed-events", value); }
  // NaN: there is no such metric.
  double Shown() const {
    const auto families = registry.Collect();
    if (families.empty()) return NAN;
    const auto& metric = families.at(0).metric.at(0);
    EXPECT_EQ(families.at(0).name, "fanline_log_retention_seconds");
    EXPECT_EQ(metric.label.at(0).name, "topic");
    EXPECT_EQ(metric.label.at(0).value, "feed-events");
    return metric.gauge.value;
  }
};

TEST(RetentionGauge, ShowsSecondsAndForEverAsInfinite) {
  World w;
  w.Show("604800000");
  EXPECT_EQ(w.Shown(), 604'800);
  w.Show("1500");
  EXPECT_EQ(w.Shown(), 1.5);
  w.Show("-1");
  EXPECT_EQ(w.Shown(), INFINITY);
}

TEST(RetentionGauge, IsNotThereBeforeANumberIsKnown) {
  World w;
  for (const char* text : {"", "a week", "12s"}) w.Show(text);
  EXPECT_TRUE(std::isnan(w.Shown()));
  w.Show("1000");
  w.Show("");
  EXPECT_EQ(w.Shown(), 1);
}

}  // namespace
}  // namespace fanline::wiring
