// The log: one JSON object a line on stderr.
//
//   {"ts":"2026-01-31T12:00:00.123Z","level":"info","component":"pusher","msg":"assigned",
//    "range":3,"offset":77}
//
// The message is a fixed text that can be searched for; variable parts go into fields. A field
// whose key is one of the first four gets a '_' behind it. Texts are passed through Redact.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "daemon/observe/json_fields.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/time.h"

namespace fanline::daemon {

class OptionTable;

struct LogOptions {
  std::string level = "info";  // or debug, warn, error; lower levels are dropped
};

// --log-level
void AddOptions(OptionTable& table, LogOptions& options);

// Cheap to copy; copies share the stream and the counts of suppressed lines. Thread-safe; a line is
// written whole, and is written when the call returns. Never throws.
class Log {
 public:
  // To stderr, stamped with the system's clock.
  explicit Log(std::string component, LogOptions options = {});
  // For tests: to `out`, stamped by `wall_clock` (milliseconds since 1970).
  Log(std::string component, LogOptions options, std::ostream& out,
      std::function<UnixMs()> wall_clock);

  // For an adapter: its reports become lines of this log. The sink may outlive this Log.
  [[nodiscard]] LogSink Sink() const;

  void Info(std::string_view message, Fields fields = {}) const;
  void Warn(std::string_view message, Fields fields = {}) const;
  void Error(std::string_view message, Fields fields = {}) const;

  // For lines that may repeat fast (a resource is away): at most one per `interval` and `key`. The
  // next line says how many were left out, as "suppressed". `key` is from a small set ("redis
  // 10.0.0.5:6379"): the first 1,000 keys are told apart, the others share one.
  void WarnEvery(std::string_view key, Duration interval, Time now, std::string_view message,
                 Fields fields = {}) const;

 private:
  struct Shared;
  void Write(LogLevel level, std::string_view message, std::span<const Field> fields) const;

  std::string component_;
  std::shared_ptr<Shared> shared_;
};

// "2026-01-31T12:00:00.123Z" (RFC 3339, UTC).
[[nodiscard]] std::string Rfc3339(UnixMs wall);

}  // namespace fanline::daemon
