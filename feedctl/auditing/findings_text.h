// What an audit found, as JSON and as text. Pure.
#pragma once

#include <string>

#include "audit/findings.h"
#include "feedctl/auditing/repair.h"

namespace fanline::feedctl {

// "reader 1: missing post 20, created 1970-01-01T00:00:00.020Z, of author 7". An unknown author is
// left out.
std::string ToText(const audit::Difference& difference);

// One JSON object, in a line. `repair`: how the repair of the findings ended; null: there was none.
std::string ToJson(const audit::Findings& findings, const RepairResult* repair, double seconds);
// For people, several lines; the last is the verdict.
std::string ToText(const audit::Findings& findings, const RepairResult* repair, double seconds);

// Whether all was good, or is good after the repair.
bool IsGood(const audit::Findings& findings, const RepairResult* repair);

}  // namespace fanline::feedctl
