#include "feedctl/auditing/findings_text.h"

#include "daemon/observe/log.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

using audit::Difference;
using audit::Findings;
using audit::kFigures;
using audit::Kind;

std::string Right(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string Describe(const Item& item) {
  return std::string(NameOf(item.kind())) + " " + ToString(item.post) + ", created " +
         daemon::Rfc3339(item.created_at) + ", of author " + ToString(item.author) +
         ShownText(item.original);
}

std::string Describe(const Mark& mark) {
  return "mark of author " + ToString(mark.author) + (mark.no_reposts ? ", without reposts" : "");
}

std::string Describe(const Difference& difference) {
  switch (difference.kind) {
    case Kind::kMissing:
      return "missing " + Describe(difference.item);
    case Kind::kExtra:
      return "extra " + Describe(difference.item);
    case Kind::kMissingMark:
      return "missing the " + Describe(difference.mark);
    case Kind::kExtraMark:
      return "extra " + Describe(difference.mark);
    case Kind::kTooFew:
      return "holds " + Counted(difference.held, "item") + " only, and has a floor";
    case Kind::kMalformed:
      return "no timeline: " + QuotedShort(difference.problem);
    case Kind::kNotIndexed:
      return "live, but not in the index of its range: pushes skip it";
    case Kind::kMutes:
      return difference.mutes == 0 ? "does not name the version of its reader's mutes"
                                   : "names version " + std::to_string(difference.mutes) +
                                         " of its reader's mutes, which is another";
  }
  return "";
}

constexpr audit::Figure<RepairResult> kRepairFigures[] = {
    {"wrong", &RepairResult::wrong, "timelines that were wrong"},
    {"in_flight", &RepairResult::in_flight, "of them right when checked again, or not live"},
    {"rebuilt", &RepairResult::rebuilt, "rebuilt and live again"},
    {"left", &RepairResult::left, "not rebuilt: refused or interrupted; run it again"},
    {"still_wrong", &RepairResult::still_wrong, "rebuilt but still wrong"},
};

}  // namespace

std::string ToText(const Difference& difference) {
  return "reader " + ToString(difference.reader) + ": " + Describe(difference);
}

bool IsGood(const Findings& findings, const RepairResult* repair) {
  return repair == nullptr ? findings.good() : repair->good();
}

std::string ToJson(const Findings& findings, const RepairResult* repair, double seconds) {
  Json json;
  for (const auto& figure : kFigures) json[figure.name] = findings.*figure.value;
  json["seconds"] = seconds;
  json["good"] = IsGood(findings, repair);
  json["examples"] = Json::array();
  for (const Difference& one : findings.differences) json["examples"].push_back(ToText(one));
  if (repair != nullptr) {
    for (const auto& figure : kRepairFigures) {
      json["repair"][figure.name] = repair->*figure.value;
    }
  }
  return ToLine(json);
}

std::string ToText(const Findings& findings, const RepairResult* repair, double seconds) {
  std::string text;
  const auto add = [&text](const auto& figures, const auto& sums) {
    for (const auto& [name, value, meaning] : figures) {
      text += Left(name, 18) + Right(Grouped(sums.*value), 12) + "  " + meaning + "\n";
    }
  };
  add(kFigures, findings);
  for (const Difference& one : findings.differences) text += ToText(one) + "\n";
  if (repair != nullptr) add(kRepairFigures, *repair);
  return text + (IsGood(findings, repair) ? "good" : "NOT GOOD") + ", after " + Seconds(seconds) +
         "\n";
}

}  // namespace fanline::feedctl
