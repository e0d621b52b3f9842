// The result of examining an installation: lines that are well or not, and for the latter what to
// type next. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "feedctl/support/json.h"

namespace fanline::feedctl {

enum class Level {
  kWell,
  kNote,   // worth knowing, but not worth a call
  kLook,   // somebody should look
  kInit,   // feedctl init has not been run
  kUnfit,  // the service is of a kind or version that is not supported
  kAway,   // the service could not be asked
};

// What is wrong, and what to type. Empty: nothing is wrong.
struct Why {
  std::string text = {};
  std::string advice = {};
  explicit operator bool() const { return !text.empty(); }
};
// Splits a complaint "what is wrong; what to type". Uses `advice` if the complaint has none.
[[nodiscard]] Why WhyOf(const std::string& complaint, const std::string& advice);

struct Check {
  std::string section;  // "stores"
  std::string name;     // "shard 0"
  Level level = Level::kWell;
  std::string text;          // one line
  std::string advice = {};   // what to type, or empty
  std::string runbook = {};  // "delivery.md#fanlinedeadletters" in the runbooks, or empty
};
using Checks = std::vector<Check>;
// `why`: why the service could not be asked.
[[nodiscard]] Check Away(const char* section, std::string name, const Why& why);

[[nodiscard]] Checks OfLevel(Level level, Checks checks);

// 0: all is well; 69: something could not be asked; 78: feedctl init has not been run, or a service
// is not supported; 1: somebody should look. The first of these that applies.
[[nodiscard]] int ExitCodeOf(const Checks& checks);

// Checks of one section must be adjacent. The last line is the verdict. `docs`: the folder of the
// pages that checks name.
[[nodiscard]] std::string ToText(const Checks& checks, const std::string& docs);
// {"well": false, "look": 2, "not_installed": 0, "unfit": 0, "away": 0, "checks": [..]}
[[nodiscard]] Json ToJson(const Checks& checks, const std::string& docs);

}  // namespace fanline::feedctl
