// A file that exists in memory only, for a library that insists on a path. Linux.
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

  std::string path() const;  // for this process only, while the object lives

 private:
  int fd_;
};

}  // namespace fanline::mysql
