// What a look at an installation comes to: lines that are well or not, each with what to type next.
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "feedctl/support/json.h"

namespace fanline::feedctl {

enum class Level {
  kWell,
  kNote,  // worth knowing, and no reason to be called
  kLook,  // somebody should look
  kAway,  // it could not be asked
};

struct Check {
  std::string section;  // "stores"
  std::string name;     // "MariaDB shard 0"
  Level level = Level::kWell;
  std::string text;          // one line
  std::string advice = {};   // what to type, or empty
  std::string runbook = {};  // "delivery.md#fanlinedeadletters", of docs/runbooks, or empty
};
using Checks = std::vector<Check>;

// 0: all is well; 69: something could not be asked; 1: something is to be looked at.
[[nodiscard]] int ExitCodeOf(const Checks& checks);

// Checks of one section stand together. The last line is the verdict.
[[nodiscard]] std::string ToText(const Checks& checks);
// {"well": false, "look": 2, "away": 0, "checks": [..]}
[[nodiscard]] Json ToJson(const Checks& checks);

}  // namespace fanline::feedctl
