// What an audit found, as JSON and as text. Pure.
#pragma once

#include <string>

#include "audit/findings.h"

namespace fanline::feedctl {

// "reader 1: missing post 20, created 1970-01-01T00:00:00.020Z, of author 7"
std::string ToText(const audit::Difference& difference);

// One JSON object, a line.
std::string ToJson(const audit::Findings& findings, double seconds);
// For people, several lines; the last is the verdict.
std::string ToText(const audit::Findings& findings, double seconds);

}  // namespace fanline::feedctl
