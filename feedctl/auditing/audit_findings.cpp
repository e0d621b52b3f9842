#include "feedctl/auditing/audit_findings.h"

#include "feedctl/support/json.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

struct Figure {
  const char* name;
  uint64_t AuditFindings::*value;
  const char* meaning;
};

constexpr Figure kFigures[] = {
    {"timelines", &AuditFindings::timelines, "live timelines compared"},
    {"items", &AuditFindings::items, "items in them, newer than their floors"},
    {"missing", &AuditFindings::missing, "items that should be there and are not"},
    {"extra", &AuditFindings::extra, "items that are there and should not be"},
    {"trimmed_timelines", &AuditFindings::trimmed_timelines,
     "have a floor: what is older is read from the shards"},
    {"wrong_size", &AuditFindings::wrong_size, "have a floor and less than half a window of items"},
    {"malformed", &AuditFindings::malformed, "keys that are no timeline"},
    {"not_indexed", &AuditFindings::not_indexed, "live, but not in their range's complete index"},
    {"building", &AuditFindings::building, "skipped: being rebuilt"},
    {"gone", &AuditFindings::gone, "skipped: expired meanwhile"},
};

std::string Right(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

void AuditFindings::Add(const AuditFindings& more) {
  for (const Figure& figure : kFigures) this->*figure.value += more.*figure.value;
  examples.insert(examples.end(), more.examples.begin(), more.examples.end());
}

std::string ToJson(const AuditFindings& findings, double seconds) {
  Json json;
  for (const Figure& figure : kFigures) json[figure.name] = findings.*figure.value;
  json["seconds"] = seconds;
  json["good"] = findings.good();
  json["examples"] = findings.examples;
  return ToLine(json);
}

std::string ToText(const AuditFindings& findings, double seconds) {
  std::string text;
  for (const Figure& figure : kFigures) {
    text += Left(figure.name, 18) + Right(Grouped(findings.*figure.value), 12) + "  " +
            figure.meaning + "\n";
  }
  for (const std::string& example : findings.examples) text += example + "\n";
  return text + (findings.good() ? "good" : "NOT GOOD") + ", after " + Seconds(seconds) + "\n";
}

}  // namespace fanline::feedctl
