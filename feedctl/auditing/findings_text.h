// What an audit found, as JSON and as text. Pure.
#pragma once

#include <string>

#include "audit/findings.h"
#include "feedctl/auditing/repair.h"

namespace fanline::feedctl {

// "reader 1: missing post 20, created 1970-01-01T00:00:00.020Z, of author 7"
// Without the author where that is not known.
std::string ToText(const audit::Difference& difference);

// One JSON object, a line. `repair`: what became of what was found, if it was to be set right;
// null: it was not.
std::string ToJson(const audit::Findings& findings, const RepairResult* repair, double seconds);
// For people, several lines; the last is the verdict.
std::string ToText(const audit::Findings& findings, const RepairResult* repair, double seconds);

// Whether all is good: was, or is after the repair.
bool IsGood(const audit::Findings& findings, const RepairResult* repair);

}  // namespace fanline::feedctl
