#include "daemon/observe/metrics.h"

#include <gmock/gmock.h>
#include <prometheus/text_serializer.h>

#include <map>

#include "daemon/observe/process_metrics.h"

namespace fanline::daemon {
namespace {

using testing::HasSubstr;

std::string Text(const prometheus::Collectable& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.Collect());
}

TEST(Metrics, HaveBucketsFromHalfAMillisecondToAMinute) {
  prometheus::Registry registry;
  AddHistogram(registry, "fanline_push_seconds", "Push.", SecondsBuckets()).Observe(0.0004);
  EXPECT_THAT(Text(registry), HasSubstr("fanline_push_seconds_bucket{le=\"0.0005\"} 1\n"));
  EXPECT_THAT(Text(registry), HasSubstr("le=\"60\"} 1\n"));
}

// Work that is gathered for 100 ms, twice, is done after a tenth to half a second.
TEST(Metrics, TellApartWhatModerateLoadDelivers) {
  const auto& bounds = SecondsBuckets();
  for (size_t i = 1; i < bounds.size(); ++i) {
    const bool moderate = bounds[i - 1] >= 0.1 && bounds[i] <= 1;
    EXPECT_LE(bounds[i] / bounds[i - 1], moderate ? 1.5 : 3);
  }
}

TEST(ResourceCounters, ShowTheFirstBeforeAnythingHappened) {
  prometheus::Registry registry;
  ResourceCounters away(registry, "fanline_away_total", "Away.", "kafka");
  EXPECT_THAT(Text(registry), HasSubstr("fanline_away_total{resource=\"kafka\"} 0\n"));
  away.Increment("redis");
  away.Increment("redis");
  EXPECT_THAT(Text(registry), HasSubstr("fanline_away_total{resource=\"kafka\"} 0\n"));
  EXPECT_THAT(Text(registry), HasSubstr("fanline_away_total{resource=\"redis\"} 2\n"));
}

TEST(MetricsDeathTest, MustBeNamedByTheRules) {
  prometheus::Registry registry;
  EXPECT_DEATH(AddCounter(registry, "fanline_hints", ""), "a counter's name");
  EXPECT_DEATH(AddGauge(registry, "lanes", ""), "a gauge's name");
  EXPECT_DEATH(AddHistogram(registry, "fanline_push_ms", "", SecondsBuckets()), "histogram's name");
}

TEST(ProcessMetrics, TellWhatProcKnows) {
  std::map<std::string, double> values;
  for (const auto& family : ProcessMetrics(1.5)) {
    const auto& metric = family.metric.front();
    values[family.name] = metric.gauge.value + metric.counter.value;
  }
  EXPECT_GT(values["process_resident_memory_bytes"], 1e6);
  EXPECT_LT(values["process_resident_memory_bytes"], 1e11);
  EXPECT_GE(values["process_open_fds"], 3);
  EXPECT_GE(values["process_max_fds"], values["process_open_fds"]);
  EXPECT_TRUE(values.contains("process_cpu_seconds_total"));
  EXPECT_EQ(values["process_start_time_seconds"], 1.5);
}

}  // namespace
}  // namespace fanline::daemon
