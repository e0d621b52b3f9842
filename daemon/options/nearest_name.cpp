#include "daemon/options/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fanline::daemon {
namespace {

// Levenshtein's distance, one row at a time.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> NearestName(std::string_view typed,
                                       const std::vector<std::string>& known) {
  const std::string* nearest = nullptr;
  size_t fewest = std::string::npos;
  for (const std::string& name : known) {
    const size_t distance = Distance(typed, name);
    if (distance >= fewest) continue;
    fewest = distance;
    nearest = &name;
  }
  if (!nearest || fewest > std::max<size_t>(2, nearest->size() / 3)) return std::nullopt;
  return *nearest;
}

std::string DidYouMean(std::string_view typed, const std::vector<std::string>& known) {
  const auto nearest = NearestName(typed, known);
  return nearest ? ", did you mean " + *nearest + "?" : std::string();
}

}  // namespace fanline::daemon
