// What a look at an installation comes to: lines that are well or not, those that are not with what
// to type next. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "feedctl/support/json.h"

namespace fanline::feedctl {

enum class Level {
  kWell,
  kNote,  // worth knowing, and no reason to be called
  kLook,  // somebody should look
  kInit,  // feedctl init has not been run
  kAway,  // it could not be asked
};

// Why something is not as it should be, and what to type. Empty: it is.
struct Why {
  std::string text = {};
  std::string advice = {};
  explicit operator bool() const { return !text.empty(); }
};
// Of a complaint "what is wrong; what to type"; with `advice` where it says nothing about that.
[[nodiscard]] Why WhyOf(const std::string& complaint, const std::string& advice);

struct Check {
  std::string section;  // "stores"
  std::string name;     // "MariaDB shard 0"
  Level level = Level::kWell;
  std::string text;          // one line
  std::string advice = {};   // what to type; empty: nothing is to be done
  std::string runbook = {};  // "delivery.md#fanlinedeadletters", of the runbooks, or empty
};
using Checks = std::vector<Check>;

[[nodiscard]] Checks OfLevel(Level level, Checks checks);

// 0: all is well; 69: something could not be asked; 78: feedctl init has not been run; 1: something
// is to be looked at. The first of these that holds.
[[nodiscard]] int ExitCodeOf(const Checks& checks);

// Checks of one section stand together. The last line is the verdict. `docs`: the folder of the
// pages that checks name.
[[nodiscard]] std::string ToText(const Checks& checks, const std::string& docs);
// {"well": false, "look": 2, "not_installed": 0, "away": 0, "checks": [..]}
[[nodiscard]] Json ToJson(const Checks& checks, const std::string& docs);

}  // namespace fanline::feedctl
