#include "feedctl/doctor/check.h"

#include <algorithm>

#include "feedctl/support/failure.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr size_t kLevelWidth = 6;
constexpr size_t kNameWidth = 24;
constexpr const char* kRunbooks = "docs/runbooks/";

const char* NameOf(Level level) {
  switch (level) {
    case Level::kWell:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kLook:
      return "LOOK";
    case Level::kAway:
      break;
  }
  return "AWAY";
}

const char* JsonNameOf(Level level) {
  switch (level) {
    case Level::kWell:
      return "well";
    case Level::kNote:
      return "note";
    case Level::kLook:
      return "look";
    case Level::kAway:
      break;
  }
  return "away";
}

uint64_t CountOf(const Checks& checks, Level level) {
  return static_cast<uint64_t>(std::count_if(
      checks.begin(), checks.end(), [level](const Check& check) { return check.level == level; }));
}

std::string Indented(const std::string& text) {
  return std::string(2 + kLevelWidth + kNameWidth, ' ') + text + "\n";
}

std::string VerdictOf(const Checks& checks) {
  const uint64_t look = CountOf(checks, Level::kLook), away = CountOf(checks, Level::kAway);
  if (look + away == 0) return "all is well\n";
  std::string text;
  if (away > 0) text = Counted(away, "thing") + " could not be asked";
  if (look > 0) text += (away > 0 ? ", " : "") + Counted(look, "thing") + " to look at";
  return text + "\n";
}

}  // namespace

int ExitCodeOf(const Checks& checks) {
  if (CountOf(checks, Level::kAway) > 0) return kExitUnavailable;
  return CountOf(checks, Level::kLook) > 0 ? kExitFound : 0;
}

std::string ToText(const Checks& checks) {
  std::string text, section;
  for (const Check& check : checks) {
    if (check.section != section) text += check.section + "\n";
    section = check.section;
    text += "  " + Left(NameOf(check.level), kLevelWidth) + Left(check.name, kNameWidth) +
            OneLine(check.text) + "\n";
    if (check.level == Level::kWell) continue;
    if (!check.advice.empty()) text += Indented("-> " + check.advice);
    if (!check.runbook.empty()) text += Indented("   " + (kRunbooks + check.runbook));
  }
  return text + VerdictOf(checks);
}

Json ToJson(const Checks& checks) {
  Json lines = Json::array();
  for (const Check& check : checks) {
    lines.push_back(
        {{"section", check.section},
         {"name", check.name},
         {"level", JsonNameOf(check.level)},
         {"text", check.text},
         {"advice", check.advice.empty() ? Json() : Json(check.advice)},
         {"runbook", check.runbook.empty() ? Json() : Json(kRunbooks + check.runbook)}});
  }
  return {{"well", ExitCodeOf(checks) == 0},
          {"look", CountOf(checks, Level::kLook)},
          {"away", CountOf(checks, Level::kAway)},
          {"checks", std::move(lines)}};
}

}  // namespace fanline::feedctl
