// How targets divide their input. Kept inputs stay readable: parts are lines, and other choices of
// a target (where a stream is cut) are drawn from the bytes themselves.
#pragma once

#include <algorithm>
#include <random>
#include <string_view>

#include "fanline/model/bucket.h"

namespace fanline::fuzz {

// Returns the next line and removes it, with its end, from `rest`. Without a line's end it takes
// all.
inline std::string_view TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// Cuts bytes into pieces of 1 to `longest` bytes. The same bytes are always cut in the same way.
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
