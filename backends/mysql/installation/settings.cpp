#include "backends/mysql/installation/settings.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "backends/mysql/sql/sql_text.h"
#include "fanline/base/number.h"

namespace fanline::mysql {
namespace {

constexpr const char* kMirrorMode = "mirror_mode";
constexpr const char* kReconcilerMode = "reconciler";
constexpr const char* kBreakerClosings = "breaker_closings";

// "" if it was never set.
std::string Get(Connection& connection, const char* name) {
  std::string value;
  connection.Query("SELECT value FROM setting WHERE name = " + Quoted(name),
                   [&](const Row& row) { value = row.Text(1); });
  return value;
}

// Nothing: no mode is called so.
template <class Mode>
std::optional<Mode> ModeCalled(const std::string& name, std::span<const char* const> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Mode>(found - names.begin());
}

void Set(Connection& connection, const char* name, const char* value) {
  connection.Execute(Sql("INSERT INTO setting (name, value) VALUES (", Quoted(name), ", ",
                         Quoted(value), ") ON DUPLICATE KEY UPDATE value = VALUES(value)"));
}

// The clock raises the number above those that breakers kept, even if the last one was lost. Adding
// 1 raises it even if the clock was set back.
void CloseBreakers(Connection& connection) {
  connection.Execute("INSERT INTO setting (name, value) VALUES (" + Quoted(kBreakerClosings) +
                     ",FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000)) ON DUPLICATE KEY UPDATE value = "
                     "GREATEST(CAST(value AS UNSIGNED) + 1, CAST(VALUES(value) AS UNSIGNED))");
}

}  // namespace

// An unknown value counts as unset, because a writer must go on.
MirrorMode GetMirrorMode(Connection& connection) {
  return ModeCalled<MirrorMode>(Get(connection, kMirrorMode), kMirrorModes)
      .value_or(MirrorMode::kAsync);
}

void SetMirrorMode(Connection& connection, MirrorMode mode) {
  Set(connection, kMirrorMode, NameOf(mode));
}

ReconcilerMode GetReconcilerMode(Connection& connection) {
  const std::string value = Get(connection, kReconcilerMode);
  if (value.empty()) return ReconcilerMode::kRun;
  return ModeCalled<ReconcilerMode>(value, kReconcilerModes).value_or(ReconcilerMode::kPause);
}

// Writes the number before the mode. If the call is interrupted in between, its repetition counts
// another closing instead of forgetting it.
void SetReconcilerMode(Connection& connection, ReconcilerMode mode) {
  if (mode == ReconcilerMode::kRun && GetReconcilerMode(connection) != ReconcilerMode::kRun) {
    CloseBreakers(connection);
  }
  Set(connection, kReconcilerMode, NameOf(mode));
}

uint64_t GetBreakerClosings(Connection& connection) {
  return ParseNumber<uint64_t>(Get(connection, kBreakerClosings)).value_or(0);
}

}  // namespace fanline::mysql
