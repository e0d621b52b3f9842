#include "backends/mysql/sql/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace fanline::mysql {
namespace {

void WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "memory file");
    content.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

MemoryFile::MemoryFile(std::string_view content) : fd_(::memfd_create("fanline", MFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "memory file");
  try {
    WriteAll(fd_, content);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

MemoryFile::~MemoryFile() { ::close(fd_); }

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

}  // namespace fanline::mysql
