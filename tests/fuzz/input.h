// How targets take their input apart. What is kept stays readable: parts are lines, and what a
// target needs besides (where a stream is cut) is drawn from the bytes themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>

#include "fanline/model/bucket.h"

namespace fanline::fuzz {

// Up to the next line's end, which is taken off `rest` too; all of it when there is none.
inline std::string_view TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// The same bytes are always cut into the same pieces, of 1 to `longest` bytes.
class Pieces {
 public:
  Pieces(std::string_view bytes, size_t longest)
      : rest_(bytes), random_(Crc32(bytes)), size_(1, std::max<size_t>(longest, 1)) {}

  bool done() const { return rest_.empty(); }
  std::string_view Next() {
    const std::string_view piece = rest_.substr(0, size_(random_));
    rest_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view rest_;
  std::mt19937 random_;
  std::uniform_int_distribution<size_t> size_;
};

}  // namespace fanline::fuzz
