// What the daemons say of themselves.
#include <cmath>
#include <cstdio>

#include "feedctl/doctor/judge.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr const char* kDaemons = "daemons";

// A gauge that is 0 when all is well.
struct Gauge {
  const char* name;
  const char* label;  // that says of what, or null
  const char* text;
  const char* advice;
  const char* runbook;
};
constexpr Gauge kGauges[] = {
    {"fanline_rel_breaker_open", "shard", "an open breaker", "feedctl relations reconciler dry_run",
     "relations.md#fanlinebreakeropen"},
    {"fanline_audit_misses_per_10000", nullptr, "of 10,000 sampled items missing",
     "feedctl audit --repair", "delivery.md#fanlinetimelinesmissposts"},
    {"fanline_audit_wrong_timelines", nullptr, "sampled timelines wrong",
     "feedctl audit --repair", "delivery.md#fanlinetimelineswrong"},
    {"fanline_ranges_awaiting_upgrade", nullptr, "ranges wait for a newer pusher",
     "upgrade the pushers", "delivery.md#fanlinerangesawaitupgrade"},
    {"fanline_ranges_left_migrating", nullptr, "ranges between two nodes of the Redis Cluster",
     "redis-cli --cluster fix", "delivery.md#fanlinerangesleftmigrating"},
    {"fanline_partitions_parked", "topic", "partitions cannot be read on",
     "its log names the place", "stores.md#fanlinelogunreadable"},
};

// A counter that stands still when all is well; nobody knows when it last grew.
struct Counter {
  const char* name;
  const char* label;
  const char* text;
};
constexpr Counter kCounters[] = {
    {"fanline_takeovers_total", "cause", "takeovers"},
    {"fanline_redis_losses_total", "cause", "losses of Redis"},
    {"fanline_ranges_contested_total", nullptr, "contests about ranges"},
    {"fanline_hints_quarantined_total", nullptr, "hints quarantined"},
    {"fanline_events_rejected_total", nullptr, "events refused"},
    {"fanline_log_tails_lost_total", nullptr, "logs that lost their tail"},
    {"fanline_rel_repairs_total", "kind", "repairs of relations"},
    {"fanline_rel_repairs_withheld_total", nullptr, "repairs withheld"},
};

std::string Number(double value) {
  if (value == std::floor(value) && value < 1e15) return Grouped(static_cast<uint64_t>(value));
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string LabelOf(const Sample& sample, const char* label) {
  if (label == nullptr) return {};
  const auto found = sample.labels.find(label);
  return found == sample.labels.end() ? std::string() : found->second;
}

// What /readyz names, by the metric that holds 0 for it.
void JudgeNamed(const DaemonFacts& daemon, const char* metric, const char* label,
                const std::string& what, const char* runbook, Checks& checks) {
  std::string named;
  for (const Sample* sample : daemon.metrics.Of(metric)) {
    if (sample->value == 0) named += (named.empty() ? "" : ", ") + LabelOf(*sample, label);
  }
  if (named.empty()) return;
  checks.push_back({kDaemons, daemon.address, Level::kLook, what + ": " + named,
                    "curl -s http://" + daemon.address + "/readyz", runbook});
}

void JudgeReady(const DaemonFacts& daemon, Checks& checks) {
  JudgeNamed(daemon, "fanline_reachable", "resource", "away", "stores.md#fanlinestoreaway", checks);
  JudgeNamed(daemon, "fanline_ready", "condition", "not ready", "daemons.md#fanlinenotready",
             checks);
}

void JudgeGauges(const DaemonFacts& daemon, Checks& checks) {
  for (const Gauge& gauge : kGauges) {
    for (const Sample* sample : daemon.metrics.Of(gauge.name)) {
      if (!(sample->value > 0)) continue;
      const std::string of = LabelOf(*sample, gauge.label);
      checks.push_back({kDaemons, daemon.address, Level::kLook,
                        Number(sample->value) + " " + gauge.text + (of.empty() ? "" : ": " + of),
                        gauge.advice, gauge.runbook});
    }
  }
  for (const Sample* sample : daemon.metrics.Of("fanline_ranges_paused")) {
    const std::string cause = LabelOf(*sample, "cause");
    if (!(sample->value > 0) || cause == "buffered") continue;  // busy
    checks.push_back(
        {kDaemons, daemon.address, Level::kLook, Number(sample->value) + " ranges paused: " + cause,
         "curl -s http://" + daemon.address + "/readyz", "delivery.md#fanlinerangespaused"});
  }
}

std::string CountedBy(const DaemonFacts& daemon) {
  std::string text;
  for (const Counter& counter : kCounters) {
    std::string by;
    for (const Sample* sample : daemon.metrics.Of(counter.name)) {
      const std::string label = LabelOf(*sample, counter.label);
      if (sample->value == 0 || label == "assigned") continue;  // of every start
      by += (by.empty() ? "" : ", ") + Number(sample->value) + (label.empty() ? "" : " " + label);
    }
    if (!by.empty()) text += (text.empty() ? "" : "; ") + std::string(counter.text) + ": " + by;
  }
  return text;
}

}  // namespace

Checks JudgeDaemons(const std::vector<DaemonFacts>& daemons) {
  Checks checks;
  for (const DaemonFacts& daemon : daemons) {
    if (!daemon.away.empty()) {
      checks.push_back({kDaemons, daemon.address, Level::kAway, daemon.away,
                        "is it running, and is that its --admin-listen?",
                        "daemons.md#fanlinedown"});
      continue;
    }
    const auto build = daemon.metrics.Of("fanline_build_info");
    if (build.empty()) {
      checks.push_back({kDaemons, daemon.address, Level::kAway,
                        "it exports no metrics of Fanline's",
                        "give the --admin-listen of a daemon of Fanline's", ""});
      continue;
    }
    const size_t before = checks.size();
    JudgeReady(daemon, checks);
    JudgeGauges(daemon, checks);
    const double up = daemon.now_s - daemon.metrics.Sum("process_start_time_seconds");
    std::string since = "version " + LabelOf(*build.front(), "version") + ", up for " +
                        Counted(static_cast<uint64_t>(std::max(0.0, up) / 60), "minute");
    const std::string counted = CountedBy(daemon);
    if (!counted.empty()) since += "; since then " + counted;
    checks.insert(checks.begin() + static_cast<ptrdiff_t>(before),
                  {kDaemons, daemon.address, counted.empty() ? Level::kWell : Level::kNote, since});
  }
  return checks;
}

}  // namespace fanline::feedctl
