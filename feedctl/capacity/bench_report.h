// Reads from build/bench/report.json, which `make bench` writes, the rows that a plan needs.
#pragma once

#include <string>
#include <string_view>

#include "feedctl/capacity/plan.h"

namespace fanline::feedctl {

enum class Encoding { kCompact, kSkiplist };  // of timelines in Redis

// The command that measures the rows for ReadConstants.
[[nodiscard]] std::string HowToMeasure(Encoding encoding);

// Reads the rows timeline_bytes_*, event_cost_* and latency_*. Nothing: the text is not a report or
// lacks rows; *problem says which, and what to type. Pure.
[[nodiscard]] std::optional<Constants> ReadConstants(std::string_view report, Encoding encoding,
                                                     std::string* problem);

}  // namespace fanline::feedctl
