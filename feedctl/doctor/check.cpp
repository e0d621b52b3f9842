#include "feedctl/doctor/check.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "feedctl/support/failure.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

constexpr size_t kLevelWidth = 6;
constexpr size_t kLeastNameWidth = 24;
constexpr const char* kRunbooks = "/runbooks/";

struct LevelNames {
  const char* text;
  const char* json;
};

// By Level.
constexpr LevelNames kLevels[] = {{"ok", "well"},     {"note", "note"},
                                  {"LOOK", "look"},   {"INIT", "not_installed"},
                                  {"UNFIT", "unfit"}, {"AWAY", "away"}};

static_assert(std::size(kLevels) == static_cast<size_t>(Level::kAway) + 1);

const LevelNames& NamesOf(Level level) { return kLevels[static_cast<size_t>(level)]; }

uint64_t CountOf(const Checks& checks, Level level) {
  return static_cast<uint64_t>(std::count_if(
      checks.begin(), checks.end(), [level](const Check& check) { return check.level == level; }));
}

// The width of a section's names, so that its texts form a column.
size_t NameWidthOf(const std::string& section, const Checks& checks) {
  size_t width = kLeastNameWidth;
  for (const Check& check : checks) {
    if (check.section == section) width = std::max(width, check.name.size() + 2);
  }
  return width;
}

std::string Indented(size_t name_width, const std::string& text) {
  return std::string(2 + kLevelWidth + name_width, ' ') + text + "\n";
}

std::string VerdictOf(const Checks& checks) {
  std::string text;
  const auto say = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  const uint64_t look = CountOf(checks, Level::kLook), away = CountOf(checks, Level::kAway);
  if (away > 0) say(Counted(away, "thing") + " could not be asked");
  if (CountOf(checks, Level::kUnfit) > 0) say("a server cannot be a shard");
  if (CountOf(checks, Level::kInit) > 0) say("feedctl init has not been run");
  if (look > 0) say(Counted(look, "thing") + " to look at");
  return (text.empty() ? "all is well" : text) + "\n";
}

// Null if there is nothing to do.
Json AdviceOf(const Check& check, const std::string& text) {
  return check.level == Level::kWell || text.empty() ? Json() : Json(text);
}

std::string PageOf(const Check& check, const std::string& docs) {
  return check.runbook.empty() ? "" : docs + kRunbooks + check.runbook;
}

}  // namespace

Why WhyOf(const std::string& complaint, const std::string& advice) {
  const size_t end = complaint.find("; ");
  if (end == complaint.npos) return {complaint, advice};
  return {complaint.substr(0, end), complaint.substr(end + 2)};
}

Check Away(const char* section, std::string name, const Why& why) {
  return {section,  std::move(name), Level::kAway,
          why.text, why.advice,      "stores.md#fanlinestoreaway"};
}

Checks OfLevel(Level level, Checks checks) {
  std::erase_if(checks, [level](const Check& check) { return check.level != level; });
  return checks;
}

int ExitCodeOf(const Checks& checks) {
  if (CountOf(checks, Level::kAway) > 0) return kExitUnavailable;
  if (CountOf(checks, Level::kUnfit) > 0 || CountOf(checks, Level::kInit) > 0) return kExitConfig;
  return CountOf(checks, Level::kLook) > 0 ? kExitFound : 0;
}

std::string ToText(const Checks& checks, const std::string& docs) {
  std::string text, section;
  for (const Check& check : checks) {
    if (check.section != section) text += check.section + "\n";
    section = check.section;
    const size_t width = NameWidthOf(section, checks);
    text += "  " + Left(NamesOf(check.level).text, kLevelWidth) + Left(check.name, width) +
            OneLine(check.text) + "\n";
    if (check.level == Level::kWell) continue;
    if (!check.advice.empty()) text += Indented(width, "-> " + check.advice);
    if (!check.runbook.empty()) text += Indented(width, "   " + PageOf(check, docs));
  }
  return text + VerdictOf(checks);
}

Json ToJson(const Checks& checks, const std::string& docs) {
  Json lines = Json::array();
  for (const Check& check : checks) {
    lines.push_back({{"section", check.section},
                     {"name", check.name},
                     {"level", NamesOf(check.level).json},
                     {"text", check.text},
                     {"advice", AdviceOf(check, check.advice)},
                     {"runbook", AdviceOf(check, PageOf(check, docs))}});
  }
  return {{"well", ExitCodeOf(checks) == 0},
          {"look", CountOf(checks, Level::kLook)},
          {"not_installed", CountOf(checks, Level::kInit)},
          {"unfit", CountOf(checks, Level::kUnfit)},
          {"away", CountOf(checks, Level::kAway)},
          {"checks", std::move(lines)}};
}

}  // namespace fanline::feedctl
