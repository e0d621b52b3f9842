#include "feedctl/auditing/findings_text.h"

#include "daemon/observe/log.h"
#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

using audit::Difference;
using audit::Figures;
using audit::Findings;
using audit::Kind;

std::string Right(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string Describe(const Item& item) {
  return "post " + ToString(item.post) + ", created " + daemon::Rfc3339(item.created_at);
}

std::string Describe(const Difference& difference) {
  switch (difference.kind) {
    case Kind::kMissing:
      return "missing " + Describe(difference.item) + ", of author " + ToString(difference.author);
    case Kind::kExtra:
      return "extra " + Describe(difference.item);
    case Kind::kMissingMark:
      return "missing the mark of author " + ToString(difference.author);
    case Kind::kExtraMark:
      return "extra mark of author " + ToString(difference.author);
    case Kind::kTooFew:
      return "holds " + Counted(difference.held, "item") + " only, and has a floor";
    case Kind::kMalformed:
      return "no timeline: " + QuotedShort(difference.problem);
    case Kind::kNotIndexed:
      return "live, but not in the index of its range: pushes pass it over";
  }
  return "";
}

}  // namespace

std::string ToText(const Difference& difference) {
  return "reader " + ToString(difference.reader) + ": " + Describe(difference);
}

std::string ToJson(const Findings& findings, double seconds) {
  Json json;
  for (const auto& figure : Figures()) json[figure.name] = findings.*figure.value;
  json["seconds"] = seconds;
  json["good"] = findings.good();
  json["examples"] = Json::array();
  for (const Difference& one : findings.differences) json["examples"].push_back(ToText(one));
  return ToLine(json);
}

std::string ToText(const Findings& findings, double seconds) {
  std::string text;
  for (const auto& figure : Figures()) {
    text += Left(figure.name, 18) + Right(Grouped(findings.*figure.value), 12) + "  " +
            figure.meaning + "\n";
  }
  for (const Difference& one : findings.differences) text += ToText(one) + "\n";
  return text + (findings.good() ? "good" : "NOT GOOD") + ", after " + Seconds(seconds) + "\n";
}

}  // namespace fanline::feedctl
