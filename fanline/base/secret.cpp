#include "fanline/base/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fanline {
namespace {

std::string SystemError() { return std::strerror(errno); }

// Reads at most kMostBytes + 1 bytes. Returns what is wrong.
std::string ReadAll(int fd, std::string* content) {
  content->resize(Secret::kMostBytes + 1);
  size_t size = 0;
  while (size < content->size()) {
    const ssize_t got = read(fd, content->data() + size, content->size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return "cannot be read: " + SystemError();
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  content->resize(size);
  return {};
}

std::string ReadOpened(int fd, std::string* content) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return "cannot be read: " + SystemError();
  if (!S_ISREG(status.st_mode)) return "is no file";  // reading a pipe may take for ever
  if (std::string wrong = ReadAll(fd, content); !wrong.empty()) return wrong;
  if (content->size() > Secret::kMostBytes) return "is too large";
  if (content->ends_with('\n')) content->pop_back();
  if (content->ends_with('\r')) content->pop_back();
  return content->empty() ? "is empty" : "";
}

std::string ReadFile(const std::string& path, std::string* content) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return path + ": cannot be read: " + SystemError();
  const std::string wrong = ReadOpened(fd, content);
  close(fd);
  return wrong.empty() ? wrong : path + ": " + wrong;
}

}  // namespace

std::string Secret::Read(std::string* secret) const {
  std::string content = text;
  if (!file.empty()) {
    if (std::string wrong = ReadFile(file, &content); !wrong.empty()) return wrong;
  }
  *secret = std::move(content);
  return {};
}

}  // namespace fanline
