// Runs with a known cost, for the tests of feedctl capacity.
#pragma once

#include <utility>
#include <vector>

#include "feedctl/capacity/cost.h"

namespace fanline::feedctl {

inline constexpr Cost kCost{0.4, 170e-6, 3e-6, 10e-6};

inline std::vector<MeasuredWork> RunsOf(const Cost& cost) {
  std::vector<MeasuredWork> runs;
  for (const auto& [followers, live] : {std::pair(5., 1.), {70., 14.}, {200., 40.}, {200., 200.}}) {
    for (const double rate : {100., 700.}) {
      const Work work{rate, followers, live};
      runs.push_back({work, CoresOf(cost, work)});
    }
  }
  return runs;
}

}  // namespace fanline::feedctl
