#include "daemon/observe/health.h"

#include <algorithm>
#include <vector>

#include "daemon/observe/json_fields.h"
#include "daemon/options/options.h"
#include "daemon/options/redact.h"

namespace fanline::daemon {
namespace {

using namespace std::chrono_literals;

using Texts = std::map<std::string_view, std::string_view>;

std::string Json(const Texts& texts) {
  std::vector<Field> fields;
  for (const auto& [name, text] : texts) fields.push_back({name, text});
  return JsonObject(fields);
}

std::string Words(const Texts& texts) {
  std::string words;
  for (const auto& [name, text] : texts) {
    words.append(words.empty() ? "" : "; ").append(name).append(": ").append(text);
  }
  return words;
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

void Health::SetReach(std::string_view resource, std::string_view kind, Reach reach,
                      std::string_view reason) {
  const std::lock_guard lock(mutex_);
  resources_[std::string(resource)] = {std::string(kind), reach,
                                       reach == Reach::kWhole ? std::string() : Redact(reason)};
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

std::map<std::string, bool> Health::Resources() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, bool> all;
  for (const auto& [name, resource] : resources_) all[name] = resource.reach == Reach::kWhole;
  return all;
}

bool Health::AllAway(const std::string& kind) const {
  return std::all_of(resources_.begin(), resources_.end(), [&](const auto& entry) {
    return entry.second.kind != kind || entry.second.reach == Reach::kAway;
  });
}

Health::Named Health::NameAll() const {
  Named named;
  if (conditions_.empty()) named.reasons["start"] = "no part has reported yet";
  for (const auto& [condition, reason] : conditions_) {
    if (reason) named.reasons[condition] = *reason;
  }
  for (const auto& [name, resource] : resources_) {
    if (resource.reach == Reach::kWhole) continue;
    (AllAway(resource.kind) ? named.reasons : named.away)[name] = resource.reason;
  }
  return named;
}

Health::Report Health::Ready() const {
  const std::lock_guard lock(mutex_);
  const Named named = NameAll();
  const bool ready = named.reasons.empty();
  std::string json = R"({"status":")";
  json += ready ? R"(ready")" : R"(not ready","reasons":)" + Json(named.reasons);
  if (!named.away.empty()) json += R"(,"away":)" + Json(named.away);
  return {ready, json + "}"};
}

std::string Health::Summary() const {
  const std::lock_guard lock(mutex_);
  const Named named = NameAll();
  std::string words = named.reasons.empty() ? "ready" : "not ready: " + Words(named.reasons);
  if (!named.away.empty()) words += "; away: " + Words(named.away);
  return words;
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
