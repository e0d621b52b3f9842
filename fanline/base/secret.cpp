#include "fanline/base/secret.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace fanline {
namespace {

// Returns what is wrong.
std::string ReadFile(const std::string& path, std::string* content) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) return "cannot be read: " + error.message();
  if (!std::filesystem::is_regular_file(status)) return "is no file";  // a pipe may take for ever
  std::ifstream file(path, std::ios::binary);
  if (!file) return "cannot be read: " + std::generic_category().message(errno);
  content->resize(Secret::kMostBytes + 1);
  file.read(content->data(), static_cast<std::streamsize>(content->size()));
  if (file.bad()) return "cannot be read: " + std::generic_category().message(errno);
  content->resize(static_cast<size_t>(file.gcount()));
  if (content->size() > Secret::kMostBytes) return "is too large";
  if (content->ends_with('\n')) content->pop_back();
  if (content->ends_with('\r')) content->pop_back();
  return content->empty() ? "is empty" : "";
}

}  // namespace

std::string Secret::Read(std::string* secret) const {
  std::string content = text;
  if (!file.empty()) {
    if (const std::string wrong = ReadFile(file, &content); !wrong.empty()) {
      return file + ": " + wrong;
    }
  }
  *secret = std::move(content);
  return {};
}

}  // namespace fanline
