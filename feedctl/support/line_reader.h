// The lines of a file, a gzipped file or stdin ("-"), each as soon as it has arrived.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "feedctl/support/byte_source.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {

class LineReader {
 public:
  static constexpr size_t kMaxLineBytes = 1024 * 1024;

  // As ByteSource.
  explicit LineReader(const std::string& path, std::function<bool()> stop = nullptr);

  // The next line without its end ("\n" or "\r\n"), valid until the next call; false at the end.
  // Failures as ByteSource's, and 65 when a line is too long.
  bool Next(std::string_view* line);

  uint64_t number() const { return number_; }                 // of the last line, from 1
  const std::string& name() const { return source_.name(); }  // "edges.txt", "stdin"
  // "edges.txt:17"
  std::string Where() const { return source_.name() + ":" + std::to_string(number_); }
  // The failure for a bad last line.
  Failure Bad(const std::string& reason) const {
    return Failure(kExitData, Where() + ": " + reason);
  }

 private:
  bool Fill();

  ByteSource source_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // buffer_[begin_, end_) is read and not yet returned
  size_t end_ = 0;
  bool at_end_ = false;
  uint64_t number_ = 0;
};

}  // namespace fanline::feedctl
