// The lines of a file or of stdin ("-"), each as soon as it has arrived.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "feedctl/support/failure.h"

namespace fanline::feedctl {

class LineReader {
 public:
  static constexpr size_t kMaxLineBytes = 1024 * 1024;

  // `stop` is called while there is nothing to read; true ends the input there. Failure 66 when the
  // file cannot be opened.
  explicit LineReader(const std::string& path, std::function<bool()> stop = nullptr);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // The next line without its end ("\n" or "\r\n"), valid until the next call; false at the end.
  // Failure 74 when the file cannot be read, 65 when a line is too long or the file is gzipped.
  bool Next(std::string_view* line);

  uint64_t number() const { return number_; }  // of the last line, from 1
  // The failure for a bad last line: "edges.txt:17: reason", "stdin:17: reason".
  Failure Bad(const std::string& reason) const {
    return Failure(kExitData, name_ + ":" + std::to_string(number_) + ": " + reason);
  }

 private:
  bool AwaitInput();  // false: stopped
  bool Fill();        // false: the end

  const std::string name_;
  const std::function<bool()> stop_;
  const int fd_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // buffer_[begin_, end_) is read and not yet returned
  size_t end_ = 0;
  bool stopped_ = false;
  bool at_end_ = false;
  uint64_t number_ = 0;
};

}  // namespace fanline::feedctl
