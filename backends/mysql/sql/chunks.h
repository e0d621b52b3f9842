// Calls `use` with consecutive parts of `elements`, each of at most `size`.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace fanline::mysql {

template <typename T, typename Use>
void ForEachChunk(const std::vector<T>& elements, size_t size, Use use) {
  for (size_t begin = 0; begin < elements.size(); begin += size) {
    use(std::span<const T>(elements).subspan(begin, std::min(size, elements.size() - begin)));
  }
}

// Sorted, each value once.
template <typename T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace fanline::mysql
