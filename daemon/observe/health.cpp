#include "daemon/observe/health.h"

#include <algorithm>
#include <vector>

#include "daemon/observe/json_fields.h"
#include "daemon/options/options.h"
#include "daemon/options/redact.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;

Health::Report NotReady(const std::vector<Field>& reasons) {
  return {false, R"({"status":"not ready","reasons":)" + JsonObject(reasons) + "}"};
}

int64_t Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

void AddOptions(OptionTable& table, HealthOptions& options) {
  table
      .Add("stall-limit", &options.stall_limit,
           "how long the loop may stand still before /healthz asks for a restart")
      .Range(5s, 1h);  // far above the second in which an idle loop beats
}

Health::Health(HealthOptions options) : options_(options) {}

void Health::SetReady(std::string_view condition, bool ready, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  auto& state = conditions_[std::string(condition)];
  if (ready) {
    state.reset();
  } else {
    state = Redact(reason);
  }
}

void Health::Beat(Time now) {
  const std::lock_guard lock(mutex_);
  last_beat_ = now;
}

std::map<std::string, bool> Health::Conditions() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, bool> all;
  for (const auto& [condition, reason] : conditions_) all[condition] = !reason;
  return all;
}

Health::Report Health::Ready() const {
  const std::lock_guard lock(mutex_);
  if (conditions_.empty()) return NotReady({{"start", "no part has reported yet"}});
  std::vector<Field> reasons;
  for (const auto& [condition, reason] : conditions_) {
    if (reason) reasons.push_back({condition, *reason});
  }
  if (!reasons.empty()) return NotReady(reasons);
  return {true, R"({"status":"ready"})"};
}

std::string Health::Summary() const {
  const std::lock_guard lock(mutex_);
  std::string reasons;
  for (const auto& [condition, reason] : conditions_) {
    if (reason) reasons += (reasons.empty() ? "" : "; ") + condition + ": " + *reason;
  }
  if (!reasons.empty()) return "not ready: " + reasons;
  return conditions_.empty() ? "not ready: no part has reported yet" : "ready";
}

Health::Report Health::Alive(Time now) const {
  const std::lock_guard lock(mutex_);
  const Duration age = last_beat_ ? now - *last_beat_ : Duration::zero();
  const bool stalled = age > options_.stall_limit;
  const std::vector<Field> fields{{"status", stalled ? "stalled" : "alive"},
                                  {"last_beat_ms_ago", Milliseconds(age)},
                                  {"limit_ms", options_.stall_limit.count()}};
  return {!stalled, JsonObject(fields)};
}

}  // namespace fanline::daemon
