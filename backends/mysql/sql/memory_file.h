// A file in memory, for a library that requires a path. Linux only.
#pragma once

#include <string>
#include <string_view>

namespace fanline::mysql {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content);  // throws std::system_error
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const;  // valid in this process, while the object lives

 private:
  int fd_;
};

}  // namespace fanline::mysql
