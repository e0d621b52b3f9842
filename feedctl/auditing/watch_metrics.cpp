#include "feedctl/auditing/watch_metrics.h"

#include <array>
#include <limits>
#include <string>

#include "daemon/observe/metrics.h"
#include "fanline/base/mono_now.h"
#include "feedctl/auditing/findings_text.h"

namespace fanline::feedctl {
namespace {

using audit::Difference;
using daemon::AddCounter;
using daemon::AddCounters;
using daemon::AddGauge;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Registry;

constexpr Duration kSayAgain = std::chrono::minutes(1);

class Prometheus final : public audit::WatchMetrics {
 public:
  Prometheus(Registry& registry, const daemon::Log& log) : registry_(registry), log_(log) {
    misses_.Set(std::numeric_limits<double>::quiet_NaN());  // nothing compared yet
    RoundEnded();                                           // none is due yet
  }

  void RoundEnded() override { last_.Set(static_cast<double>(SystemNow().unix_ms) / 1'000); }

  void Judged(Result result, uint64_t items) override {
    timelines_[static_cast<size_t>(result)]->Increment();
    items_.Increment(static_cast<double>(items));
  }

  void Found(const std::vector<Difference>& all) override {
    missing_.Increment(static_cast<double>(audit::MissingIn(all)));
    surplus_.Increment(static_cast<double>(audit::SurplusIn(all)));
    log_.Error("a live timeline is wrong; feedctl audit --repair rebuilds it",
               {{"reader", ToString(all.front().reader)},
                {"differences", all.size()},
                {"first", ToText(all.front())}});
  }

  void Holding(double misses_per_10000, size_t wrong) override {
    misses_.Set(misses_per_10000);
    wrong_.Set(static_cast<double>(wrong));
  }

  void Failed(const std::string& resource, const std::string& reason) override {
    log_.WarnEvery("watch " + resource, kSayAgain, SystemNow().mono,
                   "a round of the watch was aborted",
                   {{"resource", resource}, {"reason", reason}});
  }

 private:
  Registry& registry_;
  const daemon::Log& log_;
  std::array<Counter*, 4> timelines_ =
      AddCounters(registry_, "fanline_audit_timelines_total",
                  "Live timelines compared with the truth, by what came of it", "result",
                  {"good", "wrong", "unsettled", "not_judged"});  // by Result
  Counter& items_ = AddCounter(registry_, "fanline_audit_items_total",
                               "Items in live timelines that were compared with the truth");
  Counter& missing_ = AddCounter(registry_, "fanline_audit_missing_total",
                                 "Items that were missing in live timelines at both looks");
  Counter& surplus_ = AddCounter(registry_, "fanline_audit_surplus_total",
                                 "Items in live timelines that should not be there, at both looks");
  Gauge& misses_ = AddGauge(registry_, "fanline_audit_misses_per_10000",
                            "Items missing per 10,000 live items of the timelines compared last; "
                            "0 is the only good value");
  Gauge& wrong_ = AddGauge(registry_, "fanline_audit_wrong_timelines",
                           "How many of the timelines compared last are wrong");
  Gauge& last_ = AddGauge(registry_, "fanline_audit_last_round_timestamp_seconds",
                          "When the last whole round ended, in seconds since 1970");
};

}  // namespace

std::unique_ptr<audit::WatchMetrics> PrometheusWatch(Registry& registry, const daemon::Log& log) {
  return std::make_unique<Prometheus>(registry, log);
}

}  // namespace fanline::feedctl
