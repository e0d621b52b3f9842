#include "backends/mysql/settings.h"

#include <string>

#include "backends/mysql/sql_text.h"

namespace fanline::mysql {
namespace {

constexpr const char* kMirrorMode = "mirror_mode";

}  // namespace

// A value that nobody knows is as if there were none: a writer must go on.
MirrorMode GetMirrorMode(Connection& connection) {
  std::string value;
  connection.Query("SELECT value FROM setting WHERE name = " + Quoted(kMirrorMode),
                   [&](const Row& row) { value = row.Text(1); });
  return ParseMirrorMode(value).value_or(MirrorMode::kAsync);
}

void SetMirrorMode(Connection& connection, MirrorMode mode) {
  connection.Execute("INSERT INTO setting (name, value) VALUES (" + Quoted(kMirrorMode) + ", " +
                     Quoted(NameOf(mode)) + ") ON DUPLICATE KEY UPDATE value = VALUES(value)");
}

}  // namespace fanline::mysql
