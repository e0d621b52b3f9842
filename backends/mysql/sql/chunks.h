// Lists that are longer than one statement takes: from 1,000 values on, counted within tuples too,
// MariaDB turns an IN list into a join with a temporary table and scans.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "backends/mysql/sql/connection.h"

namespace fanline::mysql {

inline constexpr size_t kListLimit = 300;     // elements of one IN list: up to 900 values
inline constexpr size_t kIdsLimit = 900;      // ids of one IN list in a statement without others
inline constexpr size_t kAuthorsLimit = 128;  // (author, buckets) of one statement over followers

// Calls `use` with consecutive parts of `elements`, each of at most `size`.
template <typename T, typename Use>
void ForEachChunk(const std::vector<T>& elements, size_t size, Use use) {
  for (size_t begin = 0; begin < elements.size(); begin += size) {
    use(std::span<const T>(elements).subspan(begin, std::min(size, elements.size() - begin)));
  }
}

// Queries the statements `sql(part)` of such parts.
template <typename T, typename SqlOf, typename Each>
void QueryChunks(Connection& connection, const std::vector<T>& elements, size_t size, SqlOf sql,
                 Each each) {
  ForEachChunk(elements, size,
               [&](std::span<const T> chunk) { connection.Query(sql(chunk), each); });
}

// Sorted, each value once.
template <typename T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace fanline::mysql
