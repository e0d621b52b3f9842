// What work costs in processor time, as a linear function: a base cost, plus a cost for each event,
// for each follower looked at and for each delivery. Pure; any thread.
// The function is fitted to runs at steady rates with authors of several sizes. Batches grow with
// the load (docs/decisions/0018-batches-that-grow-with-load.md), so an event's cost falls as the
// load grows. The function holds only between the measured rates.
#pragma once

#include <optional>
#include <span>

namespace fanline::feedctl {

struct Work {
  double events_per_s = 0;
  double followers = 0;  // an event's author's, on average, live or not
  double live = 0;       // of them, those with a live timeline
};

struct Cost {
  double idle = 0;      // cores
  double event = 0;     // core seconds, like the next two
  double follower = 0;  // looked at
  double delivery = 0;  // to a live timeline
};

struct MeasuredWork {
  Work work;
  double cores = 0;  // busy cores
};

// Cores that are busy.
[[nodiscard]] double CoresOf(const Cost& cost, const Work& work);

// Fits by least squares of the relative differences; no part is below zero. Nothing: the runs do
// not determine the parts (fewer than four, or all of one size or one rate). All zero if no time
// was spent.
[[nodiscard]] std::optional<Cost> FitCost(std::span<const MeasuredWork> runs);

}  // namespace fanline::feedctl
