#include "feedctl/capacity/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace fanline::feedctl {
namespace {

constexpr size_t kParts = 4;  // of a Cost
using Parts = std::array<double, kParts>;

Parts FactorsOf(const Work& work) {
  const double rate = work.events_per_s;
  return {1, rate, rate * work.followers, rate * work.live};
}

Cost CostOf(const Parts& parts) { return {parts[0], parts[1], parts[2], parts[3]}; }

// Gauss-Jordan with pivoting; nothing when there is no unique solution. Columns are scaled before,
// since parts differ much in size.
std::optional<std::vector<double>> Solve(std::vector<std::vector<double>> rows) {
  const size_t size = rows.size();
  for (size_t column = 0; column < size; ++column) {
    size_t best = column;
    for (size_t row = column; row < size; ++row) {
      if (std::abs(rows[row][column]) > std::abs(rows[best][column])) best = row;
    }
    if (std::abs(rows[best][column]) < 1e-9) return std::nullopt;
    std::swap(rows[column], rows[best]);
    for (size_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const double factor = rows[row][column] / rows[column][column];
      for (size_t at = column; at <= size; ++at) rows[row][at] -= factor * rows[column][at];
    }
  }
  std::vector<double> found;
  for (size_t row = 0; row < size; ++row) found.push_back(rows[row][size] / rows[row][row]);
  return found;
}

struct Line {
  Parts factors{};
  double cores = 0;
};

// Divides every run by its cores, so that differences are relative; by at least a hundredth of the
// highest.
std::vector<Line> Relative(std::span<const MeasuredWork> runs) {
  double most = 0;
  for (const MeasuredWork& run : runs) most = std::max(most, run.cores);
  std::vector<Line> lines;
  for (const MeasuredWork& run : runs) {
    const double size = std::max(run.cores, most / 100);
    Line line{FactorsOf(run.work), run.cores / size};
    for (double& factor : line.factors) factor /= size;
    lines.push_back(line);
  }
  return lines;
}

Parts ScalesOf(const std::vector<Line>& lines) {
  Parts scales{};
  for (const Line& line : lines) {
    for (size_t part = 0; part < kParts; ++part) {
      scales[part] += line.factors[part] * line.factors[part];
    }
  }
  for (double& scale : scales) scale = scale > 0 ? std::sqrt(scale) : 1;
  return scales;
}

// Least squares with only the parts of this set; the others are 0.
std::optional<Parts> FitWith(unsigned set, const std::vector<Line>& lines, const Parts& scales) {
  std::vector<size_t> in;
  for (size_t part = 0; part < kParts; ++part) {
    if ((set >> part & 1) != 0) in.push_back(part);
  }
  std::vector<std::vector<double>> normal(in.size(), std::vector<double>(in.size() + 1, 0));
  for (const Line& line : lines) {
    for (size_t row = 0; row < in.size(); ++row) {
      const double factor = line.factors[in[row]] / scales[in[row]];
      for (size_t column = 0; column < in.size(); ++column) {
        normal[row][column] += factor * line.factors[in[column]] / scales[in[column]];
      }
      normal[row].back() += factor * line.cores;
    }
  }
  const auto solved = Solve(std::move(normal));
  if (!solved) return std::nullopt;
  Parts parts{};
  for (size_t row = 0; row < in.size(); ++row) parts[in[row]] = (*solved)[row] / scales[in[row]];
  return parts;
}

double MissOf(const Parts& parts, const std::vector<Line>& lines) {
  double miss = 0;
  for (const Line& line : lines) {
    double off = -line.cores;
    for (size_t part = 0; part < kParts; ++part) off += line.factors[part] * parts[part];
    miss += off * off;
  }
  return miss;
}

bool NoneBelowZero(const Parts& parts) {
  for (const double part : parts) {
    if (part < 0) return false;
  }
  return true;
}

}  // namespace

double CoresOf(const Cost& cost, const Work& work) {
  const Parts factors = FactorsOf(work);
  return cost.idle * factors[0] + cost.event * factors[1] + cost.follower * factors[2] +
         cost.delivery * factors[3];
}

std::optional<Cost> FitCost(std::span<const MeasuredWork> runs) {
  const bool spent =
      std::any_of(runs.begin(), runs.end(), [](const auto& r) { return r.cores > 0; });
  if (!spent) return runs.empty() ? std::nullopt : std::optional(Cost{});
  const std::vector<Line> lines = Relative(runs);
  const Parts scales = ScalesOf(lines);
  constexpr unsigned kAll = (1U << kParts) - 1;
  if (!FitWith(kAll, lines, scales)) return std::nullopt;
  // With four parts, every set of nonzero parts can be tried.
  std::optional<Parts> best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set <= kAll; ++set) {
    const auto parts = FitWith(set, lines, scales);
    if (!parts || !NoneBelowZero(*parts)) continue;
    const double miss = MissOf(*parts, lines);
    if (miss >= least) continue;
    least = miss;
    best = parts;
  }
  return best ? std::optional(CostOf(*best)) : std::nullopt;
}

}  // namespace fanline::feedctl
