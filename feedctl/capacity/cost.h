// What work costs in processor time, as a straight line: so much while there is any work at all, so
// much for each event, for each follower looked at, and for each delivery. Pure; any thread.
//
// The line is fitted to runs at steady rates, of authors of several sizes. Batches grow with the
// load (docs/decisions/0018-batches-that-grow-with-load.md), so what an event costs falls towards
// the slope of the line, and the line holds only between the rates that were measured.
#pragma once

#include <optional>
#include <span>

namespace fanline::feedctl {

struct Work {
  double events_per_s = 0;
  double followers = 0;  // of an event's author, on average; whether live or not
  double live = 0;       // of them with a live timeline
};

struct Cost {
  double idle = 0;      // cores
  double event = 0;     // seconds of a core, here and below
  double follower = 0;  // looked at
  double delivery = 0;  // to a live timeline
};

struct MeasuredWork {
  Work work;
  double cores = 0;  // that were busy
};

// Cores that are busy.
[[nodiscard]] double CoresOf(const Cost& cost, const Work& work);

// The line of least squares of the relative differences, none of its parts below zero. Nothing: the
// runs do not tell its parts apart (fewer than four, or all of one size or one rate). Where nothing
// was spent, it costs nothing.
[[nodiscard]] std::optional<Cost> FitCost(std::span<const MeasuredWork> runs);

}  // namespace fanline::feedctl
