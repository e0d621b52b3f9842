// What is written for people and for programs, of any text: a line of the log, and how a password
// in an address is masked.
#include <nlohmann/json.hpp>
#include <sstream>

#include "daemon/observe/log.h"
#include "daemon/options/redact.h"
#include "fanline/base/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

using namespace fanline;
using namespace fanline::daemon;

FUZZ_TARGET(log_line) {
  const std::string_view message = fuzz::TakeLine(bytes);
  const std::string_view key = fuzz::TakeLine(bytes);
  std::ostringstream out;
  const Log log("fuzz", {}, out, [] { return UnixMs{1'700'000'000'123}; });
  log.Warn(message, {{key, bytes}, {"id", UserId{7}}});
  const std::string line = out.str();
  FANLINE_CHECK(line.find('\n') == line.size() - 1, "one line");
  const auto json = nlohmann::json::parse(line, nullptr, false);
  FANLINE_CHECK(json.is_object() && json.value("component", "") == "fuzz", "one JSON object");
  FANLINE_CHECK(json.size() >= 5 && json.size() <= 6, "its own keys, and what was given");

  const std::string shown = Redact(bytes);
  FANLINE_CHECK(Redact(shown) == shown, "what is masked stays so");
  if (bytes.find_first_of(" \t\r\n\"'<>@") == bytes.npos && bytes.find("://") == bytes.npos) {
    const std::string url = "mysql://app:" + std::string(bytes) + "s3cret@db1:3306/feed";
    FANLINE_CHECK(Redact(url).find("s3cret") == url.npos, "a password is masked");
  }
}
