#include "daemon/observe/log.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iostream>
#include <mutex>
#include <vector>

#include "daemon/options/options.h"
#include "fanline/base/check.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/rate_limit.h"

namespace fanline::daemon {
namespace {

constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};

LogLevel LevelOf(std::string_view name) {
  const auto* at = std::find(kLevels.begin(), kLevels.end(), name);
  FANLINE_CHECK(at != kLevels.end(), "a level of the log");
  return static_cast<LogLevel>(at - kLevels.begin());
}

}  // namespace

struct Log::Shared {
  const LogLevel level;
  const std::function<UnixMs()> wall_clock;
  std::ostream& out;  // guarded by mutex
  std::mutex mutex = {};
  RateLimit rate_limit = {};  // guarded by mutex
};

void AddOptions(OptionTable& table, LogOptions& options) {
  table.Add("log-level", &options.level, "the least severe lines that are logged")
      .OneOf({kLevels.begin(), kLevels.end()});
}

Log::Log(std::string component, LogOptions options)
    : Log(std::move(component), options, std::cerr, [] { return SystemNow().unix_ms; }) {}

Log::Log(std::string component, LogOptions options, std::ostream& out,
         std::function<UnixMs()> wall_clock)
    : component_(std::move(component)),
      shared_(new Shared{LevelOf(options.level), std::move(wall_clock), out}) {}

LogSink Log::Sink() const {
  return
      [log = *this](LogLevel level, const std::string& message) { log.Write(level, message, {}); };
}

void Log::Info(std::string_view message, Fields fields) const {
  Write(LogLevel::kInfo, message, fields);
}
void Log::Warn(std::string_view message, Fields fields) const {
  Write(LogLevel::kWarn, message, fields);
}
void Log::Error(std::string_view message, Fields fields) const {
  Write(LogLevel::kError, message, fields);
}

void Log::WarnEvery(std::string_view key, Duration interval, Time now, std::string_view message,
                    Fields fields) const {
  std::optional<uint64_t> held_back;
  {
    const std::lock_guard lock(shared_->mutex);
    held_back = shared_->rate_limit.Pass(key, interval, now);
  }
  if (!held_back) return;
  std::vector<Field> all(fields);
  if (*held_back > 0) all.push_back({"suppressed", *held_back});
  Write(LogLevel::kWarn, message, all);
}

void Log::Write(LogLevel level, std::string_view message, std::span<const Field> fields) const {
  if (level < shared_->level) return;
  const std::string ts = Rfc3339(shared_->wall_clock());
  std::vector<Field> line{{"ts", ts},
                          {"level", kLevels[static_cast<size_t>(level)]},
                          {"component", component_},
                          {"msg", message}};
  line.insert(line.end(), fields.begin(), fields.end());
  const std::string text = JsonObject(line) + "\n";
  const std::lock_guard lock(shared_->mutex);
  shared_->out.clear();  // a line that could not be written is lost, but not those behind it
  shared_->out << text << std::flush;
}

std::string Rfc3339(UnixMs wall) {
  const int64_t ms = (wall % 1000 + 1000) % 1000;
  const std::time_t seconds = (wall - ms) / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 40> text{};
  size_t size = std::strftime(text.data(), text.size(), "%FT%T", &utc);
  size += static_cast<size_t>(
      std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(ms)));
  return std::string(text.data(), size);
}

}  // namespace fanline::daemon
