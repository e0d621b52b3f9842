// What `make bench` measured, as build/bench/report.json holds it: the rows a plan is made of.
#pragma once

#include <string>
#include <string_view>

#include "feedctl/capacity/plan.h"

namespace fanline::feedctl {

enum class Encoding { kCompact, kSkiplist };  // of timelines in Redis

// What measures the rows that ReadConstants needs.
[[nodiscard]] std::string HowToMeasure(Encoding encoding);

// The rows timeline_bytes_*, event_cost_* and latency_*. Nothing, *problem set: the text is no such
// report, or lacks rows; the problem says which, and what to type. Pure.
[[nodiscard]] std::optional<Constants> ReadConstants(std::string_view report, Encoding encoding,
                                                     std::string* problem);

}  // namespace fanline::feedctl
